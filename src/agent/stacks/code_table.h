// SPDX-License-Identifier: Apache-2.0
// Every return address that was seen on a stack: its frame id and how to walk past it. Written by
// any thread without a lock (addresses) and by the agent's thread (rules); read by all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/host/lookup_gate.h"
#include "unwind/frame_rule.h"

namespace clrscope::agent {

// Frame ids below kFirstFrame are no addresses.
inline constexpr uint32_t kNativeFrame = 1;     // a run of native frames between managed ones
inline constexpr uint32_t kTruncatedFrame = 2;  // the stack goes on
inline constexpr uint32_t kUnknownFrame = 3;    // the table was full
inline constexpr uint32_t kFirstFrame = 4;

// Types that async methods wait by are entries, too: their method table with this bit, which no
// address has.
inline constexpr uint64_t kTypeKey = uint64_t{1} << 63;

class CodeTable {
 public:
  static constexpr size_t kSlots = size_t{1} << 17;
  static constexpr size_t kMaxEntries = kSlots / 4 * 3;
  static constexpr size_t kMaxFrames = size_t{1} << 18;  // one address may get several in its life

  struct Slot {
    std::atomic<uint64_t> ip;    // 0 free, 1 being written, else the address
    std::atomic<uint64_t> rule;  // unwind::FrameRule::Pack; of a type AsyncTypes::Word, 0 = pending
    std::atomic<uint32_t> frame;
  };
  struct Frame {
    std::atomic<uint32_t> slot;  // + 1; 0 while it is being written
    uint32_t epoch;              // the gate's when it was seen
    uint64_t ip;
    std::atomic<uintptr_t> function;  // 0 = unknown or native
    std::atomic<bool> dynamic;        // a DynamicMethod
    std::atomic<bool> unnamed;        // a snapshot went past it and named no function
    std::atomic<uint64_t> role;       // async/async_roles.h
    std::atomic<uint64_t> home;       // of a state machine's MoveNext: async/this_home.h
  };

  // `gate` stamps frames; null: none is ever unloaded.
  explicit CodeTable(const LookupGate* gate = nullptr);
  ~CodeTable();
  CodeTable(const CodeTable&) = delete;
  CodeTable& operator=(const CodeTable&) = delete;
  // Whether its memory could be had.
  bool ok() const { return slots_ != nullptr && frames_ != nullptr; }

  // The slot of `ip`, which is added when it is new; nullptr when the table is full.
  const Slot* FindOrAdd(uint64_t ip);

  // nullptr when it is not there.
  const Slot* Find(uint64_t ip) const;
  // What AsyncRole says of a frame's method; 0: nothing, also while nobody has looked.
  uint64_t role(uint32_t id) {
    const Frame* f = frame(id);
    return f == nullptr ? 0 : f->role.load(std::memory_order_relaxed);
  }

  uint64_t home(uint32_t id) {
    const Frame* f = frame(id);
    return f == nullptr ? 0 : f->home.load(std::memory_order_relaxed);
  }
  // Where another thread was first, what this one has learned is left out.
  void SetHome(uint32_t id, uint64_t before, uint64_t home) {
    if (Frame* f = frame(id))
      (void)f->home.compare_exchange_strong(before, home, std::memory_order_relaxed);
  }

  // While its code is on the calling thread's stack: whose it is.
  void Name(uint32_t id, uintptr_t function) {
    Frame* f = frame(id);
    if (f != nullptr && f->function.load(std::memory_order_relaxed) == 0)
      f->function.store(function, std::memory_order_release);
  }
  // … and that a snapshot of the stack does not say it. True: it is the first to find that.
  bool LeaveUnnamed(uint32_t id) {
    Frame* f = frame(id);
    return f != nullptr && f->function.load(std::memory_order_relaxed) == 0 &&
           !f->unnamed.exchange(true, std::memory_order_acq_rel);
  }

  // Everything below: on one thread at a time.

  // Ids of frames that exist are below it.
  uint32_t frame_count() const { return next_frame_.load(std::memory_order_acquire); }
  // It is known to be native code; any thread.
  bool is_native(uint32_t id);
  // nullptr while it is being written.
  Frame* frame(uint32_t id);
  // Whether its address still means it.
  bool current(uint32_t id);
  void SetRule(uint32_t frame, const unwind::FrameRule& rule, uintptr_t function,
               bool dynamic = false);
  void SetRole(uint32_t id, uint64_t role) {
    if (Frame* f = frame(id)) f->role.store(role, std::memory_order_relaxed);
  }
  // Of a type: what it was found to be.
  void SetWord(uint32_t id, uint64_t word);
  // The address means nothing any more: its next sighting, if any, is a new frame. Nobody asks the
  // runtime about it before that, which matters: the code may be half gone.
  void Retire(uint32_t frame);
  // While nobody is in it.
  void Clear();
  bool crowded() const {
    return entries_.load(std::memory_order_relaxed) > kMaxEntries * 7 / 8 ||
           frame_count() > kMaxFrames * 7 / 8;
  }
  size_t memory_bytes() const;

 private:
  // A frame that frame() has from Publish() on, which comes when its slot refers to it: where the
  // slot does not, it is taken for one that nobody asks about any more.
  uint32_t NewFrame(uint64_t ip);
  void Publish(uint32_t id, size_t slot) {
    frames_[id].slot.store(static_cast<uint32_t>(slot) + 1, std::memory_order_release);
  }
  const Slot* HasFrame(Slot& s, size_t i);

  const LookupGate* gate_;
  Slot* slots_ = nullptr;
  Frame* frames_ = nullptr;
  std::atomic<uint32_t> next_frame_{kFirstFrame};
  std::atomic<uint32_t> entries_{0};
};

}  // namespace clrscope::agent
