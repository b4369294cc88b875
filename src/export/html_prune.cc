// SPDX-License-Identifier: Apache-2.0
// Cuts a profile down to what a page can hold.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "export/html_data.h"

namespace clrscope::exporter {
namespace {

using profile::Cell;
using profile::LiveCell;
using profile::Profile;

constexpr uint32_t kNone = ~uint32_t{0};

auto CellKey(const Cell& c) { return std::tuple(c.node, c.type, c.process, c.kind); }
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
  for (LiveCell& c : page.lives) c.node = place[c.node];
}

// The cheapest (node, type) pairs lose their type, so that `limit` bounds what the page holds.
template <class AnyCell>
void FoldTypes(std::vector<AnyCell>& cells, uint64_t& folded, size_t limit) {
  if (cells.size() <= limit) return;
  std::vector<double> weights;
  weights.reserve(cells.size());
  for (const AnyCell& c : cells) weights.push_back(c.value.bytes);
  std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(limit),
                   weights.end(), std::greater<>());
  const double cut = weights[limit];
  for (AnyCell& c : cells) {
    if (c.value.bytes > cut) continue;
    c.type = kOtherType;
    ++folded;
  }
  MergeCells(cells);
}

// Adds each node's own share of what `cells` hold together, so that little that lives weighs as
// much as a lot that was allocated.
template <class AnyCell>
void Weigh(const std::vector<AnyCell>& cells, std::vector<double>& weight,
           std::vector<char>& used) {
  double total = 0;
  for (const AnyCell& c : cells) total += c.value.bytes;
  for (const AnyCell& c : cells) {
    if (total > 0) weight[c.node] += c.value.bytes / total;
    used[c.node] = 1;
  }
}

}  // namespace

PageTree PrunePage(const Profile& p, uint32_t max_nodes) {
  max_nodes = std::max(max_nodes, 2u);
  const auto n = static_cast<uint32_t>(p.nodes.size());
  std::vector<Cell> cells;
  if (p.shows == profile::Shows::kAllocated) cells = p.cells;
  std::vector<LiveCell> lives = p.lives;
  std::erase_if(lives, [](const LiveCell& c) { return c.young; });
  std::vector<double> weight(n, 0);
  std::vector<char> used(n, 0);
  Weigh(cells, weight, used);
  Weigh(lives, weight, used);
  for (uint32_t i = n; i-- > 1;) {
    weight[p.nodes[i].parent] += weight[i];
    used[p.nodes[i].parent] |= used[i];
  }

  // Each pruned branch needs an (other) node of its own: keep fewer until both fit.
  PageTree page;
  std::vector<uint32_t> home;  // node of the profile → node of the page that takes its cells
  for (size_t keep = max_nodes;; keep = std::max<size_t>(1, keep * 3 / 4)) {
    const std::vector<char> kept = ChooseNodes(p, weight, used, keep);
    page = PageTree{};
    page.nodes.push_back({});
    home.assign(n, 0);
    std::vector<uint32_t> other(n, kNone);  // kept node of the profile → its (other)
    std::vector<uint32_t> nearest(n, 0);  // node of the profile → nearest kept ancestor or itself
    for (uint32_t i = 1; i < n; ++i) {
      if (!used[i]) continue;
      if (kept[i]) {
        nearest[i] = i;
        home[i] = static_cast<uint32_t>(page.nodes.size());
        page.nodes.push_back({home[p.nodes[i].parent], p.nodes[i].frame, 0});
        continue;
      }
      const uint32_t ancestor = nearest[i] = nearest[p.nodes[i].parent];
      if (other[ancestor] == kNone) {
        other[ancestor] = static_cast<uint32_t>(page.nodes.size());
        page.nodes.push_back({home[ancestor], kOtherFrame, 0});
      }
      home[i] = other[ancestor];
      ++page.nodes[home[i]].folded;
      ++page.folded_nodes;
    }
    if (page.nodes.size() <= max_nodes || keep == 1) break;
  }
  for (Cell& c : cells) c.node = n == 0 ? 0 : home[c.node];
  for (LiveCell& c : lives) c.node = n == 0 ? 0 : home[c.node];
  page.cells = std::move(cells);
  page.lives = std::move(lives);
  OrderDepthFirst(page);
  MergeCells(page.cells);
  MergeCells(page.lives);
  FoldTypes(page.cells, page.folded_types, size_t{max_nodes} * 2);
  FoldTypes(page.lives, page.folded_types, size_t{max_nodes} * 2);
  return page;
}

}  // namespace clrscope::exporter
