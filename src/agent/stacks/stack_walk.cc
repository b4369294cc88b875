// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/stack_walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/stacks/own_reader.h"

namespace clrscope::agent {
namespace {

constexpr size_t kMaxSteps = 16384;

// The calling thread's own stack, of which everything up to its end can be read.
class OwnStack {
 public:
  explicit OwnStack(uintptr_t high) : high_(high) {}
  bool Read(uintptr_t at, uintptr_t* word) const {
    if (at > high_ - sizeof *word) return false;
    *word = *reinterpret_cast<const uintptr_t*>(at);  // NOLINT(performance-no-int-to-ptr)
    return true;
  }

 private:
  uintptr_t high_;
};

// Any memory of the process: reading what is not there fails, where a load would end the program.
class AnyStack {
 public:
  explicit AnyStack(std::byte (&window)[kStackWindow]) : window_(window) {}
  bool Read(uintptr_t at, uintptr_t* word) {
    if (at < begin_ || at - begin_ > size_ - sizeof *word) {
      if (!Fill(at)) return false;
    }
    std::memcpy(word, window_ + (at - begin_), sizeof *word);
    return true;
  }

 private:
  bool Fill(uintptr_t at) {
    const size_t n = OwnReader::OfThisProcess().ReadSome(at, window_, kStackWindow);
    begin_ = at;
    size_ = n < sizeof(uintptr_t) ? 0 : n;
    return size_ != 0;
  }
  std::byte (&window_)[kStackWindow];
  uintptr_t begin_ = 0;
  size_t size_ = sizeof(uintptr_t);  // of nothing: address 0 is none
};

// Where frame ids go. Native frames count only when a method follows: what a stack begins and ends
// with is the runtime's.
class FrameList {
 public:
  FrameList(uint32_t (&frames)[kMaxDepth], NativeRuns runs) : frames_(frames), runs_(runs) {}

  void AddNative(CodeTable& code, uint32_t frame) {
    native_ = true;
    // Methods of the runtime that throw for others are left out as native code is, and are none.
    if (runs_ == NativeRuns::kOne || count_ == 0 || !code.is_native(frame)) return;
    if (run_ < kMostNative && count_ + run_ + 3 < kMaxDepth)
      frames_[count_ + run_++] = frame;
    else if (run_ != 0)
      frames_[count_ + run_ - 1] = kNativeFrame;
  }
  // False: there is room for no more.
  bool AddManaged(uint32_t frame) {
    const bool unnamed = std::exchange(native_, false) && run_ == 0 && count_ != 0;
    count_ += std::exchange(run_, 0);
    if (count_ + 2 >= kMaxDepth) {
      frames_[count_++] = kTruncatedFrame;
      return false;
    }
    if (unnamed) frames_[count_++] = kNativeFrame;
    frames_[count_++] = frame;
    return true;
  }
  size_t count() const { return count_; }

 private:
  uint32_t (&frames_)[kMaxDepth];
  NativeRuns runs_;
  size_t count_ = 0, run_ = 0;  // what stays; native frames after it
  bool native_ = false;         // there was native code since the last method
};

template <class Stack>
WalkEnd Walk(CodeTable& code, const NativeMap* native_map, Registers at, Stack stack,
             FrameSpan* spans, FrameList frames, size_t* count, uint32_t* fresh) {
  for (size_t step = 0; step < kMaxSteps; ++step) {
    if (at.ip == 0) {
      *count = frames.count();
      return WalkEnd::kDone;
    }
    const CodeTable::Slot* slot = code.FindOrAdd(at.ip);
    if (slot == nullptr) return WalkEnd::kNoRoom;
    unwind::FrameRule rule = unwind::FrameRule::Unpack(slot->rule.load(std::memory_order_acquire));
    if (rule.state == unwind::RuleState::kPending) {
      const unwind::NativeModule* module =
          native_map == nullptr ? nullptr : native_map->Find(at.ip - 1);
      if (module == nullptr) {
        if (fresh != nullptr) *fresh = slot->frame.load(std::memory_order_relaxed);
        return WalkEnd::kNew;
      }
      OwnMemory memory;
      rule = unwind::RuleOfReturn(*module, at.ip, memory);
      code.SetRule(slot->frame.load(std::memory_order_relaxed), rule, 0);
    }
    if (rule.state == unwind::RuleState::kSnapshot)
      return rule.managed ? WalkEnd::kNoRule : WalkEnd::kStub;
    if (rule.state == unwind::RuleState::kRoot) {
      *count = frames.count();
      return WalkEnd::kDone;
    }
    if (rule.managed) {
      if (!frames.AddManaged(slot->frame.load(std::memory_order_relaxed))) {
        *count = frames.count();
        return WalkEnd::kDone;
      }
    } else {
      frames.AddNative(code, slot->frame.load(std::memory_order_relaxed));
    }
    const uintptr_t cfa = (rule.from_rbp ? at.rbp : at.sp) + rule.cfa_offset;
    // Where rbp tells the frame it may be larger than the first instructions say (stackalloc), or
    // lie above others: an exception handler runs on the frame of the method around it. The frames
    // between the two, of code that threw and is given up, are left out by the runtime's walk, too.
    // Not those below a filter, which runs before anything is given up.
    const uintptr_t least = at.sp + rule.frame_bytes;
    if (rule.frame_bytes != 0 && (rule.exact ? cfa != least : cfa < least))
      return WalkEnd::kDisagree;
    if (cfa <= at.sp || cfa % 8 != 0) return WalkEnd::kOutside;
    if (rule.rbp_slot != 0) {
      const uintptr_t slot_at = cfa - uintptr_t{8} * rule.rbp_slot;
      if (slot_at < at.sp || slot_at >= cfa) return WalkEnd::kOutside;
      if (!stack.Read(slot_at, &at.rbp)) return WalkEnd::kOutside;
    }
    if (!stack.Read(cfa - 8, &at.ip)) return WalkEnd::kOutside;
    if (rule.managed && spans != nullptr) spans[frames.count() - 1] = {at.sp, cfa};
    at.sp = cfa;
  }
  return WalkEnd::kNoRoom;
}

}  // namespace

WalkEnd WalkStack(CodeTable& code, const NativeMap* native, Registers at, const StackBounds& own,
                  WalkRoom room, size_t* count, NativeRuns runs, uint32_t* fresh) {
  *count = 0;
  const FrameList frames(room.frames, runs);
  return own.Holds(at.sp)
             ? Walk(code, native, at, OwnStack(own.high), room.spans, frames, count, fresh)
             : Walk(code, native, at, AnyStack(room.window), room.spans, frames, count, fresh);
}

bool SnapshotCollector::Add(uintptr_t function, uintptr_t ip) {
  if (function == 0) {
    native_ = true;
    return true;
  }
  if (count_ + 2 >= kMaxDepth) {
    frames_[count_++] = kTruncatedFrame;
    return false;
  }
  if (native_ && count_ != 0) frames_[count_++] = kNativeFrame;
  native_ = false;
  const CodeTable::Slot* slot = code_.FindOrAdd(ip);
  const uint32_t frame =
      slot == nullptr ? kUnknownFrame : slot->frame.load(std::memory_order_relaxed);
  code_.Name(frame, function);
  frames_[count_++] = frame;
  return true;
}

}  // namespace clrscope::agent
