// SPDX-License-Identifier: Apache-2.0
#include "profile/code_map.h"

#include <algorithm>

namespace clrscope::profile {

uint32_t& CodeMap::StartIndex::Place(const Rows& rows, uint64_t start) {
  if ((used_ + 1) * 4 > places_.size() * 3) {
    std::vector<uint32_t> bigger(std::max<size_t>(64, places_.size() * 2));
    for (const uint32_t place : places_) {
      if (place == 0) continue;
      size_t i = Hash(rows[place - 1].start) & (bigger.size() - 1);
      while (bigger[i] != 0) i = (i + 1) & (bigger.size() - 1);
      bigger[i] = place;
    }
    places_.swap(bigger);
  }
  const size_t mask = places_.size() - 1;
  size_t i = Hash(start) & mask;
  while (places_[i] != 0 && rows[places_[i] - 1].start != start) i = (i + 1) & mask;
  if (places_[i] == 0) ++used_;
  return places_[i];
}

const uint32_t* CodeMap::StartIndex::Find(const Rows& rows, uint64_t start) const {
  if (places_.empty()) return nullptr;
  const size_t mask = places_.size() - 1;
  for (size_t i = Hash(start) & mask; places_[i] != 0; i = (i + 1) & mask)
    if (rows[places_[i] - 1].start == start) return &places_[i];
  return nullptr;
}

uint32_t CodeMap::ModuleIndex(uint64_t module_id) {
  const auto [it, is_new] =
      module_index_.try_emplace(module_id, static_cast<uint32_t>(module_ids_.size()));
  if (is_new) module_ids_.push_back(module_id);
  return it->second;
}

uint32_t CodeMap::Append(const MethodCode& m) {
  if (!pool_) pool_ = std::make_shared<MethodPool>();
  const uint32_t module = ModuleIndex(m.module_id);
  Row row;
  row.start = m.start & kPointerMask;
  row.method_id = m.method_id & kPointerMask;
  row.module_low = static_cast<uint16_t>(module);
  row.module_high = static_cast<uint16_t>(module >> kPointerFree);
  row.size = m.size;
  row.info = pool_->Intern({m.owner, m.name, m.signature, m.token, m.flags});
  rows_.push_back(row);
  if (m.load_ns != kAlways) loads_.emplace_back(size() - 1, m.load_ns);
  if (m.unload_ns != kNever) unloads_[size() - 1] = m.unload_ns;
  return size();
}

MethodCode CodeMap::method(uint32_t index) const {
  const Row& r = rows_[index];
  const MethodInfo& info = pool_->Get(r.info);
  MethodCode m;
  m.start = r.start;
  m.method_id = r.method_id;
  m.module_id = module_ids_[r.module()];
  m.load_ns = LoadOf(index);
  m.unload_ns = UnloadOf(index);
  m.size = r.size;
  m.token = info.token;
  m.flags = info.flags;
  m.owner = info.owner;
  m.name = info.name;
  m.signature = info.signature;
  return m;
}

int64_t CodeMap::LoadOf(uint32_t index) const {
  const auto it = std::lower_bound(loads_.begin(), loads_.end(), index,
                                   [](const auto& load, uint32_t i) { return load.first < i; });
  return it == loads_.end() || it->first != index ? kAlways : it->second;
}

int64_t CodeMap::UnloadOf(uint32_t index) const {
  if (unloads_.empty()) return kNever;
  const auto it = unloads_.find(index);
  return it == unloads_.end() ? kNever : it->second;
}

bool CodeMap::Knows(uint64_t start, uint32_t size, uint64_t method_id) const {
  const uint32_t* place = latest_at_.Find(rows_, start & kPointerMask);
  if (place == nullptr) return false;
  const Row& r = rows_[*place - 1];
  return r.size == size && r.method_id == (method_id & kPointerMask) &&
         UnloadOf(*place - 1) == kNever;
}

void CodeMap::Add(const MethodCode& method) {
  uint32_t& place = latest_at_.Place(rows_, method.start & kPointerMask);
  // try_emplace: one that was unloaded stays so.
  if (place != 0 && method.load_ns != kAlways) unloads_.try_emplace(place - 1, method.load_ns);
  place = Append(method);
}

void CodeMap::AddEntry(const MethodCode& method) {
  uint32_t& place = entry_at_.Place(rows_, method.start & kPointerMask);
  if (place == 0) place = Append(method);
}

void CodeMap::Unload(uint64_t start, uint64_t method_id, int64_t time_ns) {
  const uint32_t* place = latest_at_.Find(rows_, start & kPointerMask);
  if (place != nullptr && rows_[*place - 1].method_id == (method_id & kPointerMask))
    unloads_.try_emplace(*place - 1, time_ns);
}

void CodeMap::Index() const {
  if (by_start_.size() + entries_.size() == rows_.size()) return;
  by_start_.clear();
  entries_.clear();
  const auto entries = static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row& r) { return r.size == 0; }));
  entries_.reserve(entries);
  by_start_.reserve(rows_.size() - entries);
  for (uint32_t i = 0; i < rows_.size(); ++i)
    (rows_[i].size == 0 ? entries_ : by_start_).push_back(i);
  const auto by_start = [this](uint32_t a, uint32_t b) { return rows_[a].start < rows_[b].start; };
  std::stable_sort(by_start_.begin(), by_start_.end(), by_start);
  std::stable_sort(entries_.begin(), entries_.end(), by_start);
  ends_last_.clear();
  uint32_t last = 0;  // of those before: the one that ends last
  for (size_t i = 0; i < by_start_.size(); ++i) {
    const bool further = i == 0 || EndOf(by_start_[i]) > EndOf(last);
    if (further) last = by_start_[i];
    if (!further && ends_last_.empty())
      ends_last_.assign(by_start_.begin(), by_start_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!further || !ends_last_.empty()) ends_last_.push_back(last);
  }
}

