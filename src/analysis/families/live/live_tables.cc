// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/live/live_tables.h"

#include <algorithm>

#include "profile/views/tables.h"

namespace clrscope::analysis {

using profile::Estimate;
using profile::Profile;

uint32_t LiveTables::AddProcess(uint32_t pid, std::string_view name) {
  processes_.push_back({pid, strings_.Intern(name), false});
  return static_cast<uint32_t>(processes_.size() - 1);
}

void LiveTables::AddSecond(int64_t second, const Profile& p, const std::vector<uint32_t>& ids) {
  second_ = second;
  if (first_second_ < 0 && !p.shown().cells.empty()) first_second_ = second;
  if (!p.shown().cells.empty() && !p.shown().counts_known) objects_known_ = false;
  const bool biased = p.biased();
  const std::vector<uint32_t> sites = profile::SiteFrames(p, false);
  std::vector<uint32_t> types(p.types.size(), 0), methods(p.frames.size(), 0);
  const auto name_of = [&](std::vector<uint32_t>& known, uint32_t index, StringId name) {
    if (known[index] == 0) known[index] = strings_.Intern(p.str(name)).value;
    return known[index];
  };
  // Where they are recorded at all.
  const bool requests = p.shown().by_request() && p.Find(profile::Measure::kRequests) != nullptr;
  for (const profile::Cell& c : p.shown().cells) {
    if (c.process >= ids.size() || ids[c.process] >= processes_.size()) continue;
    const uint32_t process = ids[c.process];
    const uint32_t type = name_of(types, c.type, p.types[c.type].name);
    const uint32_t method = name_of(methods, sites[c.node], p.frames[sites[c.node]].method);
    Count(LiveBy::kType, {process, type, 0, 0}, c.value, biased);
    Count(LiveBy::kSite, {process, type, method, 0}, c.value, biased);
    Count(LiveBy::kProcess, {process, 0, 0, 0}, c.value, biased);
    if (requests) {
      const uint32_t route = strings_.Intern(p.RequestName(p.labels[c.labels])).value;
      Count(LiveBy::kRequest, {process, route, 0, 0}, c.value, biased);
    }
    Count(everything_, c.value, biased);
  }
  for (const profile::ThreadRow& t : p.shown().threads) {
    if (t.process >= ids.size()) continue;
    Row& row = Count(LiveBy::kThread, {ids[t.process], 0, 0, t.thread}, t.value, biased);
    if (row.thread == t.thread) row.name = strings_.Intern(p.ThreadName(t.process, t.thread));
  }
  if (second % kSeconds == 0) Forget();
}

LiveTables::Row& LiveTables::Count(LiveBy by, Key key, const Estimate& value, bool biased) {
  Table& table = tables_[static_cast<size_t>(by)];
  auto it = table.index.find(key);
  if (it == table.index.end()) {
    if (table.rows.size() >= kMaxRows && by != LiveBy::kProcess) {
      const uint32_t other = strings_.Intern("(other)").value;
      key = {key.process, key.type == 0 ? 0 : other, key.method == 0 ? 0 : other, 0};
    }
    bool is_new = false;
    std::tie(it, is_new) = table.index.try_emplace(key, static_cast<uint32_t>(table.rows.size()));
    if (is_new) {
      Row row;
      row.process = key.process;
      row.thread = key.thread;
      row.type.value = key.type;
      row.method.value = key.method;
      table.rows.push_back(std::move(row));
    }
  }
  Row& row = table.rows[it->second];
  Count(row, value, biased);
  return row;
}

void LiveTables::Count(Row& row, const Estimate& value, bool biased) {
  row.total += value;
  row.biased = row.biased || biased;
  if (row.recent.empty() || row.recent.back().second != second_) {
    if (!row.recent.empty() && row.recent.front().second <= second_ - kSeconds)
      std::erase_if(row.recent, [this](const Second& s) { return s.second <= second_ - kSeconds; });
    row.recent.push_back({second_, {}});
  }
  row.recent.back().value += value;
}

void LiveTables::Rename(uint32_t process, std::string_view from, std::string_view to) {
  const StringId before = strings_.Intern(from), now = strings_.Intern(to);
  if (before == now) return;
  for (const LiveBy by : {LiveBy::kType, LiveBy::kSite}) {
    Table& table = tables_[static_cast<size_t>(by)];
    for (uint32_t i = 0; i < table.rows.size(); ++i) {
      Row& row = table.rows[i];
      if (row.process != process || row.type != before || row.gone) continue;
      table.index.erase({process, before.value, row.method.value, 0});
      row.type = now;
      const auto [it, is_new] =
          table.index.try_emplace({process, now.value, row.method.value, 0}, i);
      if (!is_new) Add(table.rows[it->second], row);
    }
  }
}

void LiveTables::Add(Row& to, Row& from) {
  to.total += from.total;
  to.biased = to.biased || from.biased;
  for (const Second& s : from.recent) {
    const auto at =
        std::lower_bound(to.recent.begin(), to.recent.end(), s.second,
                         [](const Second& have, int64_t second) { return have.second < second; });
    if (at != to.recent.end() && at->second == s.second)
      at->value += s.value;
    else
      to.recent.insert(at, s);
  }
  from.total = {};
  from.recent.clear();
  from.gone = true;
}

void LiveTables::Forget() {
  for (Table& table : tables_)
    for (Row& row : table.rows)
      if (!row.recent.empty() && row.recent.back().second <= second_ - kSeconds)
        row.recent = std::vector<Second>();
}

Estimate LiveTables::Window(const Row& row, int64_t seconds) const {
  Estimate sum;
  for (const Second& s : row.recent)
    if (s.second > second_ - seconds) sum += s.value;
  return sum;
}

std::vector<double> LiveTables::Trend(const Row& row, int64_t n) const {
  std::vector<double> out(static_cast<size_t>(n), 0.0);
  for (const Second& s : row.recent) {
    const int64_t at = n - 1 - (second_ - s.second);
    if (at >= 0) out[static_cast<size_t>(at)] += First(s.value);
  }
  return out;
}

int64_t LiveTables::Covered(int64_t seconds) const {
  if (first_second_ < 0) return 1;
  return std::clamp<int64_t>(second_ - first_second_ + 1, 1, std::min(seconds, kSeconds));
}

}  // namespace clrscope::analysis
