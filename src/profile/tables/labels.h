// SPDX-License-Identifier: Apache-2.0
// What else is known of samples: sets of keys with values, of which a series has one. They are
// interned, and bounded in number: what comes past the bound has the set `kOther`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace clrscope::profile {

// The numbers are stored in captures.
enum class LabelKey : uint8_t {
  kThread = 0,      // the OS thread id
  kOwner = 1,       // the OS thread id of who held the lock
  kUnfinished = 2,  // 1: the wait went on when the recording ended
  kWindow = 3,      // recorded in windows of time, see StormLabel
  // In a process's tables an index into its `messages` + 1; in a profile the text's StringId.
  kMessage = 4,
  kInner = 5,   // 1: an exception with an inner one
  kNested = 6,  // 1: it was thrown while another one was handled
  // What the owner did meanwhile: in a process's tables the node of its stack, in a profile the
  // site's frame + 1.
  kHolding = 7,
  // The route of the request that it belongs to: in a process's tables an index into its `routes` +
  // 1, in a profile the StringId of the route's name.
  kRequest = 8,
  // How long that request took, a step of DurationScale; rounded down, but of requests themselves.
  kDuration = 9,
  kRequestPart = 10,  // of requests: what the series tells, see RequestPart
  kStatus = 11,       // of requests that the runtime counted: the status, see StatusLabel()
  // Requests were recorded in windows of time: the group of the window, 1 to kWindowGroups, and how
  // long after its request's start something was, DurationScale::AgeOf(). Both or none.
  kRequestWindow = 12,
  kAge = 13,
  // Of RequestPart::kChild: in a process's tables an index into its `operations` + 1, in a profile
  // the StringId of the operation's name. kDuration is the operation's own, and kStatus is 1 where
  // it failed.
  kOperation = 14,
  kState = 15,  // of wall time: a ThreadState
};
inline constexpr size_t kLabelKeys = 16;

// Values of LabelKey::kRequestPart.
enum class RequestPart : uint64_t {
  kEnded = 0,     // requests that were seen to begin and to end; `amount`: ns
  kCounted = 1,   // requests as the runtime's histogram counts them; `amount`: ns
  kGcWaited = 2,  // `amount`: ns of GC pauses within requests, each request's in full
  kGcCaused = 3,  // `amount`: ns of GC pauses, split by who allocated before
  kUnended = 4,   // requests that went on when the recording ended
  kWatched = 5,   // requests that were seen to begin in a window; kAge: how long they were watched
  kWindows = 6,   // the windows themselves: `amount` ns, for `stands_for` ns of the recording
  // Requests of which it was followed when threads ran for them (with kRequestWindow: in a window,
  // and kAge: how long); `amount`: ns that they were queued, and that they awaited.
  kIdleWatched = 7,
  kQueued = 8,
  kAwaited = 10,
  kChild = 9,    // operations within requests, that were seen to begin and to end; `amount`: ns
  kFailed = 11,  // requests of an action that ended with an error
  // Routing found the template so often, for requests of whatever method: for each request once,
  // and once more at the page's if it runs again for an error page. Without a template: it found
  // none.
  kMatched = 12,
  kUncounted = 13,  // of kEnded: those that ended after the histogram's last value
  // Requests of which it was told how they ended and whether they ran again for an error page: of
  // those that did, kStatus is the status.
  kLooked = 14,
};

// A status of HTTP, and whether the request failed: by an exception, or with a status of 500 or
// more.
constexpr uint64_t StatusLabel(uint32_t status, bool failed) {
  return uint64_t{status} << 1 | (failed ? 1 : 0);
}

// Values of LabelKey::kWindow. A storm of exceptions is recorded in windows, and so are allocations
// that would take more than they may; each window belongs to one of the groups, by which estimates
// know their error. Series of a group have what the window holds in `samples`, weighted by the
// share of time that the window is: throws in `stands_for`, rethrows in `amount`. Of allocations
// `amount` is that of the samples themselves, and weighted is `stands_for`: bytes of
// AllocationTick, of AllocationSampled kWindowUnit for each sample.
inline constexpr uint64_t kWindowUnit = 1024;
inline constexpr uint64_t kWindowGroups = 16;  // 1 to 16; of kRequestWindow, too
enum StormLabel : uint64_t {
  // Not an event: how many, or how many bytes, a counter of the runtime told for the time that no
  // session was open all along, in `stands_for`; `samples` of its values, over `amount` ns.
  kStormCounted = kWindowGroups + 1,
  // The windows themselves: `samples` of them, `amount` ns in all, for `stands_for` ns of the
  // recording. Those of group g have kStormWindows + g; older captures have kStormWindows alone,
  // where `stands_for` is a number of windows.
  kStormWindows = kWindowGroups + 2,
  // Of `amount` ns no counter told how much there was, `stands_for` 0. Where one did that is wrong,
  // `stands_for` is what it told, and 1.
  kStormUncounted = kStormWindows + kWindowGroups + 1,
};

// 0: there is no such label.
struct LabelSet {
  std::array<uint64_t, kLabelKeys> values{};

  uint64_t operator[](LabelKey key) const { return values[static_cast<size_t>(key)]; }
  LabelSet With(LabelKey key, uint64_t value) const {
    LabelSet out = *this;
    out.values[static_cast<size_t>(key)] = value;
    return out;
  }
  auto operator<=>(const LabelSet&) const = default;
};

class LabelTable {
 public:
  static constexpr uint16_t kNone = 0, kOther = 1;
  static constexpr size_t kMost = 60'000;
  // With more sets than that none comes that has kHolding: who waited for whom is to have room.
  static constexpr size_t kMostHolding = kMost / 2;

  // The number of a set; kOther when there is no room, of `most`, for one that is new.
  uint16_t Find(const LabelSet& set, size_t most = kMost) {
    // A thread's events follow on each other, and most of them look alike.
    uint16_t& recent = recent_[set[LabelKey::kThread] % recent_.size()];
    if (sets_[recent] == set) return recent;
    const auto it = ids_.find(set);
    if (it != ids_.end()) return recent = it->second;
    if (sets_.size() >= most) return kOther;
    const auto id = static_cast<uint16_t>(sets_.size());
    ids_.emplace(set, id);
    sets_.push_back(set);
    return id;
  }
  // With how long it took, a step of DurationScale, while half of the room is left; then with
  // `rounded`, which others have too.
  uint16_t FindTimed(const LabelSet& set, uint64_t step, uint64_t rounded) {
    const uint16_t exact = Find(set.With(LabelKey::kDuration, step), kMost / 2);
    return exact != kOther ? exact : Find(set.With(LabelKey::kDuration, rounded));
  }
  // The next one in order, as it was stored. False: there is no room.
  bool Restore(const LabelSet& set) {
    if (sets_.size() >= kMost) return false;
    ids_.emplace(set, static_cast<uint16_t>(sets_.size()));
    sets_.push_back(set);
    return true;
  }
  // The first two are kNone and kOther.
  const std::vector<LabelSet>& sets() const { return sets_; }

 private:
  std::map<LabelSet, uint16_t> ids_;
  std::vector<LabelSet> sets_{2};
  std::array<uint16_t, 64> recent_{};  // by thread; 0: the empty set
};

}  // namespace clrscope::profile