std::vector<uint32_t> CodeMap::Owners(uint64_t address) const {
  Index();
  std::vector<uint32_t> owners;
  auto it = std::upper_bound(by_start_.begin(), by_start_.end(), address,
                             [this](uint64_t a, uint32_t i) { return a < rows_[i].start; });
  for (auto i = static_cast<size_t>(it - by_start_.begin());
       i-- > 0 && EndOf(ends_last_.empty() ? by_start_[i] : ends_last_[i]) > address;) {
    const Row& r = rows_[by_start_[i]];
    if (address - r.start < r.size) owners.push_back(by_start_[i]);
  }
  if (owners.empty())
    if (const uint32_t entry = NearestEntry(address); entry != size()) owners.push_back(entry);
  return owners;
}

uint32_t CodeMap::NearestEntry(uint64_t address) const {
  constexpr uint64_t kLongestMethod = 256 << 10;
  const auto last_before = [&](const std::vector<uint32_t>& list) {
    const auto it = std::upper_bound(list.begin(), list.end(), address,
                                     [this](uint64_t a, uint32_t i) { return a < rows_[i].start; });
    return it == list.begin() ? size() : *(it - 1);
  };
  const uint32_t entry = last_before(entries_);
  if (entry == size() || address - rows_[entry].start > kLongestMethod) return size();
  // Code whose size is known lies in between and does not reach the address: neither does the
  // entry.
  const uint32_t sized = last_before(by_start_);
  return sized != size() && rows_[sized].start >= rows_[entry].start ? size() : entry;
}

MethodMatch CodeMap::Find(uint64_t address, int64_t time_ns) const {
  // How far `time_ns` lies outside a method's life; the load event is written after the code may
  // already run, so a little is normal.
  const auto distance = [this, time_ns](uint32_t i) -> uint64_t {
    const int64_t load = LoadOf(i), unload = UnloadOf(i);
    if (time_ns < load) return static_cast<uint64_t>(load) - static_cast<uint64_t>(time_ns);
    if (time_ns > unload) return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(unload);
    return 0;
  };
  MethodMatch match;
  uint32_t best = size();
  uint64_t best_distance = 0;
  bool tied = false;
  for (const uint32_t i : Owners(address)) {
    const uint64_t d = distance(i);
    if (best == size() || d < best_distance) {
      best = i;
      best_distance = d;
      tied = false;
    } else if (d == best_distance) {
      // Both lived then: the one that is known to have been loaded last before is the likelier.
      if (rows_[i].method_id != rows_[best].method_id) tied = true;
      if (LoadOf(i) > LoadOf(best)) best = i;
    }
  }
  match.ambiguous = tied || best_distance > 1'000'000'000u;
  if (best == size()) return match;
  match.index = best;
  match.method = method(best);
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
