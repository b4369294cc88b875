// SPDX-License-Identifier: Apache-2.0
#include "agent/code_table.h"

#include "agent/lazy_memory.h"

namespace clrscope::agent {
namespace {

constexpr uint64_t kBusy = 1;

size_t HashOf(uint64_t ip) {
  ip *= 0x9E3779B97F4A7C15u;
  return static_cast<size_t>(ip ^ (ip >> 32));
}

}  // namespace

CodeTable::CodeTable()
    : slots_(LazyArray<Slot>(kSlots)), frames_(LazyArray<Frame>(kMaxFrames)) {}

CodeTable::~CodeTable() {
  FreeLazy(slots_, kSlots);
  FreeLazy(frames_, kMaxFrames);
}

const CodeTable::Slot* CodeTable::FindOrAdd(uint64_t ip) {
  if (ip <= kBusy) return nullptr;
  size_t i = HashOf(ip) & (kSlots - 1);
  for (size_t probes = 0; probes < 256; ++probes, i = (i + 1) & (kSlots - 1)) {
    Slot& s = slots_[i];
    uint64_t there = s.ip.load(std::memory_order_acquire);
    if (there == ip) return &s;
    if (there != 0) continue;
    if (entries_.load(std::memory_order_relaxed) >= kMaxEntries) return nullptr;
    if (next_frame_.load(std::memory_order_relaxed) >= kMaxFrames - 4096) return nullptr;
    if (!s.ip.compare_exchange_strong(there, kBusy, std::memory_order_acq_rel)) {
      if (there == ip) return &s;
      continue;  // of two threads that add one address, each may get its own frame
    }
    entries_.fetch_add(1, std::memory_order_relaxed);
    const uint32_t id = next_frame_.fetch_add(1, std::memory_order_acq_rel);
    s.rule.store(FrameRule{}.Pack(), std::memory_order_relaxed);
    s.frame.store(id, std::memory_order_relaxed);
    frames_[id].ip = ip;
    frames_[id].slot.store(static_cast<uint32_t>(i) + 1, std::memory_order_release);
    s.ip.store(ip, std::memory_order_release);
    return &s;
  }
  return nullptr;
}

CodeTable::Frame* CodeTable::frame(uint32_t id) {
  if (id < kFirstFrame || id >= frame_count()) return nullptr;
  Frame& f = frames_[id];
  return f.slot.load(std::memory_order_acquire) == 0 ? nullptr : &f;
}

void CodeTable::SetRule(uint32_t id, const FrameRule& rule, uintptr_t function) {
  Frame* f = frame(id);
  if (f == nullptr) return;
  f->function.store(function, std::memory_order_release);
  Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_relaxed) == id)
    s.rule.store(rule.Pack(), std::memory_order_release);
}

void CodeTable::Retire(uint32_t id) {
  Frame* f = frame(id);
  if (f == nullptr) return;
  Slot& s = slots_[f->slot.load(std::memory_order_relaxed) - 1];
  if (s.frame.load(std::memory_order_relaxed) != id) return;
  const uint32_t fresh = next_frame_.load(std::memory_order_relaxed) >= kMaxFrames
                             ? uint32_t{0}
                             : next_frame_.fetch_add(1, std::memory_order_acq_rel);
  if (fresh == 0) return;
  frames_[fresh].ip = f->ip;
  s.rule.store(FrameRule{}.Pack(), std::memory_order_release);
  s.frame.store(fresh, std::memory_order_release);
  frames_[fresh].slot.store(f->slot.load(std::memory_order_relaxed), std::memory_order_release);
}

size_t CodeTable::memory_bytes() const {
  // A slot for each entry, spread over the pages; frames lie side by side.
  const size_t pages = entries_.load(std::memory_order_relaxed);
  const size_t spread = pages * 4096 < kSlots * sizeof(Slot) ? pages * 4096 : kSlots * sizeof(Slot);
  return spread + frame_count() * sizeof(Frame);
}

}  // namespace clrscope::agent
