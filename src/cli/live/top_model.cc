// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/views/tables.h"

namespace clrscope::cli {

using analysis::LiveBy;
using analysis::LiveTables;
using profile::Estimate;

namespace {

constexpr int64_t kTrendSeconds = 20;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Contains(const std::string& text, const std::string& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != text.end();
}

}  // namespace

std::string TopModel::SortName() const {
  switch (sort) {
    case TopSort::kRate:
      return fmt::format("{}/s", first().name);
    case TopSort::kOther:
      return fmt::format("{}/s", other().name);
    case TopSort::kTotal:
      return "total";
    case TopSort::kName:
      return "name";
  }
  return "";
}

bool TopModel::Wanted(const TopRow& row) const {
  const std::string& part = typing ? *typing : filter;
  return part.empty() || Contains(row.name, part) || Contains(row.method, part) ||
         Contains(row.process, part);
}

void TopModel::Refresh() {
  if (paused) return;
  const LiveTables& t = tables();
  covered_ = t.Covered(kWindow);
  window_ = t.Window(t.everything(), kWindow);
  trend_ = t.Trend(t.everything(), kTrendSeconds);
  rows_.clear();
  const std::vector<LiveTables::Row>& all = t.rows(by);
  const bool several = t.processes().size() > 1;
  for (size_t i = 0; i < all.size(); ++i) {
    const LiveTables::Row& r = all[i];
    if (r.gone) continue;
    const LiveTables::Process& process = t.processes()[r.process];
    TopRow row;
    const std::string who = fmt::format("{} ({})", t.str(process.name), process.pid);
    row.ended = process.ended;
    switch (by) {
      case LiveBy::kType:
      case LiveBy::kRequest:
        row.name = t.str(r.type);
        break;
      case LiveBy::kSite:
        row.name = t.str(spec().typed ? r.type : r.method);
        if (spec().typed) row.method = t.str(r.method);
        break;
      case LiveBy::kProcess:
        row.name = who;
        break;
      case LiveBy::kThread:
        row.thread = r.thread;
        row.thread_name = t.str(r.name);
        row.name = row.thread_name.empty() ? fmt::format("thread {}", r.thread)
                                           : fmt::format("{} ({})", row.thread_name, r.thread);
        break;
    }
    if (several && by != LiveBy::kProcess) row.process = who;
    if (!Wanted(row)) continue;
    row.window = t.Window(r, kWindow);
    row.total = r.total;
    row.biased = r.biased;
    row.trend = t.Trend(r, kTrendSeconds);
    row.index = i;
    rows_.push_back(std::move(row));
  }
  std::stable_sort(rows_.begin(), rows_.end(), [this](const TopRow& a, const TopRow& b) {
    switch (sort) {
      case TopSort::kRate:
        if (First(a.window) != First(b.window)) return First(a.window) > First(b.window);
        return First(a.total) > First(b.total);
      case TopSort::kOther:
        if (Other(a.window) != Other(b.window)) return Other(a.window) > Other(b.window);
        return Other(a.total) > Other(b.total);
      case TopSort::kTotal:
        return First(a.total) > First(b.total);
      case TopSort::kName:
        return a.name < b.name;
    }
    return false;
  });
  if (!in_tree()) selected_ = rows_.empty() ? 0 : std::min(selected_, rows_.size() - 1);
}

void TopModel::SetView(LiveBy view) {
  (void)Leave();
  // What has no types is told by where it happens.
  by = view == LiveBy::kType && !spec().typed ? LiveBy::kSite : view;
  // Requests have neither stacks nor threads.
  if (measure == profile::Measure::kRequests && by != LiveBy::kProcess) by = LiveBy::kRequest;
  selected_ = 0;
  const bool was = std::exchange(paused, false);
  Refresh();
  paused = was;
}

void TopModel::SetMeasure(profile::Measure wanted) {
  measure = wanted;
  SetView(by);
}

bool TopModel::KnowsWhatRuns() const {
  const auto& all = view_->processes();
  return std::any_of(all.begin(), all.end(), [](const auto& p) { return p.KnowsWhatRuns(); });
}

bool TopModel::Recorded(profile::Measure m) const {
  const auto& all = view_->processes();
  return std::any_of(all.begin(), all.end(), [m](const auto& p) { return p.Recorded(m); });
}

void TopModel::ShowRequests() {
  if (by != LiveBy::kRequest) return SetView(LiveBy::kRequest);
  SetMeasure(measure == profile::Measure::kRequests ? profile::Measure::kAllocations
                                                    : profile::Measure::kRequests);
}

void TopModel::CycleSort() {
  sort = static_cast<TopSort>((static_cast<unsigned>(sort) + 1) % 4);
  const bool was = std::exchange(paused, false);
  Refresh();
  paused = was;
}

void TopModel::Move(int rows) {
  const size_t n = in_tree() ? lines_.size() : rows_.size();
  if (n == 0) return;
  const int64_t to = static_cast<int64_t>(selected_) + rows;
  selected_ = static_cast<size_t>(std::clamp<int64_t>(to, 0, static_cast<int64_t>(n) - 1));
}

void TopModel::Enter() {
  if (in_tree()) {
    if (selected_ >= lines_.size() || !lines_[selected_].can_open) return;
    const uint32_t node = lines_[selected_].node;
    if (open_nodes_.erase(node) == 0) open_nodes_.insert(node);
    LayOutTree();
    return;
  }
  if (selected_ >= rows_.size() || by == LiveBy::kThread) return;
  if (measure == profile::Measure::kRequests) return;  // these have no stacks
  opened_ = rows_[selected_];
  row_before_ = selected_;
  BuildTree();
}

bool TopModel::Leave() {
  if (!in_tree()) return false;
  tree_.reset();
  lines_.clear();
  profile_ = {};
  selected_ = row_before_;
  return true;
}

void TopModel::FlipTree() {
  if (!in_tree()) return;
  bottom_up_ = !bottom_up_;
  BuildTree();
}

// Everything since the start that the opened row is about.
void TopModel::BuildTree() {
  const LiveTables& t = tables();
  const LiveTables::Row& row = t.rows(by)[opened_->index];
  const uint32_t pid = t.processes()[row.process].pid;
  // The owner of its type may have been found since.
  if (by == LiveBy::kType || (by == LiveBy::kSite && spec().typed)) opened_->name = t.str(row.type);
  profile_ =
      view_->SinceStart(opened_->biased ? profile::Source::kTick : profile::Source::kSampled);
  for (size_t i = 0; i < profile_.figures.size(); ++i)
    if (profile_.figures[i].measure == measure) profile_.shown_index = i;
  if (profile_.shown().measure != measure) profile_.shown().cells.clear();
  const std::vector<uint32_t> sites = profile::SiteFrames(profile_, false);
  std::erase_if(profile_.shown().cells, [&](const profile::Cell& c) {
    if (profile_.processes[c.process].pid != pid) return true;
    if (by == LiveBy::kProcess) return false;
    if (by == LiveBy::kRequest)
      return profile_.RequestName(profile_.labels[c.labels]) != opened_->name;
    const std::string_view type = profile_.str(profile_.types[c.type].name);
    const std::string_view method = profile_.str(profile_.frames[sites[c.node]].method);
    if (!spec().typed) return method != opened_->name;
    return type != opened_->name || (by == LiveBy::kSite && method != opened_->method);
  });
  tree_ = profile::BuildCallTree(
      profile_, {.bottom_up = bottom_up_,
                 .sort = spec().amount_first ? profile::SortBy::kAmount : profile::SortBy::kCount});
  tree_title_ = opened_->name;
  if (by == LiveBy::kSite && spec().typed) tree_title_ += " in " + opened_->method;
  open_nodes_.clear();
  // The way to the first branch is open.
  for (uint32_t node = 0; tree_->nodes[node].children.size() == 1;
       node = tree_->nodes[node].children[0])
    open_nodes_.insert(tree_->nodes[node].children[0]);
  selected_ = 0;
  LayOutTree();
}

void TopModel::LayOutTree() {
  lines_.clear();
  std::vector<std::pair<uint32_t, size_t>> todo;  // node, depth
  const auto push = [&](uint32_t node, size_t depth) {
    const auto& children = tree_->nodes[node].children;
    for (size_t i = children.size(); i-- > 0;) todo.emplace_back(children[i], depth);
  };
  push(0, 0);
  while (!todo.empty()) {
    const auto [node, depth] = todo.back();
    todo.pop_back();
    const profile::CallNode& n = tree_->nodes[node];
    const bool open = open_nodes_.contains(node);
    lines_.push_back({node, depth, std::string(profile_.str(profile_.frames[n.frame].method)),
                      n.total, open, !n.children.empty()});
    if (open) push(node, depth + 1);
  }
  selected_ = lines_.empty() ? 0 : std::min(selected_, lines_.size() - 1);
}

}  // namespace clrscope::cli
