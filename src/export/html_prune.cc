// SPDX-License-Identifier: Apache-2.0
// Cuts a profile down to what a page can hold.
#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "export/html_data.h"
#include "export/stack_walk.h"

namespace clrscope::exporter {
namespace {

using profile::Cell;
using profile::Estimate;
using profile::LiveCell;
using profile::Profile;

constexpr uint32_t kNone = ~uint32_t{0};

auto CellKey(const Cell& c) { return std::tuple(c.node, c.type, c.process, c.kind, c.labels); }
auto CellKey(const LiveCell& c) {
  return std::tuple(c.node, c.type, c.process, c.kind, c.age_bucket);
}

// Sorts by key and adds up cells with the same key.
template <class AnyCell>
void MergeCells(std::vector<AnyCell>& cells) {
  std::sort(cells.begin(), cells.end(),
            [](const AnyCell& a, const AnyCell& b) { return CellKey(a) < CellKey(b); });
  size_t out = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (out > 0 && CellKey(cells[out - 1]) == CellKey(cells[i])) {
      cells[out - 1].value += cells[i].value;
    } else {
      cells[out++] = cells[i];
    }
  }
  cells.resize(out);
}

// Which nodes stay. `keep` counts the root; every kept node's parent is kept, as a subtree never
// weighs more than the one that holds it and a parent has the smaller index.
std::vector<char> ChooseNodes(const Profile& p, const std::vector<double>& weight,
                              const std::vector<char>& used, size_t keep) {
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < p.nodes.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  const size_t n = std::min(order.size(), keep - 1);
  if (n < order.size()) {
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                     [&](uint32_t a, uint32_t b) {
                       return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
                     });
  }
  std::vector<char> kept(p.nodes.size(), 0);
  if (!kept.empty()) kept[0] = 1;
  for (size_t i = 0; i < n; ++i) kept[order[i]] = 1;
  return kept;
}

// Renumbers `page` depth first, so that most nodes follow their parents.
void OrderDepthFirst(PageTree& page) {
  const auto n = static_cast<uint32_t>(page.nodes.size());
  std::vector<uint32_t> first(n, kNone), next(n, kNone), place(n, 0), stack{0};
  for (uint32_t i = n; i-- > 1;) {
    next[i] = first[page.nodes[i].parent];
    first[page.nodes[i].parent] = i;
  }
  std::vector<PageNode> ordered;
  ordered.reserve(n);
  while (!stack.empty()) {
    const uint32_t i = stack.back();
    stack.pop_back();
    place[i] = static_cast<uint32_t>(ordered.size());
    PageNode node = page.nodes[i];
    node.parent = place[node.parent];
    ordered.push_back(node);
    const size_t base = stack.size();
    for (uint32_t c = first[i]; c != kNone; c = next[c]) stack.push_back(c);
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(base), stack.end());
  }
  page.nodes = std::move(ordered);
  for (Cell& c : page.cells) c.node = place[c.node];
  for (PageEvents& e : page.events)
    for (Cell& c : e.cells) c.node = place[c.node];
  for (LiveCell& c : page.lives) c.node = place[c.node];
}

// The cheapest (node, type) pairs lose their type, so that `limit` bounds what the page holds.
template <class AnyCell>
void FoldTypes(std::vector<AnyCell>& cells, uint64_t& folded, size_t limit,
               double Estimate::*by = &Estimate::amount) {
  if (cells.size() <= limit) return;
  std::vector<double> weights;
  weights.reserve(cells.size());
  for (const AnyCell& c : cells) weights.push_back(c.value.*by);
  std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(limit),
                   weights.end(), std::greater<>());
  const double cut = weights[limit];
  for (AnyCell& c : cells) {
    if (c.value.*by > cut) continue;
    c.type = kOtherType;
    ++folded;
  }
  MergeCells(cells);
}

