// SPDX-License-Identifier: Apache-2.0
// Where in the frame of a MoveNext `this` lies, in 64 bits, learned for each return address: code
// keeps it at one place, and another word that is equal to it once is not so every time. When it is
// known, the other words need not be looked at.
#pragma once

#include <bit>
#include <cstdint>

namespace clrscope::agent {

class ThisHome {
 public:
  explicit ThisHome(uint64_t bits) : slots_(bits & kSlots), times_(bits >> kMostSlots) {}
  static constexpr uint32_t kMostSlots = 56;  // words below the frame's end

  uint64_t bits() const { return slots_ | times_ << kMostSlots; }
  bool known() const { return times_ >= kEnough && slots_ != 0; }
  // How many words below the frame's end.
  uint32_t slot() const { return static_cast<uint32_t>(std::countr_zero(slots_)) + 1; }

  // `slots`: a bit for each word that was equal to it, the first below the frame's end in bit 0.
  void Learn(uint64_t slots) {
    slots &= kSlots;
    slots_ = times_ == 0 ? slots : slots_ & slots;
    times_ = slots_ == 0 ? 0 : times_ < kEnough ? times_ + 1 : times_;
  }

 private:
  static constexpr uint64_t kSlots = (uint64_t{1} << kMostSlots) - 1;
  static constexpr uint64_t kEnough = 16;
  uint64_t slots_, times_;
};

}  // namespace clrscope::agent
