// SPDX-License-Identifier: Apache-2.0
#include "profile/views/call_tree.h"

#include <algorithm>

#include "base/flat_map.h"

namespace clrscope::profile {
namespace {

class Builder {
 public:
  Builder(const Profile& profile, const CallTreeOptions& options) : p_(profile), options_(options) {
    tree_.nodes.emplace_back();
  }

  CallTree Build() {
    std::vector<Estimate> own(p_.nodes.size());
    for (const Cell& c : p_.shown().cells) own[c.node] += c.value;
    std::vector<uint32_t> path;  // root first
    for (uint32_t i = 0; i < own.size(); ++i) {
      if (own[i].none()) continue;
      path.clear();
      for (uint32_t n = i; n != 0; n = p_.nodes[n].parent)
        if (Shown(p_.nodes[n].frame)) path.push_back(p_.nodes[n].frame);
      if (!options_.bottom_up) std::reverse(path.begin(), path.end());
      Add(path, own[i]);
    }
    for (CallNode& node : tree_.nodes)
      std::sort(node.children.begin(), node.children.end(),
                [&](uint32_t a, uint32_t b) { return Before(tree_.nodes[a], tree_.nodes[b]); });
    return std::move(tree_);
  }

 private:
  bool Shown(uint32_t frame) const {
    return options_.keep_machinery || (p_.frames[frame].flags & kMachinery) == 0;
  }

  void Add(const std::vector<uint32_t>& path, const Estimate& value) {
    uint32_t at = 0;
    tree_.nodes[0].total += value;
    for (const uint32_t frame : path) {
      const uint64_t key = PairKey(at, frame);
      uint32_t child = child_.Find(key);
      if (child == FlatMap::kNone) {
        child = static_cast<uint32_t>(tree_.nodes.size());
        child_.Set(key, child);
        tree_.nodes.push_back({frame, {}, {}});
        tree_.nodes[at].children.push_back(child);
      }
      tree_.nodes[child].total += value;
      at = child;
    }
  }

  bool Before(const CallNode& a, const CallNode& b) const {
    const double x = SortValue(a.total, options_.sort), y = SortValue(b.total, options_.sort);
    return x != y ? x > y : p_.str(p_.frames[a.frame].method) < p_.str(p_.frames[b.frame].method);
  }

  const Profile& p_;
  const CallTreeOptions& options_;
  CallTree tree_;
  FlatMap child_;
};

}  // namespace

CallTree BuildCallTree(const Profile& profile, const CallTreeOptions& options) {
  return Builder(profile, options).Build();
}

}  // namespace clrscope::profile