// The same of threads, which go first: who allocated little is less than what it was.
void FoldThreads(std::vector<Cell>& cells, uint64_t& folded, size_t limit,
                 double Estimate::*by = &Estimate::amount) {
  if (cells.size() <= limit) return;
  std::vector<double> weights;
  weights.reserve(cells.size());
  for (const Cell& c : cells) weights.push_back(c.value.*by);
  // Half of the room stays for what the others become.
  const size_t kept = limit / 2;
  std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(kept),
                   weights.end(), std::greater<>());
  const double cut = weights[kept];
  for (Cell& c : cells) {
    if (c.labels == 0 || c.value.*by > cut) continue;
    c.labels = 0;
    ++folded;
  }
  MergeCells(cells);
}

// Cells' sets of labels become the page's numbers of threads.
void NumberThreads(const Profile& p, const profile::Figure& figure, std::vector<Cell>& cells,
                   std::map<std::pair<uint32_t, uint64_t>, uint32_t>& numbers, PageTree& page) {
  for (Cell& c : cells) {
    const uint64_t thread = figure.by_thread() ? p.labels[c.labels][profile::LabelKey::kThread] : 0;
    c.labels = 0;
    if (thread == 0) continue;
    const auto [it, is_new] = numbers.try_emplace({c.process, thread}, 0);
    if (is_new) {
      page.threads.push_back({c.process, thread});
      it->second = static_cast<uint32_t>(page.threads.size());
    }
    c.labels = it->second;
  }
}

// Adds each node's own share of what `cells` hold together, so that little that lives weighs as
// much as a lot that was allocated.
template <class AnyCell>
void Weigh(const std::vector<AnyCell>& cells, std::vector<double>& weight, std::vector<char>& used,
           double Estimate::*by = &Estimate::amount) {
  double total = 0;
  for (const AnyCell& c : cells) total += c.value.*by;
  for (const AnyCell& c : cells) {
    if (total > 0) weight[c.node] += c.value.*by / total;
    used[c.node] = 1;
  }
}

// What tables of the measure are sorted by.
double Estimate::*HeaviestBy(const profile::Figure& f) {
  return f.spec().amount_first ? &Estimate::amount : &Estimate::count;
}

// What of the profile goes onto a page, with the profile's nodes.
PageTree TakeCells(const Profile& p, bool only_shown) {
  PageTree page;
  for (const profile::Figure* f : FiguresOf(p, only_shown)) {
    if (f->measure == profile::Measure::kAllocations) {
      page.allocated = f;
      page.cells = f->cells;
    }
    if (!f->events()) continue;
    PageEvents& e = page.events.emplace_back(PageEvents{f, f->cells});
    for (Cell& c : e.cells)
      if (!f->spec().typed) c.type = 0;
  }
  // The agent's figures are those of memory.
  const bool only_live = p.measure() == profile::Measure::kLive;
  const bool by_agent = only_live || !only_shown;
  page.live =
      only_live ||
      (by_agent && std::any_of(p.processes.begin(), p.processes.end(),
                               [](const profile::Process& process) { return process.followed; }));
  if (by_agent) page.lives = p.lives();
  std::erase_if(page.lives, [](const LiveCell& c) { return c.young; });
  page.gc_cpu = by_agent && !p.gc_cpu().empty();
  return page;
}

// Of each of the profile's nodes, with all below it.
struct Subtrees {
  std::vector<double> weight;
  std::vector<char> used;
};

Subtrees WeighSubtrees(const Profile& p, const PageTree& page) {
  const auto n = static_cast<uint32_t>(p.nodes.size());
  Subtrees out{std::vector<double>(n, 0), std::vector<char>(n, 0)};
  Weigh(page.cells, out.weight, out.used);
  Weigh(page.lives, out.weight, out.used);
  for (const PageEvents& e : page.events)
    Weigh(e.cells, out.weight, out.used, HeaviestBy(*e.figure));
  for (uint32_t i = n; i-- > 1;) {
    out.weight[p.nodes[i].parent] += out.weight[i];
    out.used[p.nodes[i].parent] |= out.used[i];
  }
  return out;
}

