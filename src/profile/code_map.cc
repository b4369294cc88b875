// SPDX-License-Identifier: Apache-2.0
#include "profile/code_map.h"

#include <algorithm>

namespace clrscope::profile {

uint32_t& CodeMap::StartIndex::Place(const std::vector<MethodCode>& methods, uint64_t start) {
  if ((used_ + 1) * 4 > places_.size() * 3) {
    std::vector<uint32_t> bigger(std::max<size_t>(64, places_.size() * 2));
    for (const uint32_t place : places_) {
      if (place == 0) continue;
      size_t i = Hash(methods[place - 1].start) & (bigger.size() - 1);
      while (bigger[i] != 0) i = (i + 1) & (bigger.size() - 1);
      bigger[i] = place;
    }
    places_.swap(bigger);
  }
  const size_t mask = places_.size() - 1;
  size_t i = Hash(start) & mask;
  while (places_[i] != 0 && methods[places_[i] - 1].start != start) i = (i + 1) & mask;
  if (places_[i] == 0) ++used_;
  return places_[i];
}

const uint32_t* CodeMap::StartIndex::Find(const std::vector<MethodCode>& methods,
                                          uint64_t start) const {
  if (places_.empty()) return nullptr;
  const size_t mask = places_.size() - 1;
  for (size_t i = Hash(start) & mask; places_[i] != 0; i = (i + 1) & mask)
    if (methods[places_[i] - 1].start == start) return &places_[i];
  return nullptr;
}

void CodeMap::Append(const MethodCode& method) {
  // By a quarter, not by half of what a rundown needs in the end.
  if (methods_.size() == methods_.capacity())
    methods_.reserve(std::max<size_t>(16, methods_.size() + methods_.size() / 4));
  methods_.push_back(method);
}

bool CodeMap::Knows(uint64_t start, uint32_t size, uint64_t method_id) const {
  const uint32_t* place = latest_at_.Find(methods_, start);
  if (place == nullptr) return false;
  const MethodCode& m = methods_[*place - 1];
  return m.size == size && m.method_id == method_id && m.unload_ns == kNever;
}

void CodeMap::Add(const MethodCode& method) {
  uint32_t& place = latest_at_.Place(methods_, method.start);
  if (place != 0) {
    MethodCode& previous = methods_[place - 1];
    if (previous.unload_ns == kNever && method.load_ns != kAlways)
      previous.unload_ns = method.load_ns;
  }
  Append(method);
  place = static_cast<uint32_t>(methods_.size());
}

void CodeMap::AddEntry(const MethodCode& method) {
  uint32_t& place = entry_at_.Place(methods_, method.start);
  if (place != 0) return;
  Append(method);
  place = static_cast<uint32_t>(methods_.size());
}

void CodeMap::Unload(uint64_t start, uint64_t method_id, int64_t time_ns) {
  const uint32_t* place = latest_at_.Find(methods_, start);
  if (place == nullptr) return;
  MethodCode& m = methods_[*place - 1];
  if (m.method_id == method_id && m.unload_ns == kNever) m.unload_ns = time_ns;
}

void CodeMap::Index() const {
  if (by_start_.size() + entries_.size() == methods_.size()) return;
  by_start_.clear();
  entries_.clear();
  for (uint32_t i = 0; i < methods_.size(); ++i)
    (methods_[i].size == 0 ? entries_ : by_start_).push_back(i);
  const auto by_start = [this](uint32_t a, uint32_t b) {
    return methods_[a].start < methods_[b].start;
  };
  std::stable_sort(by_start_.begin(), by_start_.end(), by_start);
  std::stable_sort(entries_.begin(), entries_.end(), by_start);
  max_end_.resize(by_start_.size());
  uint64_t end = 0;
  for (size_t i = 0; i < by_start_.size(); ++i) {
    const MethodCode& m = methods_[by_start_[i]];
    end = std::max(end, m.start + m.size);
    max_end_[i] = end;
  }
}

std::vector<const MethodCode*> CodeMap::Owners(uint64_t address) const {
  Index();
  std::vector<const MethodCode*> owners;
  auto it = std::upper_bound(by_start_.begin(), by_start_.end(), address,
                             [this](uint64_t a, uint32_t i) { return a < methods_[i].start; });
  for (auto i = static_cast<size_t>(it - by_start_.begin()); i-- > 0 && max_end_[i] > address;) {
    const MethodCode& m = methods_[by_start_[i]];
    if (address - m.start < m.size) owners.push_back(&m);
  }
  if (owners.empty())
    if (const MethodCode* entry = NearestEntry(address)) owners.push_back(entry);
  return owners;
}

const MethodCode* CodeMap::NearestEntry(uint64_t address) const {
  constexpr uint64_t kLongestMethod = 256 << 10;
  const auto last_before = [&](const std::vector<uint32_t>& list) -> const MethodCode* {
    const auto it =
        std::upper_bound(list.begin(), list.end(), address,
                         [this](uint64_t a, uint32_t i) { return a < methods_[i].start; });
    return it == list.begin() ? nullptr : &methods_[*(it - 1)];
  };
  const MethodCode* entry = last_before(entries_);
  if (entry == nullptr || address - entry->start > kLongestMethod) return nullptr;
  // Code whose size is known lies in between and does not reach the address: neither does the
  // entry.
  const MethodCode* sized = last_before(by_start_);
  return sized != nullptr && sized->start >= entry->start ? nullptr : entry;
}

MethodMatch CodeMap::Find(uint64_t address, int64_t time_ns) const {
  // How far `time_ns` lies outside a method's life; the load event is written after the code may
  // already run, so a little is normal.
  const auto distance = [time_ns](const MethodCode& m) -> uint64_t {
    if (time_ns < m.load_ns)
      return static_cast<uint64_t>(m.load_ns) - static_cast<uint64_t>(time_ns);
    if (time_ns > m.unload_ns)
      return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(m.unload_ns);
    return 0;
  };
  MethodMatch best;
  uint64_t best_distance = 0;
  bool tied = false;
  for (const MethodCode* m : Owners(address)) {
    const uint64_t d = distance(*m);
    if (best.method == nullptr || d < best_distance) {
      best.method = m;
      best_distance = d;
      tied = false;
    } else if (d == best_distance) {
      // Both lived then: the one that is known to have been loaded last before is the likelier.
      if (m->method_id != best.method->method_id) tied = true;
      if (m->load_ns > best.method->load_ns) best.method = m;
    }
  }
  best.ambiguous = tied || best_distance > 1'000'000'000u;
  if (best.method != nullptr && best.method->load_ns == kAlways && best_distance == 0 && !tied)
    best.ambiguous = false;
  return best;
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
