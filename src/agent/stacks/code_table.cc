// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/code_table.h"

#include "agent/samples/lazy_memory.h"

namespace clrscope::agent {
namespace {

constexpr uint64_t kBusy = 1;

size_t HashOf(uint64_t ip) {
  ip *= 0x9E3779B97F4A7C15u;
  return static_cast<size_t>(ip ^ (ip >> 32));
}

}  // namespace

CodeTable::CodeTable(const LookupGate* gate)
    : gate_(gate), slots_(LazyArray<Slot>(kSlots)), frames_(LazyArray<Frame>(kMaxFrames)) {}

CodeTable::~CodeTable() {
  FreeLazy(slots_, kSlots);
  FreeLazy(frames_, kMaxFrames);
}

uint32_t CodeTable::NewFrame(uint64_t ip) {
  const uint32_t id = next_frame_.fetch_add(1, std::memory_order_acq_rel);
  frames_[id].ip = ip;
  frames_[id].epoch = gate_ == nullptr ? 0 : gate_->epoch();
  return id;
}

const CodeTable::Slot* CodeTable::HasFrame(Slot& s, size_t i) {
  uint32_t none = 0;
  if (s.frame.load(std::memory_order_acquire) != 0) return &s;
  if (next_frame_.load(std::memory_order_relaxed) >= kMaxFrames - 4096) return nullptr;
  // Should another thread be first, this frame belongs to no slot: nobody will ask for it.
  const uint32_t id = NewFrame(s.ip.load(std::memory_order_relaxed));
  (void)s.frame.compare_exchange_strong(none, id, std::memory_order_acq_rel);
  Publish(id, i);
  return &s;
}

const CodeTable::Slot* CodeTable::FindOrAdd(uint64_t ip) {
  if (ip <= kBusy) return nullptr;
  size_t i = HashOf(ip) & (kSlots - 1);
  for (size_t probes = 0; probes < 256; ++probes, i = (i + 1) & (kSlots - 1)) {
    Slot& s = slots_[i];
    uint64_t there = s.ip.load(std::memory_order_acquire);
    if (there == ip) return HasFrame(s, i);
    if (there != 0) continue;
    if (entries_.load(std::memory_order_relaxed) >= kMaxEntries) return nullptr;
    if (next_frame_.load(std::memory_order_relaxed) >= kMaxFrames - 4096) return nullptr;
    if (!s.ip.compare_exchange_strong(there, kBusy, std::memory_order_acq_rel)) {
      if (there == ip) return HasFrame(s, i);
      continue;  // of two threads that add one address, each may get its own frame
    }
    entries_.fetch_add(1, std::memory_order_relaxed);
    s.rule.store(unwind::FrameRule{}.Pack(), std::memory_order_relaxed);
    const uint32_t id = NewFrame(ip);
    s.frame.store(id, std::memory_order_relaxed);
    Publish(id, i);
    s.ip.store(ip, std::memory_order_release);
    return &s;
  }
  return nullptr;
}

const CodeTable::Slot* CodeTable::Find(uint64_t ip) const {
  size_t i = HashOf(ip) & (kSlots - 1);
  for (size_t probes = 0; probes < 256; ++probes, i = (i + 1) & (kSlots - 1)) {
    const uint64_t there = slots_[i].ip.load(std::memory_order_acquire);
    if (there == ip)
      return slots_[i].frame.load(std::memory_order_acquire) == 0 ? nullptr : &slots_[i];
    if (there == 0) break;
  }
  return nullptr;
}

CodeTable::Frame* CodeTable::frame(uint32_t id) {
  if (id < kFirstFrame || id >= frame_count()) return nullptr;
  Frame& f = frames_[id];
  return f.slot.load(std::memory_order_acquire) == 0 ? nullptr : &f;
}

bool CodeTable::current(uint32_t id) {
  const Frame* f = frame(id);
  return f != nullptr && slots_[f->slot.load(std::memory_order_relaxed) - 1].frame.load(
                             std::memory_order_acquire) == id;
}

bool CodeTable::is_native(uint32_t id) {
  const Frame* f = frame(id);
  if (f == nullptr || f->function.load(std::memory_order_acquire) != 0) return false;
  const Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_acquire) != id) return false;
  const auto rule = unwind::FrameRule::Unpack(s.rule.load(std::memory_order_acquire));
  return rule.state != unwind::RuleState::kPending && !rule.managed;
}

void CodeTable::SetRule(uint32_t id, const unwind::FrameRule& rule, uintptr_t function,
                        bool dynamic) {
  Frame* f = frame(id);
  if (f == nullptr) return;
  f->dynamic.store(dynamic, std::memory_order_relaxed);
  f->function.store(function, std::memory_order_release);
  Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_relaxed) == id)
    s.rule.store(rule.Pack(), std::memory_order_release);
}

void CodeTable::SetWord(uint32_t id, uint64_t word) {
  Frame* f = frame(id);
  if (f == nullptr) return;
  Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_relaxed) == id) s.rule.store(word, std::memory_order_release);
}

void CodeTable::Retire(uint32_t id) {
  Frame* f = frame(id);
  if (f == nullptr) return;
  Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_relaxed) != id) return;
  s.rule.store(unwind::FrameRule{}.Pack(), std::memory_order_release);
  s.frame.store(0, std::memory_order_release);
}

void CodeTable::Clear() {
  ZeroLazy(slots_, kSlots);
  ZeroLazy(frames_, kMaxFrames);
  entries_.store(0);
  next_frame_.store(kFirstFrame);
}

size_t CodeTable::memory_bytes() const {
  // A slot for each entry, spread over the pages; frames lie side by side.
  const size_t pages = entries_.load(std::memory_order_relaxed);
  const size_t spread = pages * 4096 < kSlots * sizeof(Slot) ? pages * 4096 : kSlots * sizeof(Slot);
  return spread + frame_count() * sizeof(Frame);
}

}  // namespace clrscope::agent
