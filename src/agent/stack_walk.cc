// SPDX-License-Identifier: Apache-2.0
#include "agent/stack_walk.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

// Where the main thread's stack begins; of the loader.
extern "C" void* __libc_stack_end;  // NOLINT

namespace clrscope::agent {
namespace {

constexpr size_t kMaxSteps = 16384;
constexpr uintptr_t kLargestStack = uintptr_t{1} << 30;

}  // namespace

uintptr_t StackTop(uintptr_t sp) {
  // The C library puts a thread's descriptor, which its handle points to, on top of its stack;
  // except for the main thread's.
  const auto self = static_cast<uintptr_t>(::pthread_self());
  const auto main_end = reinterpret_cast<uintptr_t>(__libc_stack_end);
  if (sp < main_end && main_end - sp < kLargestStack && !(sp < self && self < main_end))
    return main_end;
  if (sp < self && self - sp < kLargestStack) return self;
  return 0;
}

WalkEnd WalkStack(CodeTable& code, const NativeMap* native_map, Registers at, uintptr_t top,
                  uint32_t (&frames)[kMaxDepth], size_t* count) {
  *count = 0;
  if (top == 0) return WalkEnd::kOutside;
  size_t n = 0;
  bool native = false;
  for (size_t step = 0; step < kMaxSteps; ++step) {
    if (at.ip == 0) {
      *count = n;
      return WalkEnd::kDone;
    }
    const CodeTable::Slot* slot = code.FindOrAdd(at.ip);
    if (slot == nullptr) return WalkEnd::kNoRoom;
    FrameRule rule = FrameRule::Unpack(slot->rule.load(std::memory_order_acquire));
    if (rule.state == RuleState::kPending) {
      const NativeModule* module = native_map == nullptr ? nullptr : native_map->Find(at.ip - 1);
      if (module == nullptr) return WalkEnd::kNew;
      rule = RuleOf(*module, at.ip);
      code.SetRule(slot->frame.load(std::memory_order_relaxed), rule, 0);
    }
    if (rule.state == RuleState::kSnapshot) return rule.managed ? WalkEnd::kNoRule : WalkEnd::kStub;
    if (rule.state == RuleState::kRoot) {
      *count = n;
      return WalkEnd::kDone;
    }
    if (rule.managed) {
      if (n + 2 >= kMaxDepth) {
        frames[n++] = kTruncatedFrame;
        *count = n;
        return WalkEnd::kDone;
      }
      if (native && n != 0) frames[n++] = kNativeFrame;
      native = false;
      frames[n++] = slot->frame.load(std::memory_order_relaxed);
    } else {
      native = true;
    }
    const uintptr_t cfa = (rule.from_rbp ? at.rbp : at.sp) + rule.cfa_offset;
    // Where rbp tells the frame it may be larger than the first instructions say (stackalloc), or
    // lie above others: an exception handler runs on the frame of the method around it. The frames
    // between the two, of code that threw and is given up, are left out by the runtime's walk, too.
    // Not those below a filter, which runs before anything is given up.
    const uintptr_t least = at.sp + rule.frame_bytes;
    if (rule.frame_bytes != 0 && (rule.exact ? cfa != least : cfa < least))
      return WalkEnd::kDisagree;
    if (cfa <= at.sp || cfa > top || cfa % 8 != 0) return WalkEnd::kOutside;
    if (rule.rbp_slot != 0) {
      const uintptr_t slot_at = cfa - uintptr_t{8} * rule.rbp_slot;
      if (slot_at < at.sp || slot_at >= cfa) return WalkEnd::kOutside;
      at.rbp = *reinterpret_cast<const uintptr_t*>(slot_at);  // NOLINT
    }
    at.ip = *reinterpret_cast<const uintptr_t*>(cfa - 8);  // NOLINT
    at.sp = cfa;
  }
  return WalkEnd::kNoRoom;
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
  frames_[count_++] = slot == nullptr ? kUnknownFrame : slot->frame.load(std::memory_order_relaxed);
  return true;
}

}  // namespace clrscope::agent
