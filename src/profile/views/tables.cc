// SPDX-License-Identifier: Apache-2.0
#include "profile/views/tables.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/flat_map.h"
#include "base/units.h"

namespace clrscope::profile {
namespace {

constexpr uint8_t kNotOwn = kFramework | kMachinery | kUnresolved | kPseudo;

// Adds up `items` by key(item) into rows that make(item) starts.
template <class Row, class Items, class Key, class Make>
std::vector<Row> GroupBy(const Items& items, Key key, Make make) {
  std::vector<Row> rows;
  FlatMap index;
  for (const auto& item : items) {
    const uint64_t k = key(item);
    uint32_t at = index.Find(k);
    if (at == FlatMap::kNone) {
      at = static_cast<uint32_t>(rows.size());
      index.Set(k, at);
      rows.push_back(make(item));
    }
    rows[at].value += item.value;
  }
  return rows;
}

template <class Row, class Name>
void Sort(std::vector<Row>& rows, SortBy sort, Name name) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const double x = SortValue(a.value, sort), y = SortValue(b.value, sort);
    return x != y ? x > y : name(a) < name(b);
  });
}

}  // namespace

double SortValue(const Estimate& value, SortBy sort) {
  switch (sort) {
    case SortBy::kAmount:
      return value.amount;
    case SortBy::kCount:
      return value.count;
    case SortBy::kSamples:
      break;
  }
  return static_cast<double>(value.samples);
}

std::vector<TypeRow> ByType(const Profile& p, SortBy sort) {
  const auto heap = [&p](const Cell& c) { return p.counted() ? HeapKind::kUnknown : c.kind; };
  auto rows = GroupBy<TypeRow>(
      p.shown().cells,
      [&](const Cell& c) { return PairKey(c.type, static_cast<uint32_t>(heap(c))); },
      [&](const Cell& c) {
        return TypeRow{c.type, heap(c), {}, {}};
      });
  if (p.counted()) {
    std::vector<Estimate> large(p.types.size());
    for (const Cell& c : p.shown().cells)
      if (c.kind == HeapKind::kLoh) large[c.type] += c.value;
    for (TypeRow& r : rows) r.large = large[r.type];
  }
  Sort(rows, sort, [&](const TypeRow& r) { return p.str(p.types[r.type].name); });
  return rows;
}

std::vector<uint32_t> SiteFrames(const Profile& p, bool raw_leaf) {
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> site(p.nodes.size(), kNone);
  for (size_t i = 1; i < p.nodes.size() && !raw_leaf; ++i) {
    const Node& node = p.nodes[i];
    site[i] = (p.frames[node.frame].flags & kNotOwn) == 0 ? node.frame : site[node.parent];
  }
  for (size_t i = 0; i < p.nodes.size(); ++i)
    if (site[i] == kNone) site[i] = p.nodes[i].frame;
  return site;
}

uint32_t SiteFrame(const Profile& p, uint32_t node) {
  for (uint32_t n = node; n != 0; n = p.nodes[n].parent)
    if (const uint32_t frame = p.nodes[n].frame; (p.frames[frame].flags & kNotOwn) == 0)
      return frame;
  return p.nodes[node].frame;
}

std::vector<SiteRow> BySite(const Profile& p, SortBy sort, bool raw_leaf) {
  const std::vector<uint32_t> site = SiteFrames(p, raw_leaf);
  auto rows = GroupBy<SiteRow>(
      p.shown().cells, [&](const Cell& c) { return PairKey(c.type, site[c.node]); },
      [&](const Cell& c) {
        return SiteRow{c.type, site[c.node], {}};
      });
  Sort(rows, sort, [&](const SiteRow& r) {
    return std::make_pair(p.str(p.types[r.type].name), p.str(p.frames[r.frame].method));
  });
  return rows;
}

