// SPDX-License-Identifier: Apache-2.0
// What the agent's thread does, in a page of memory that clrscope reads when the agent does not
// answer: a memfd that the agent has open, sealed to its size. Both sides agree on this layout.
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace clrscope {

struct HeartbeatPage {
  static constexpr const char* kFileName = "clrscope-heartbeat";
  static constexpr std::string_view kLink = "/memfd:clrscope-heartbeat";  // in /proc/PID/fd
  static constexpr uint64_t kMagic = 0x31'74'61'65'62'72'6c'63;           // "clrbeat1"
  static constexpr size_t kNameBytes = 56;
  // The wait for something to do, which is marked as calls are.
  static constexpr std::string_view kWait = "poll";

  uint64_t magic = kMagic;
  std::atomic<uint64_t> sequence{0};  // odd while the three below are changed
  std::atomic<int64_t> begin_ns{0};   // of the last call, by CLOCK_MONOTONIC; 0 = there was none
  std::atomic<int64_t> end_ns{0};     // of that call; 0 = it goes on
  std::array<std::atomic<uint64_t>, kNameBytes / 8> name{};  // its bytes, and zeros
  std::atomic<uint64_t> leaves{0};  // 1 = the agent listens no more, and is about to be let go

  // Cuts a name that is too long.
  void SetName(std::string_view text) {
    std::array<uint64_t, kNameBytes / 8> words{};
    std::memcpy(words.data(), text.data(), std::min(text.size(), kNameBytes));
    for (size_t i = 0; i < words.size(); ++i) name[i].store(words[i], std::memory_order_release);
  }
};
static_assert(sizeof(HeartbeatPage) == 96 && std::atomic<uint64_t>::is_always_lock_free);

// What a page says at one moment.
struct HeartbeatState {
  std::string call;  // "" = there was none
  int64_t begin_ns = 0, end_ns = 0;
  bool leaves = false;
};

// nullopt: it is no such page, or its writer has stood still half way for 0.2 s.
inline std::optional<HeartbeatState> ReadHeartbeatPage(const HeartbeatPage& page) {
  constexpr int kTries = 20'000, kAtOnce = 100;
  constexpr auto kOrdered = std::memory_order_acquire;
  if (page.magic != HeartbeatPage::kMagic) return std::nullopt;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t sequence = page.sequence.load(kOrdered);
    HeartbeatState state;
    state.begin_ns = page.begin_ns.load(kOrdered);
    state.end_ns = page.end_ns.load(kOrdered);
    std::array<uint64_t, HeartbeatPage::kNameBytes / 8> words;
    for (size_t w = 0; w < words.size(); ++w) words[w] = page.name[w].load(kOrdered);
    if (sequence % 2 != 0 || page.sequence.load(kOrdered) != sequence) {
      const timespec pause{0, 1'000'000};
      if (i % kAtOnce == kAtOnce - 1) (void)::nanosleep(&pause, nullptr);
      continue;
    }
    const char* name = reinterpret_cast<const char*>(words.data());
    state.call.assign(name, ::strnlen(name, HeartbeatPage::kNameBytes));
    state.leaves = page.leaves.load(kOrdered) != 0;
    return state;
  }
  return std::nullopt;
}

}  // namespace clrscope
