// SPDX-License-Identifier: Apache-2.0
#include "profile/views/root_by_request.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/flat_map.h"

namespace clrscope::profile {
namespace {

class RequestRoots {
 public:
  explicit RequestRoots(Profile* profile) : p_(*profile) {}

  // `node`, below the node of the route that `labels` name.
  uint32_t Moved(uint32_t node, const LabelSet& labels) {
    const uint32_t root = RootOf(p_.RequestName(labels));
    path_.clear();
    uint32_t at = FlatMap::kNone;
    // Up to what was moved before.
    for (; node != 0; node = p_.nodes[node].parent) {
      at = moved_.Find(PairKey(root, node));
      if (at != FlatMap::kNone) break;
      path_.push_back(node);
    }
    if (node == 0) at = root;
    for (size_t i = path_.size(); i-- > 0;) {
      const auto child = static_cast<uint32_t>(p_.nodes.size());
      p_.nodes.push_back({at, p_.nodes[path_[i]].frame});
      moved_.Set(PairKey(root, path_[i]), child);
      at = child;
    }
    return at;
  }

 private:
  uint32_t RootOf(std::string_view route) {
    const StringId name = p_.strings.Intern(route);
    uint32_t root = roots_.Find(name.value);
    if (root != FlatMap::kNone) return root;
    Frame frame;
    frame.method = frame.raw = name;
    frame.flags = kPseudo;
    root = static_cast<uint32_t>(p_.nodes.size());
    p_.nodes.push_back({0, static_cast<uint32_t>(p_.frames.size())});
    p_.frames.push_back(frame);
    roots_.Set(name.value, root);
    return root;
  }

  Profile& p_;
  FlatMap roots_;  // by the route's name
  FlatMap moved_;  // by root and node of before
  std::vector<uint32_t> path_;
};

}  // namespace

void RootByRequest(Profile& profile) {
  RequestRoots roots(&profile);
  for (Figure& f : profile.figures) {
    if (!f.by_request() || !HasStacks(f.measure)) continue;
    for (Cell& c : f.cells) c.node = roots.Moved(c.node, profile.labels[c.labels]);
  }
}

}  // namespace clrscope::profile