std::vector<MethodRow> ByMethod(const Profile& p, SortBy sort) {
  std::vector<Estimate> below(p.nodes.size());
  for (const Cell& c : p.shown().cells) below[c.node] += c.value;
  std::vector<MethodRow> by_frame(p.frames.size());
  for (size_t i = 1; i < p.nodes.size(); ++i) by_frame[p.nodes[i].frame].self += below[i];
  for (size_t i = p.nodes.size(); i-- > 1;) below[p.nodes[i].parent] += below[i];
  for (size_t i = 1; i < p.nodes.size(); ++i) {
    if (below[i].none()) continue;
    const uint32_t frame = p.nodes[i].frame;
    // Inside of itself a method counts no second time.
    uint32_t above = p.nodes[i].parent;
    while (above != 0 && p.nodes[above].frame != frame) above = p.nodes[above].parent;
    if (above == 0) by_frame[frame].total += below[i];
  }
  std::vector<MethodRow> rows;
  for (uint32_t f = 0; f < by_frame.size(); ++f) {
    if (by_frame[f].total.none()) continue;
    by_frame[f].frame = f;
    rows.push_back(by_frame[f]);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const MethodRow& a, const MethodRow& b) {
    const double x = SortValue(a.self, sort), y = SortValue(b.self, sort);
    if (x != y) return x > y;
    const double u = SortValue(a.total, sort), v = SortValue(b.total, sort);
    return u != v ? u > v : p.str(p.frames[a.frame].method) < p.str(p.frames[b.frame].method);
  });
  return rows;
}

std::vector<LineRow> ByLine(const Profile& p, SortBy sort, bool raw_leaf) {
  std::vector<LineRow> rows;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> index;
  std::vector<uint32_t> row_of(p.nodes.size()), site(p.nodes.size());  // of each node
  for (uint32_t i = 1; i < p.nodes.size(); ++i) {
    const Node& node = p.nodes[i];
    const SourceLine& line = p.lines[node.line];
    const auto [at, is_new] =
        index.try_emplace({node.frame, line.file, line.line}, static_cast<uint32_t>(rows.size()));
    if (is_new) rows.push_back({node.frame, line.file, line.line, false, {}, {}});
    row_of[i] = at->second;
    const bool own = raw_leaf || (p.frames[node.frame].flags & kNotOwn) == 0;
    site[i] = own ? i : site[node.parent];
  }
  std::vector<Estimate> below(p.nodes.size());
  for (const Cell& c : p.shown().cells) {
    if (c.node == 0) continue;
    below[c.node] += c.value;
    const uint32_t at = site[c.node] == 0 ? c.node : site[c.node];
    LineRow& row = rows[row_of[at]];
    row.self += c.value;
    row.approximate = row.approximate || p.lines[p.nodes[at].line].approximate(p.measure());
  }
  for (size_t i = p.nodes.size(); i-- > 1;) below[p.nodes[i].parent] += below[i];
  for (size_t i = 1; i < p.nodes.size(); ++i) {
    if (below[i].none()) continue;
    uint32_t above = p.nodes[i].parent;
    while (above != 0 && row_of[above] != row_of[i]) above = p.nodes[above].parent;
    LineRow& row = rows[row_of[i]];
    if (above == 0) row.total += below[i];
    row.approximate = row.approximate || p.lines[p.nodes[i].line].approximate(p.measure());
  }
  std::erase_if(rows, [](const LineRow& r) { return r.total.none(); });
  const auto name = [&p](const LineRow& r) {
    return std::tuple(p.str(p.source_files[r.file].path), r.line, p.str(p.frames[r.frame].method));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const LineRow& a, const LineRow& b) {
    const double x = SortValue(a.self, sort), y = SortValue(b.self, sort);
    if (x != y) return x > y;
    const double u = SortValue(a.total, sort), v = SortValue(b.total, sort);
    return u != v ? u > v : name(a) < name(b);
  });
  return rows;
}

std::vector<StackRow> ByStack(const Profile& p, SortBy sort) {
  std::vector<StackRow> rows;
  FlatMap index;
  for (const Cell& c : p.shown().cells) {
    uint32_t at = index.Find(PairKey(c.process, c.node));
    if (at == FlatMap::kNone) {
      at = static_cast<uint32_t>(rows.size());
      index.Set(PairKey(c.process, c.node), at);
      rows.push_back({c.process, c.node, {}, {}});
    }
    StackRow& row = rows[at];
    row.value += c.value;
    const auto part = std::find_if(row.types.begin(), row.types.end(),
                                   [&](const StackRow::Part& t) { return t.type == c.type; });
    (part != row.types.end() ? *part : row.types.emplace_back(StackRow::Part{c.type, {}})).value +=
        c.value;
  }
  for (StackRow& row : rows)
    Sort(row.types, sort, [&](const StackRow::Part& t) { return p.str(p.types[t.type].name); });
  Sort(rows, sort,
       [&](const StackRow& r) { return p.str(p.frames[p.nodes[r.node].frame].method); });
  return rows;
}

