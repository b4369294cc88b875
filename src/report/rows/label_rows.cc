// SPDX-License-Identifier: Apache-2.0
#include "report/rows/label_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/tables/thread_state.h"

namespace clrscope::report {
namespace {

using profile::Estimate;
using profile::LabelKey;
using profile::Profile;

// One row for each key that `key_of` makes of a cell, the largest first; `json_of` tells the key.
template <class KeyOf, class JsonOf>
void RowsBy(const Profile& p, const RowOptions& options, ReportTable& table, KeyOf key_of,
            JsonOf json_of) {
  using Key = decltype(key_of(p.shown().cells.front()));
  std::map<Key, Estimate> sums;
  for (const profile::Cell& c : p.shown().cells) sums[key_of(c)] += c.value;
  std::vector<std::pair<Key, Estimate>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(), [&options](const auto& a, const auto& b) {
    return SortValue(a.second, options.sort) > SortValue(b.second, options.sort);
  });
  table.all_rows = rows.size();
  for (size_t i = 0; i < std::min(rows.size(), options.limit); ++i)
    table.rows.push_back({json_of(rows[i].first), rows[i].second, {}, false});
}

using OwnerKey = std::pair<uint32_t, uint64_t>;  // process, thread
OwnerKey OwnerOf(const Profile& p, const profile::Cell& c) {
  return {c.process, p.labels[c.labels][LabelKey::kOwner]};
}

uint64_t StateOf(const Profile& p, const profile::Cell& c) {
  return p.labels[c.labels][LabelKey::kState];
}

// What each owner did while it was waited for, and in how many waits: what was most frequent first.
std::map<OwnerKey, Json> Holdings(const Profile& p) {
  constexpr size_t kMost = 10;
  std::map<OwnerKey, std::map<std::string_view, double>> counts;
  for (const profile::Cell& c : p.shown().cells)
    if (const std::string_view method = p.HoldingName(p.labels[c.labels]); !method.empty())
      counts[OwnerOf(p, c)][method] += c.value.count;
  std::map<OwnerKey, Json> out;
  for (const auto& [owner, methods] : counts) {
    std::vector<std::pair<std::string_view, double>> rows(methods.begin(), methods.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (rows.size() > kMost) rows.resize(kMost);
    Json& list = out[owner] = Json::array();
    for (const auto& [method, count] : rows)
      list.push_back(Json{{"method", method}, {"count", std::llround(count)}});
  }
  return out;
}

}  // namespace

void OwnerRows(const Profile& p, const RowOptions& options, ReportTable& table) {
  const std::map<OwnerKey, Json> holdings = Holdings(p);
  RowsBy(
      p, options, table, [&p](const profile::Cell& c) { return OwnerOf(p, c); },
      [&](const OwnerKey& owner) {
        const auto [process, thread] = owner;
        const std::string_view name = p.ThreadName(process, thread);
        Json key{{"owner", thread == 0 ? Json() : Json(thread)},
                 {"name", name.empty() ? Json() : Json(name)}};
        const auto holding = holdings.find(owner);
        key["holding"] = holding == holdings.end() ? Json() : holding->second;
        AddProcess(key, p, process);
        return key;
      });
}

void MessageRows(const Profile& p, const RowOptions& options, ReportTable& table) {
  RowsBy(
      p, options, table,
      [&p](const profile::Cell& c) {
        return std::tuple(c.process, c.type, p.labels[c.labels][LabelKey::kMessage]);
      },
      [&p](const auto& said) {
        const auto [process, type, message] = said;
        const std::string_view text = p.str(StringId(static_cast<uint32_t>(message)));
        Json key{{"type", p.str(p.types[type].name)},
                 {"message", text.empty() ? Json() : Json(text)}};
        AddProcess(key, p, process);
        return key;
      });
}

void StateRows(const Profile& p, const RowOptions& options, ReportTable& table) {
  RowsBy(
      p, options, table, [&p](const profile::Cell& c) { return StateOf(p, c); },
      [](uint64_t state) {
        const std::string_view name = profile::ThreadStateName(state);
        return Json{{"state", name.empty() ? Json() : Json(name)}};
      });
}

}  // namespace clrscope::report
