// SPDX-License-Identifier: Apache-2.0
// What a recording took a process, as clrscope meters it: events and windows by their measured
// prices, and clrscope's own CPU. docs/decisions/0019-overhead.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clrscope::profile {

// The numbers are stored in captures.
enum class OverheadPart : uint8_t {
  kAllocations = 0,
  kExceptions = 1,
  kWaits = 2,     // locks, too
  kRequests = 3,  // with what threads do for them
  kCpu = 4,       // samples of CPU time
  kRuntime = 5,   // collections, code, counters
  kClrscope = 6,  // its own CPU, shared by the processes that it records
  kAgent = 7,     // the agent's own threads, in the process
};
inline constexpr size_t kOverheadParts = 8;
constexpr std::string_view OverheadName(OverheadPart part) {
  constexpr std::string_view kNames[kOverheadParts] = {
      "allocations", "exceptions", "waits", "requests", "cpu", "runtime", "clrscope", "agent"};
  return kNames[static_cast<size_t>(part)];
}

struct Overhead {
  // Of the process's CPU time, that was asked for; 0: no limit.
  double limit = 0;
  int64_t cpu_ns = 0;  // that the process used meanwhile, all of this included; 0: not known
  std::array<int64_t, kOverheadParts> cost_ns{};
  // Windows of time in place of everything: how many, and how long they are of how long.
  struct Windows {
    uint64_t windows = 0;
    int64_t ns = 0, of_ns = 0;
    double share() const {
      return of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of_ns) : 1;
    }
  };
  std::array<Windows, kOverheadParts> windows{};

  int64_t& of(OverheadPart part) { return cost_ns[static_cast<size_t>(part)]; }
  int64_t of(OverheadPart part) const { return cost_ns[static_cast<size_t>(part)]; }
  Windows& windows_of(OverheadPart part) { return windows[static_cast<size_t>(part)]; }
  bool known() const { return cpu_ns > 0; }
  int64_t all_ns() const {
    int64_t sum = 0;
    for (const int64_t ns : cost_ns) sum += ns;
    return sum;
  }
  // Of the process's CPU time.
  double share() const { return ShareOf(all_ns()); }
  double share(OverheadPart part) const { return ShareOf(of(part)); }
  Overhead& operator+=(const Overhead& o) {
    limit = limit > o.limit ? limit : o.limit;
    cpu_ns += o.cpu_ns;
    for (size_t i = 0; i < kOverheadParts; ++i) {
      cost_ns[i] += o.cost_ns[i];
      windows[i].windows += o.windows[i].windows;
      windows[i].ns += o.windows[i].ns;
      windows[i].of_ns += o.windows[i].of_ns;
    }
    return *this;
  }

 private:
  double ShareOf(int64_t ns) const {
    return cpu_ns > 0 ? static_cast<double>(ns) / static_cast<double>(cpu_ns) : 0;
  }
};

}  // namespace clrscope::profile
