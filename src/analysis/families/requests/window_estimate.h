// SPDX-License-Identifier: Apache-2.0
// Figures of requests that were followed in windows of time. What a request did at some age was
// seen only if its window went on so long; of all N requests of its route, which the runtime's
// histogram counts, S(age) were watched to that age, and so it stands for N / S(age) times as much
// (weighting by the inverse probability of not being cut off: Robins & Rotnitzky 1992; at S
// constant it is the ratio estimator of Cochran, Sampling Techniques, 6.2). How far off that may be
// follows from what each group of windows changes (the jackknife). docs/decisions/0016-requests.md
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "profile/profile.h"

namespace clrscope::analysis {

class WindowEstimate {
 public:
  // `by_histogram`: how many requests there were is what the runtime counts. Else, it follows from
  // the part of the time that windows are: of a second or so, whose values come in the next one.
  explicit WindowEstimate(bool by_histogram) : by_histogram_(by_histogram) {}
  // A series of LabelKey::kRequestPart of a process: of windows, or of a route with what the
  // runtime's histogram counts. Labels are the profile's.
  void Add(uint32_t process, const profile::LabelSet& labels,
           std::span<const Aggregate::Moment> moments);
  // The runtime counts the one to the other.
  void NoteAction(uint32_t process, StringId action, StringId of) {
    actions_[{process, action.value}] = of.value;
  }
  // So many that the runtime counts to one route are of another one.
  void NoteMoved(uint32_t process, StringId from, StringId to, double count) {
    const auto p = processes_.find(process);
    if (p == processes_.end()) return;
    p->second.routes[from.value].counted -= count;
    p->second.routes[to.value].counted += count;
  }
  bool empty() const { return processes_.empty(); }
  // Call this after the last Add(). Cells with LabelKey::kRequestWindow become figures of all
  // requests; the rest of the whole belongs to no request.
  void Finish(profile::Profile& profile);

 private:
  static constexpr size_t kG = profile::kGroups;
  using PerGroup = std::array<double, kG>;
  struct Age {
    double watched = 0, ended = 0;  // to this age; at this age
    PerGroup watched_of{};
  };
  struct Weight {
    double factor = 1;
    PerGroup without{};  // the change of `factor` without each group
    bool few = false;
  };
  // Of requests that were watched, by how long.
  struct Watch {
    std::map<uint16_t, Age> ages;
    std::map<uint16_t, Weight> weights;

    double watched() const;
    double watched_of(size_t group) const;
    // `all`: what they stand for; `without`: the same without each group.
    void Weigh(double all, const PerGroup& without, bool few);
    const Weight* At(uint64_t age) const;
  };
  // Operations of one set of labels.
  struct Child {
    profile::LabelSet labels;
    double count = 0, ns = 0;
  };
  struct Route {
    Watch watch;               // what they did
    Watch runs;                // what threads did for them: CPU time
    double watched_whole = 0;  // … of these so many from their start to their end
    double counted = 0, ended = 0, waited_ns = 0;  // ended: of those that windows are not for
    std::map<std::pair<uint16_t, uint64_t>, double> waited, failed{};
    std::vector<Child> children{};
    double all = 0, beyond = 0;
    double normal = 1;  // what weighted requests that ended are off by
  };
  // Routes that the runtime counts as one.
  struct Counted {
    double counted = 0, seen = 0;  // of the requests that windows are for
    PerGroup seen_of{};
  };
  struct Process {
    std::map<uint64_t, Route> routes;  // by name
    double windows = 0, windows_ns = 0, stands_for_ns = 0;
    PerGroup windows_of{}, ns_of{}, runs_of{};
    bool few() const { return windows < static_cast<double>(profile::kFewWindows); }
    static uint8_t Groups(const PerGroup& of);
  };
  class Cells;

  void CountEnded(const profile::Profile& p);
  uint64_t CountedAs(uint32_t process, uint64_t route) const {
    const auto action = actions_.find({process, route});
    return action == actions_.end() ? route : action->second;
  }
  void Weigh(uint32_t index, Process& process);
  void WeighRuns(uint32_t index, Process& process) const;
  static double Beyond(const Route& route);
  // `runs`: of CPU time.
  const Weight* WeightOf(uint32_t process, const profile::LabelSet& labels,
                         bool runs = false) const;
  profile::Estimate Weighted(const profile::Estimate& e, uint32_t process,
                             const profile::LabelSet& labels, double normal, bool runs) const;
  void FinishFigure(profile::Profile& p, profile::Figure& figure) const;
  void FinishFacts(profile::Profile& p) const;

  const bool by_histogram_;
  std::map<uint32_t, Process> processes_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> actions_;  // by name: that of their template
};

}  // namespace clrscope::analysis
