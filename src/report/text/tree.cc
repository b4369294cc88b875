// SPDX-License-Identifier: Apache-2.0
#include "report/text/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

constexpr double kLeastShare = 0.01;

class Drawer {
 public:
  Drawer(const profile::CallTree& tree, const profile::Profile& profile, size_t limit,
         const TextOptions& o)
      : tree_(tree),
        p_(profile),
        limit_(limit),
        o_(o),
        whole_(SortValue(tree.nodes[0].total, o.sort)) {}

  std::string Draw() {
    Figures(0);
    out_ += o_.style.Bold("all") + "\n";
    Children(0, "", false);
    if (left_out_ > 0) out_ += fmt::format("… {} more lines: -n 0 shows all\n", left_out_);
    return std::move(out_);
  }

 private:
  std::vector<uint32_t> Heavy(uint32_t node) const {
    std::vector<uint32_t> heavy;
    for (const uint32_t child : tree_.nodes[node].children)
      if (SortValue(tree_.nodes[child].total, o_.sort) >= whole_ * kLeastShare)
        heavy.push_back(child);
    return heavy;
  }

  void Figures(uint32_t node) {
    const profile::Estimate& e = tree_.nodes[node].total;
    const std::string figure = o_.sort == profile::SortBy::kAmount  ? AmountText(p_, e)
                               : o_.sort == profile::SortBy::kCount ? CountText(p_, e)
                                                                    : Thousands(e.samples);
    out_ += fmt::format("{}{:>8}  {:>7}  ", IsFew(p_, e) ? "~" : " ", figure,
                        HumanShare(SortValue(e, o_.sort), whole_));
  }

  // Whether `node` goes straight on into its only child, so that both may share a level.
  bool Continues(uint32_t node, const std::vector<uint32_t>& heavy) const {
    return heavy.size() == 1 &&
           tree_.nodes[heavy[0]].total.samples == tree_.nodes[node].total.samples;
  }

  // Depth is bounded: each level below has siblings, or a lighter total.
  void Children(uint32_t node, const std::string& indent, bool chained) {
    std::vector<uint32_t> heavy = Heavy(node);
    while (Continues(node, heavy) && (chained || node != 0)) {
      node = heavy[0];
      Line(node, indent, "│ ");
      heavy = Heavy(node);
    }
    const size_t light = tree_.nodes[node].children.size() - heavy.size();
    for (size_t i = 0; i < heavy.size(); ++i) {
      const bool last = i + 1 == heavy.size();
      Line(heavy[i], indent, last ? "└─" : "├─");
      Children(heavy[i], indent + (last ? "  " : "│ "), true);
    }
    light_ += light;
  }

  void Line(uint32_t node, const std::string& indent, std::string_view branch) {
    if (lines_++ >= limit_) {
      ++left_out_;
      return;
    }
    Figures(node);
    const profile::Frame& frame = p_.frames[tree_.nodes[node].frame];
    constexpr size_t kFigures = 20;
    const size_t used = kFigures + DisplayWidth(indent) + 3;
    const size_t room = o_.width > used + 16 ? o_.width - used : 16;
    const std::string name = ShortenName(Printable(p_.str(frame.method)), room);
    const bool ours =
        (frame.flags & (profile::kFramework | profile::kPseudo | profile::kUnresolved)) == 0;
    out_ += o_.style.Dim(indent + std::string(branch)) + " " + (ours ? o_.style.Bold(name) : name) +
            "\n";
  }

  const profile::CallTree& tree_;
  const profile::Profile& p_;
  size_t limit_;
  const TextOptions& o_;
  double whole_;
  std::string out_;
  size_t lines_ = 0, left_out_ = 0, light_ = 0;
};

}  // namespace

std::string TreeText(const profile::CallTree& tree, const profile::Profile& p, bool bottom_up,
                     size_t limit, const TextOptions& o) {
  const std::string title =
      bottom_up
          ? fmt::format("Callers: from the {} method up to who calls it", p.shown().spec().doing)
          : fmt::format("Call tree: from the root down to the {} method", p.shown().spec().doing);
  return o.style.Bold(title) + "\n" + Drawer(tree, p, limit, o).Draw() +
         Wrap(fmt::format(
                  "Branches below 1 % are left out{}",
                  o.framework
                      ? ""
                      : "; async and thread-pool plumbing is folded away (--framework shows it)"),
              0, 0, o.width);
}

}  // namespace clrscope::report
