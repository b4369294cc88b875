// SPDX-License-Identifier: Apache-2.0
// What requests call: operations that began and ended within them, paired by the path of their own
// activity. RequestFold finds the request of each. Bounded; what has no room is (other).
// docs/decisions/0016-requests.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/families/requests/open_requests.h"
#include "base/string_pool.h"
#include "clr/operation_events.h"
#include "clr/raw_event.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class ChildOperations {
 public:
  // Operations that go on at one time; and different ones, (other) aside.
  static constexpr size_t kMostOpen = 50'000, kMostOperations = 300, kLongestName = 200;

  ChildOperations(StringPool* strings, profile::ProcessTables* tables)
      : strings_(strings), tables_(tables) {}

  struct Ended {
    ActivityPath path;  // below that of the request, if there is one
    int64_t duration_ns = 0;
    uint64_t what = 0;  // for LabelOf()
  };
  // A start, a failure or a stop; at a stop whose start is known, what ended.
  std::optional<Ended> OnEvent(const clr::RawEvent& event, int64_t now_ns);
  // Of an ActivitySource.
  void BeginActivity(const ActivityPath& path, const clr::DiagnosticEvent& event, int64_t now_ns);
  std::optional<Ended> EndActivity(const ActivityPath& path, const clr::DiagnosticEvent& event,
                                   int64_t now_ns);
  // Of a DiagnosticListener: a command of Entity Framework Core that ended, as one event.
  std::optional<Ended> OnDiagnostic(const clr::RawEvent& raw, const clr::DiagnosticEvent& event);
  // Its set of labels. `route`: an index + 1, 0 = of no request. LabelTable::kOther: there is no
  // room.
  uint16_t LabelOf(uint64_t what, uint64_t route, uint64_t window, uint16_t age);

  // The ends of those that go on will not be told.
  void Forget();
  // The operations of other tables; those that go on do.
  void MoveTo(StringPool* strings, profile::ProcessTables* tables);
  // Times are so much smaller from now on.
  void Shift(int64_t shift_ns);

 private:
  static constexpr uint32_t kNone = ~0u;
  enum class Kind : uint8_t { kFree, kHttp, kActivity, kSqlClient, kNpgsql };
  struct Open {
    ActivityPath key;   // by which its end is found: mostly its own path
    ActivityPath path;  // at its start
    int64_t start_ns = 0;
    uint32_t operation = 0;
    Kind kind = Kind::kFree;
    bool failed = false;
    uint32_t next = kNone,
             last = kNone;  // of kNpgsql, those of one key: the next; of the first, the last
  };

  void Begin(const ActivityPath& key, const ActivityPath& path, Kind kind, uint32_t operation,
             int64_t now_ns);
  uint32_t NewSlot();
  Ended Close(uint32_t slot, bool failed, int64_t now_ns);
  void Free(uint32_t slot);
  void BeginNpgsql(const ActivityPath& path, uint32_t operation, int64_t now_ns);
  uint32_t FindNpgsql(const ActivityPath& path) const;
  void Fail(const ActivityPath& path);
  std::optional<Ended> End(const ActivityPath& key, Kind kind, bool failed, int64_t now_ns);
  static ActivityPath PathOfObject(int32_t object);
  std::optional<Ended> OnCommand(const clr::RawEvent& event, int64_t now_ns);
  // An index into the tables' operations, by the name in `name_`.
  uint32_t Named();
  uint32_t OfHost(Utf16View host, int32_t port);
  uint32_t OfCommand(std::string_view what, Utf16View text);

  StringPool* strings_;
  profile::ProcessTables* tables_;
  PathIndex index_;     // by key; but of kNpgsql
  PathIndex commands_;  // of kNpgsql: the first of those with a key
  std::vector<Open> open_;
  std::vector<uint32_t> free_;
  size_t hand_ = 0;  // what is given up next, when there is no room
  std::unordered_map<std::string, uint32_t> numbers_;
  std::string name_, text_;
};

// "NAME (source)"; cut where it is very long.
void AppendActivityName(std::string& out, const clr::DiagnosticEvent& event);

}  // namespace clrscope::analysis