struct FoldedNodes {
  std::vector<PageNode> nodes{1};
  uint64_t folded = 0;
  std::vector<uint32_t> home;  // node of the profile → node of the page that takes its cells
};

// Used nodes that are not kept go into the (other) of their nearest kept ancestor.
FoldedNodes FoldNodes(const Profile& p, const std::vector<char>& used,
                      const std::vector<char>& kept) {
  const auto n = static_cast<uint32_t>(p.nodes.size());
  FoldedNodes out;
  out.home.assign(n, 0);
  std::vector<uint32_t> other(n, kNone);  // kept node of the profile → its (other)
  std::vector<uint32_t> nearest(n, 0);    // node of the profile → nearest kept ancestor or itself
  for (uint32_t i = 1; i < n; ++i) {
    if (!used[i]) continue;
    if (kept[i]) {
      nearest[i] = i;
      out.home[i] = static_cast<uint32_t>(out.nodes.size());
      out.nodes.push_back({out.home[p.nodes[i].parent], p.nodes[i].frame, 0, p.nodes[i].line});
      continue;
    }
    const uint32_t ancestor = nearest[i] = nearest[p.nodes[i].parent];
    if (other[ancestor] == kNone) {
      other[ancestor] = static_cast<uint32_t>(out.nodes.size());
      out.nodes.push_back({out.home[ancestor], kOtherFrame, 0, 0});
    }
    out.home[i] = other[ancestor];
    ++out.nodes[out.home[i]].folded;
    ++out.folded;
  }
  return out;
}

// Each pruned branch needs an (other) node of its own: keeps fewer until both fit.
FoldedNodes FoldNodesTo(uint32_t max_nodes, const Profile& p, const Subtrees& subtrees) {
  for (size_t keep = max_nodes;; keep = std::max<size_t>(1, keep * 3 / 4)) {
    const std::vector<char> kept = ChooseNodes(p, subtrees.weight, subtrees.used, keep);
    FoldedNodes out = FoldNodes(p, subtrees.used, kept);
    if (out.nodes.size() <= max_nodes || keep == 1) return out;
  }
}

// `home`: where cells of the profile's nodes go; empty where it has no nodes.
void MoveCells(const std::vector<uint32_t>& home, PageTree& page) {
  const auto move = [&home](auto& cells) {
    for (auto& c : cells) c.node = home.empty() ? 0 : home[c.node];
  };
  move(page.cells);
  move(page.lives);
  for (PageEvents& e : page.events) move(e.cells);
}

void NumberAllThreads(const Profile& p, PageTree& page) {
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> threads;
  if (page.allocated != nullptr) NumberThreads(p, *page.allocated, page.cells, threads, page);
  for (PageEvents& e : page.events) NumberThreads(p, *e.figure, e.cells, threads, page);
}

// `limit`: of each kind of cells.
void FoldCells(PageTree& page, size_t limit) {
  MergeCells(page.cells);
  MergeCells(page.lives);
  FoldThreads(page.cells, page.folded_threads, limit);
  FoldTypes(page.cells, page.folded_types, limit);
  FoldTypes(page.lives, page.folded_types, limit);
  for (PageEvents& e : page.events) {
    MergeCells(e.cells);
    FoldThreads(e.cells, page.folded_threads, limit, HeaviestBy(*e.figure));
    if (e.figure->spec().typed) FoldTypes(e.cells, page.folded_types, limit, HeaviestBy(*e.figure));
  }
}

}  // namespace

PageTree PrunePage(const Profile& p, uint32_t max_nodes, bool only_shown) {
  max_nodes = std::max(max_nodes, 2u);
  PageTree page = TakeCells(p, only_shown);
  FoldedNodes folded = FoldNodesTo(max_nodes, p, WeighSubtrees(p, page));
  page.nodes = std::move(folded.nodes);
  page.folded_nodes = folded.folded;
  MoveCells(folded.home, page);
  NumberAllThreads(p, page);
  OrderDepthFirst(page);
  FoldCells(page, size_t{max_nodes} * 2);
  return page;
}

}  // namespace clrscope::exporter
