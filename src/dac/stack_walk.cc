// SPDX-License-Identifier: Apache-2.0
#include "dac/stack_walk.h"

#include <array>

#include "dac/com/context.h"
#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr size_t kMaxFrames = 400;
constexpr uint32_t kContextRoom = 8192;  // more than any version's
constexpr int kMaxNativeFrames = 64;

void LosePart(ThreadStack& stack) {
  stack.error = "a part of the stack could not be read, as the program ran on";
  stack.cut = !stack.frames.empty();
}

Address MethodAt(Runtime& runtime, Address ip) {
  Address method = 0;
  return Succeeds([&] { return runtime.sos().GetMethodDescPtrFromIP(ip, &method); }) ? method : 0;
}

// The library starts at managed code or at an explicit frame. A thread that runs native code
// without such a frame (a helper of the runtime's, memset) is brought to its managed caller by the
// chain of frame pointers, which the runtime's own code keeps.
void SkipNativeLeaf(Runtime& runtime, uint32_t os_id) {
  const ThreadRegisters* found = runtime.remote().RegistersOf(os_id);
  if (found == nullptr || found->have != ThreadRegisters::kAll) return;
  if (MethodAt(runtime, found->rip) != 0) return;
  ThreadRegisters r = *found;
  for (int i = 0; i < kMaxNativeFrames; ++i) {
    uint64_t record[2];  // the caller's frame pointer, the return address
    if (r.rbp < r.rsp || !runtime.remote().Get(r.rbp, &record)) return;
    r.rsp = r.rbp + sizeof record;
    r.rip = record[1];
    r.rbp = record[0];
    if (MethodAt(runtime, r.rip) == 0) continue;
    runtime.remote().SetRegisters(r);
    return;
  }
}

ThreadStack Walk(Runtime& runtime, uint32_t os_id) {
  ThreadStack stack;
  const ThreadRegisters* registers = runtime.remote().RegistersOf(os_id);
  if (registers == nullptr || registers->have == ThreadRegisters::kNothing) {
    stack.error = "its stack could not be copied";
    return stack;
  }
  if (runtime.InManagedMode(os_id)) SkipNativeLeaf(runtime, os_id);
  ComPtr<IXCLRDataTask> task;
  ComPtr<IXCLRDataStackWalk> walk;
  if (!Succeeds([&] { return runtime.process().GetTaskByOSThreadID(os_id, task.out()); })) {
    stack.error = "the runtime does not know it";
    return stack;
  }
  if (!Succeeds([&] { return task->CreateStackWalk(kAllFrames, walk.out()); })) {
    stack.error = "its stack cannot be walked";
    return stack;
  }
  alignas(16) std::array<uint8_t, kContextRoom> context{};
  HResult moved = kFail;
  do {
    if (stack.frames.size() == kMaxFrames) {
      stack.cut = true;
      break;
    }
    uint32_t size = 0;
    if (!Succeeds(
            [&] { return walk->GetContext(kContextFlags, kContextRoom, &size, context.data()); })) {
      moved = kFail;
      break;
    }
    StackFrame frame;
    frame.ip = ContextWord(context.data(), kRipAt);
    frame.sp = ContextWord(context.data(), kRspAt);
    Address explicit_frame = 0;
    if (Succeeds([&] {
          return walk->Request(kRequestFrameData, 0, nullptr, sizeof explicit_frame,
                               reinterpret_cast<uint8_t*>(&explicit_frame));
        }))
      frame.explicit_frame = explicit_frame;
    if (frame.explicit_frame != 0)
      Succeeds([&] {
        return runtime.sos().GetMethodDescPtrFromFrame(frame.explicit_frame, &frame.method);
      });
    else
      frame.method = MethodAt(runtime, frame.ip);
    stack.frames.push_back(frame);
  } while (Succeeds([&] { return moved = walk->Next(); }) && moved == kOk);
  if (!Succeeded(moved)) LosePart(stack);
  return stack;
}

}  // namespace

ThreadStack WalkThread(Runtime& runtime, uint32_t os_id) {
  const uint64_t faults = Faults();
  ThreadStack stack = Walk(runtime, os_id);
  stack.faulted = Faults() != faults;
  if (stack.faulted) LosePart(stack);
  return stack;
}

}  // namespace clrscope::dac
