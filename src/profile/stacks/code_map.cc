// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/code_map.h"

namespace clrscope::profile {

uint32_t CodeMap::ModuleIndex(uint64_t module_id) {
  const auto [it, is_new] =
      module_index_.try_emplace(module_id, static_cast<uint32_t>(module_ids_.size()));
  if (is_new) module_ids_.push_back(module_id);
  return it->second;
}

CodeRow CodeMap::Append(const MethodCode& m) {
  if (!pool_) pool_ = std::make_shared<MethodPool>();
  CodeRow row;
  row.start = m.start & kPointerMask;
  row.method_id = m.method_id & kPointerMask;
  row.load_ns = m.load_ns;
  row.size = m.size;
  row.module = ModuleIndex(m.module_id);
  row.info = pool_->Intern({m.owner, m.name, m.signature, m.token, m.flags});
  row.index = size_++;
  if (m.unload_ns != kNever) unloads_[row.index] = m.unload_ns;
  return row;
}

MethodCode CodeMap::Method(const CodeRow& row) const {
  const MethodInfo& info = pool_->Get(row.info);
  MethodCode m;
  m.start = row.start;
  m.method_id = row.method_id;
  m.module_id = module_ids_[row.module];
  m.load_ns = row.load_ns;
  m.unload_ns = UnloadOf(row.index);
  m.size = row.size;
  m.token = info.token;
  m.flags = info.flags;
  m.owner = info.owner;
  m.name = info.name;
  m.signature = info.signature;
  return m;
}

int64_t CodeMap::UnloadOf(uint32_t index) const {
  if (unloads_.empty()) return kNever;
  const auto it = unloads_.find(index);
  return it == unloads_.end() ? kNever : it->second;
}

bool CodeMap::Knows(uint64_t start, uint32_t size, uint64_t method_id) const {
  const std::optional<CodeRow> r = sized_.Newest(start & kPointerMask);
  return r && r->size == size && r->method_id == (method_id & kPointerMask) &&
         UnloadOf(r->index) == kNever;
}

void CodeMap::Add(const MethodCode& method) {
  if (method.load_ns != kAlways)
    // try_emplace: one that was unloaded stays so.
    if (const auto before = sized_.Newest(method.start & kPointerMask))
      unloads_.try_emplace(before->index, method.load_ns);
  sized_.Add(Append(method));
}

void CodeMap::AddEntry(const MethodCode& method) {
  if (!entries_.Newest(method.start & kPointerMask)) entries_.Add(Append(method));
}

void CodeMap::Unload(uint64_t start, uint64_t method_id, int64_t time_ns) {
  const std::optional<CodeRow> r = sized_.Newest(start & kPointerMask);
  if (r && r->method_id == (method_id & kPointerMask)) unloads_.try_emplace(r->index, time_ns);
}

template <class Visit>
void CodeMap::ForEachOwner(uint64_t address, Visit&& visit) const {
  bool any = false;
  sized_.ForEachAt(address, [&](const CodeRow& row) {
    any = true;
    visit(row);
  });
  if (any) return;
  if (const std::optional<CodeRow> entry = NearestEntry(address)) visit(*entry);
}

std::vector<CodeMap::Owner> CodeMap::Owners(uint64_t address) const {
  std::vector<Owner> owners;
  ForEachOwner(address, [&](const CodeRow& row) { owners.push_back({row.index, Method(row)}); });
  return owners;
}

std::optional<CodeRow> CodeMap::NearestEntry(uint64_t address) const {
  constexpr uint64_t kLongestMethod = 256 << 10;
  std::optional<CodeRow> entry = entries_.LastUpTo(address);
  if (!entry || address - entry->start > kLongestMethod) return std::nullopt;
  // Code whose size is known lies in between and does not reach the address: neither does the
  // entry.
  const std::optional<CodeRow> sized = sized_.LastUpTo(address);
  if (sized && sized->start >= entry->start) return std::nullopt;
  return entry;
}

MethodMatch CodeMap::Find(uint64_t address, int64_t time_ns) const {
  // How far `time_ns` lies outside a method's life; the load event is written after the code may
  // already run, so a little is normal.
  const auto distance = [this, time_ns](const CodeRow& row) -> uint64_t {
    const int64_t load = row.load_ns, unload = UnloadOf(row.index);
    if (time_ns < load) return static_cast<uint64_t>(load) - static_cast<uint64_t>(time_ns);
    if (time_ns > unload) return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(unload);
    return 0;
  };
  std::optional<CodeRow> best;
  uint64_t best_distance = 0;
  bool tied = false;
  ForEachOwner(address, [&](const CodeRow& row) {
    const uint64_t d = distance(row);
    if (!best || d < best_distance) {
      best = row;
      best_distance = d;
      tied = false;
    } else if (d == best_distance) {
      // Both lived then: the one that is known to have been loaded last before is the likelier.
      if (row.method_id != best->method_id) tied = true;
      if (row.load_ns > best->load_ns) best = row;
    }
  });
  MethodMatch match;
  match.ambiguous = tied || best_distance > 1'000'000'000u;
  if (!best) return match;
  match.index = best->index;
  match.method = Method(*best);
  return match;
}

void CodeMap::AddModule(const ModuleImage& module) {
  const auto [it, is_new] =
      module_at_.try_emplace(module.id, static_cast<uint32_t>(modules_.size()));
  if (is_new) {
    modules_.push_back(module);
  } else if (module.path.value != 0) {
    ModuleImage& m = modules_[it->second];
    const StringId mvid = module.mvid.value != 0 ? module.mvid : m.mvid;
    m = module;
    m.mvid = mvid;
  }
}

const ModuleImage* CodeMap::FindModule(uint64_t id) const {
  const auto it = module_at_.find(id);
  return it == module_at_.end() ? nullptr : &modules_[it->second];
}

}  // namespace clrscope::profile
