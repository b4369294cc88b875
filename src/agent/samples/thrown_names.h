// SPDX-License-Identifier: Apache-2.0
// The types of exceptions: events name them and give no id, so equal names are one type. Added to
// by any thread without a lock and without the program's heap; read by the agent's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/byte_reader.h"

namespace clrscope::agent {

class ThrownNames {
 public:
  // A program can make types without end, and give them names of any length.
  static constexpr size_t kMost = 20'000, kLongest = 1024;  // UTF-16 units
  static constexpr uint32_t kOther = 0;

  ThrownNames();
  ~ThrownNames();
  ThrownNames(const ThrownNames&) = delete;
  ThrownNames& operator=(const ThrownNames&) = delete;

  // The name's id; kOther when there is no room for one that is new.
  uint32_t FindOrAdd(Utf16View name);

  // On the agent's thread: the text of an id that FindOrAdd gave. Its data is null as long as
  // whoever added it is still writing. `cut`: it goes on.
  Utf16View Get(uint32_t id, bool* cut) const;

 private:
  static constexpr size_t kSlots = size_t{1} << 16;
  static constexpr size_t kUnits = size_t{4} << 20;  // of all names together
  struct Slot {
    std::atomic<uint64_t> hash;   // 0 = free
    std::atomic<uint32_t> ready;  // its text is there
    uint32_t first, units;
    bool cut;
  };

  Slot* slots_ = nullptr;
  std::byte* text_ = nullptr;
  std::atomic<uint32_t> count_{0}, used_{0};
};

}  // namespace clrscope::agent
