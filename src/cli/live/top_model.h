// SPDX-License-Identifier: Apache-2.0
// What `top` shows and how keys change it; knows no terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/watch/live_view.h"
#include "profile/views/call_tree.h"

namespace clrscope::cli {

// By the measure's first quantity, its second one, the total, or the name.
enum class TopSort : uint8_t { kRate, kOther, kTotal, kName };

struct TopRow {
  std::string name;         // type, or process, or thread
  std::string method;       // of sites
  std::string process;      // "orders (1234)" when several are looked at
  uint64_t thread = 0;      // of threads
  std::string thread_name;  // … as the system has it, or ""
  bool ended = false, biased = false;
  profile::Estimate window, total;  // of the last TopModel::kWindow seconds, and since the start
  std::vector<double> trend;
  size_t index = 0;  // into LiveTables::rows()
};

// One line of the tree that a row opens into.
struct TopTreeLine {
  uint32_t node = 0;
  size_t depth = 0;
  std::string name;
  profile::Estimate value;
  bool open = false, can_open = false;
};

class TopModel {
 public:
  static constexpr int64_t kWindow = 5;  // seconds that rates are of

  explicit TopModel(const capture::LiveView* view) : view_(view) {}

  analysis::LiveBy by = analysis::LiveBy::kType;
  profile::Measure measure = profile::Measure::kAllocations;
  TopSort sort = TopSort::kRate;
  bool paused = false, help = false;
  std::string filter;                 // part of a name, in any case
  std::optional<std::string> typing;  // the filter while it is typed

  // Takes over what the view holds now; nothing while paused.
  void Refresh();
  void SetView(analysis::LiveBy view);
  void SetMeasure(profile::Measure measure);
  // What is shown by route; once more: requests themselves, and back.
  void ShowRequests();
  // Its words and units; the quantity that rows are sorted by, and the other one.
  const profile::MeasureSpec& spec() const { return profile::SpecOf(measure); }
  const profile::Quantity& first() const {
    return spec().amount_first ? spec().amount : spec().count;
  }
  const profile::Quantity& other() const {
    return spec().amount_first ? spec().count : spec().amount;
  }
  double First(const profile::Estimate& e) const {
    return spec().amount_first ? e.amount : e.count;
  }
  double Other(const profile::Estimate& e) const {
    return spec().amount_first ? e.count : e.amount;
  }
  // Some process is asked for it.
  bool Recorded(profile::Measure m) const;
  bool KnowsWhatRuns() const;  // of any process
  // Figures are estimates, or counts of events.
  bool sampled() const { return spec().heaps; }
  std::string SortName() const;
  const analysis::LiveTables& tables() const { return view_->tables(measure); }
  void CycleSort();
  void Move(int rows);
  // Opens the selected row into its call tree, or the tree's selected line.
  void Enter();
  // Out of the tree. False when there was nothing to leave.
  bool Leave();
  void FlipTree();  // callers ↔ callees

  const std::vector<TopRow>& rows() const { return rows_; }
  size_t selected() const { return selected_; }
  bool in_tree() const { return tree_.has_value(); }
  const std::string& tree_title() const { return tree_title_; }
  bool tree_bottom_up() const { return bottom_up_; }
  const std::vector<TopTreeLine>& tree() const { return lines_; }
  double tree_total() const { return tree_ ? First(tree_->nodes[0].total) : 0; }
  const capture::LiveView& view() const { return *view_; }
  // Over everything, frozen while paused.
  const profile::Estimate& window() const { return window_; }
  const std::vector<double>& trend() const { return trend_; }
  int64_t covered() const { return covered_; }

 private:
  void BuildTree();
  void LayOutTree();
  bool Wanted(const TopRow& row) const;

  const capture::LiveView* view_;
  std::vector<TopRow> rows_;
  size_t selected_ = 0;
  profile::Estimate window_;
  std::vector<double> trend_;
  int64_t covered_ = 1;

  std::optional<TopRow> opened_;
  profile::Profile profile_;  // of the opened row
  std::optional<profile::CallTree> tree_;
  std::vector<TopTreeLine> lines_;
  std::set<uint32_t> open_nodes_;
  std::string tree_title_;
  size_t row_before_ = 0;
  bool bottom_up_ = true;
};

}  // namespace clrscope::cli