std::vector<AssemblyRow> ByAssembly(const Profile& p, SortBy sort, bool raw_leaf) {
  const std::vector<uint32_t> site = SiteFrames(p, raw_leaf);
  const auto module = [&](const Cell& c) { return p.frames[site[c.node]].module; };
  auto rows = GroupBy<AssemblyRow>(
      p.shown().cells, [&](const Cell& c) { return uint64_t{module(c).value}; },
      [&](const Cell& c) {
        return AssemblyRow{module(c), {}};
      });
  Sort(rows, sort, [&](const AssemblyRow& r) { return p.str(r.module); });
  return rows;
}

std::vector<KindRow> ByKind(const Profile& p, SortBy sort) {
  auto rows = GroupBy<KindRow>(
      p.shown().cells, [](const Cell& c) { return static_cast<uint64_t>(c.kind); },
      [](const Cell& c) {
        return KindRow{c.kind, {}};
      });
  Sort(rows, sort, [](const KindRow& r) { return r.kind; });
  return rows;
}

std::vector<ProcessRow> ByProcess(const Profile& p, SortBy sort) {
  auto rows = GroupBy<ProcessRow>(
      p.shown().cells, [](const Cell& c) { return uint64_t{c.process}; },
      [](const Cell& c) {
        return ProcessRow{c.process, {}};
      });
  Sort(rows, sort, [&](const ProcessRow& r) { return p.processes[r.process].pid; });
  return rows;
}

std::vector<ThreadTotal> ByThread(const Profile& p, SortBy sort) {
  std::unordered_map<uint64_t, size_t> index;  // thread ids have 64 bits: a hash per process
  std::vector<ThreadTotal> rows;
  uint32_t process = ~0u;
  for (const ThreadRow& t : p.shown().threads) {  // grouped by process
    if (t.process != process) index.clear();
    process = t.process;
    const auto [it, added] = index.try_emplace(t.thread, rows.size());
    if (added) rows.push_back({t.process, t.thread, {}});
    rows[it->second].value += t.value;
  }
  Sort(rows, sort, [](const ThreadTotal& r) { return std::make_pair(r.process, r.thread); });
  return rows;
}

std::vector<TimeBucket> ByTime(const Profile& p, int64_t width_ns) {
  if (p.shown().times.empty()) return {};
  int64_t first = p.shown().times.front().start_ns, last = first, widest = 1;
  for (const TimeRow& t : p.shown().times) {
    first = std::min(first, t.start_ns);
    last = std::max(last, t.end_ns);
    widest = std::max(widest, t.end_ns - t.start_ns);
  }
  if (width_ns <= 0) {
    constexpr int64_t kRound[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600};
    width_ns = 3600 * kSecond;
    for (const int64_t round : kRound) {
      if ((last - first) / (round * kSecond) > 30) continue;
      width_ns = round * kSecond;
      break;
    }
  }
  // Slices end where the recording does: one that is a little longer than a second is no coarse
  // one.
  if (widest > width_ns + width_ns / 2) width_ns = (widest + kSecond - 1) / kSecond * kSecond;
  first = first >= 0 ? first / width_ns * width_ns : first;
  std::vector<TimeBucket> buckets(static_cast<size_t>((last - first + width_ns - 1) / width_ns));
  for (size_t i = 0; i < buckets.size(); ++i) {
    buckets[i].start_ns = first + static_cast<int64_t>(i) * width_ns;
    buckets[i].end_ns = std::min(buckets[i].start_ns + width_ns, last);
  }
  for (const TimeRow& t : p.shown().times) {
    const int64_t middle = t.start_ns + (t.end_ns - t.start_ns) / 2;
    buckets[static_cast<size_t>((middle - first) / width_ns)].value += t.value;
  }
  return buckets;
}

}  // namespace clrscope::profile
