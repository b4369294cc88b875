// SPDX-License-Identifier: Apache-2.0
// Leak or cache: what of the live objects grows, what is refreshed, and what just stays.
//
// The evidence is two sets of objects that have none in common. Of a window of time that ends with
// the recording: the *added*, born in it and alive at its end, and the *gone*, alive at its start
// and found dead in it. Added - gone is the change, and since each is a sample of its own, its
// interval is that of a difference of two (profile/compare.h). What was born and died in between
// is in neither, and what only stayed adds no noise: a regression on levels would have both.
//
// pprof files of other tools tell levels only. What grows there is what is higher in the middle of
// the window than at its start, and higher again at its end; no interval is claimed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/bind.h"
#include "analysis/families/live/memory_growth.h"
#include "profile/estimate/estimate.h"
#include "profile/profile.h"
#include "profile/tables/agent_tables.h"

namespace clrscope::analysis {

enum class Verdict : uint8_t {
  kGrowing,     // more than noise, most of the old still there, and it goes on
  kRefreshed,   // the old is replaced
  kSteady,      // neither grows nor is replaced
  kFewSamples,  // nothing can be said
};
std::string_view VerdictName(Verdict verdict);  // "growing", …

// Objects of one type from one site: the first frame outside of the framework.
struct LeakRow {
  uint32_t process = 0, type = 0, frame = 0;
  uint32_t node = 0;  // the stack of most live bytes
  Verdict verdict = Verdict::kFewSamples;
  profile::Estimate live;                           // at the end
  profile::Estimate added, gone;                    // in the window
  profile::Estimate born, died;                     // everything in the window
  double slope = 0;                                 // bytes per second over the window
  std::optional<profile::Interval> slope_interval;  // 95 %; none by AllocationTick
  double late_slope = 0;                            // over the last half of the window
  double median_age_s = 0;                          // of what lives; objects, not bytes
  std::optional<double> median_age_before_s;        // at the window's start
  uint32_t survived_gen2 = 0;                       // GCs of generation 2, the median object
  double kept = 1;  // share of what lived at the window's start that lives at its end, bytes
  // What of `live` each route allocated, by name, the most first; 0 = no request. Where it is told.
  std::vector<std::pair<StringId, profile::Estimate>> requests;
};

struct LeakWindow {
  bool known = false;                    // live objects were followed for long enough
  double start_s = 0, end_s = 0;         // since the agent's start
  double middle_s = 0;                   // where its last half begins
  int64_t shift_ns = 0;                  // of the agent's start, since the recording's
  std::optional<MemoryGrowth> memory{};  // of the whole process, in the window
};

struct Leaks {
  std::vector<LeakRow> rows;        // most suspect first
  std::vector<LeakWindow> windows;  // by process
};

class LeakFinder {
 public:
  // `profile` and `places`: as Bind() made them, unfiltered.
  LeakFinder(const profile::Profile* profile, const std::vector<AgentPlaces>* places);

  // Only what requests allocated whose route's name is one that `keep` wants. Before anything is
  // added.
  void KeepRoutes(std::function<bool(std::string_view)> keep) { keep_ = std::move(keep); }

  // Two passes over the same intervals, each in order of time: the first learns how long they go
  // on.
  void Measure(const profile::AgentInterval& interval);
  void Add(const profile::AgentInterval& interval);
  Leaks Finish();

 private:
  struct Group {
    LeakRow row;
    profile::Estimate late_added, late_gone;
    std::map<uint32_t, double> bytes_of_node;
    std::map<StringId, profile::Estimate> requests;
    std::map<uint8_t, double> ages, ages_before;    // bucket → objects
    std::map<uint32_t, double> gen2;                // GCs survived → objects
    std::vector<std::pair<double, double>> levels;  // seconds, live bytes: of pprof files only
  };
  struct Agent {
    bool begun = false;
    int64_t shift_ns = 0, begin_ns = 0, end_ns = 0;  // of the last agent of a process
    LeakWindow window;
    bool windowed = false;
    bool levels = false;  // pprof files
    size_t states = 0;
  };

  Agent& AgentOf(uint32_t process);
  // Null for what belongs to no stack or type of the profile.
  Group* GroupOf(uint32_t process, uint32_t node, uint32_t type);
  // The route's name of a row; 0 = no request.
  StringId RouteOf(uint32_t process, uint32_t request) const;
  bool Keeps(uint32_t process, uint32_t request) const;
  static void SetWindow(Agent& agent);
  void AddLevels(const profile::AgentInterval& interval);
  static Verdict JudgeLevels(Group& group, const LeakWindow& window);
  static void Describe(Group& group, const LeakWindow& window);
  void AddMemory(Leaks& leaks) const;

  const profile::Profile* profile_;
  const std::vector<AgentPlaces>* places_;
  std::function<bool(std::string_view)> keep_;  // null: all
  std::vector<uint32_t> site_;                  // by node of the profile
  std::vector<Agent> agents_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Group> groups_;  // process, type, frame
};

}  // namespace clrscope::analysis
