// SPDX-License-Identifier: Apache-2.0
// Folds the profile's tree into the tree that is shown, and its cells into samples.
#include "export/stack_walk.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "profile/notes.h"
#include "profile/shown_names.h"

namespace clrscope::exporter {
namespace {

using profile::Frame;
using profile::LabelKey;
using profile::Node;
using profile::Profile;
using profile::Type;

// For each item the index of the first one with an equal key.
template <class Items, class KeyOf>
std::vector<uint32_t> FirstOfEach(const Items& items, KeyOf key_of) {
  std::map<decltype(key_of(items.front())), uint32_t> first;
  std::vector<uint32_t> out(items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    out[i] = first.try_emplace(key_of(items[i]), i).first->second;
  }
  return out;
}

std::vector<uint32_t> FrameClasses(const Profile& p, Identity identity) {
  return FirstOfEach(p.frames, [&](const Frame& f) {
    // A frame without a C# name shows its raw one (see FrameName).
    const uint32_t name = f.method.value != 0 ? f.method.value : f.raw.value;
    const bool exact = identity == Identity::kExact;
    return std::tuple(name, identity == Identity::kName ? 0 : f.module.value,
                      exact ? f.raw.value : 0, exact ? f.token : 0);
  });
}

std::vector<uint32_t> TypeClasses(const Profile& p, Identity identity) {
  return FirstOfEach(p.types, [&](const Type& t) {
    const uint32_t name = t.name.value != 0 ? t.name.value : t.raw.value;
    return std::tuple(name, identity == Identity::kExact ? t.raw.value : 0);
  });
}

// Fills `nodes`; returns for each node of the profile the node that stands for it.
std::vector<uint32_t> FoldTree(const Profile& p, const StackOptions& options,
                               std::vector<Node>& nodes) {
  const std::vector<uint32_t> classes = FrameClasses(p, options.identity);
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> children;  // by parent and frame, line
  std::vector<uint32_t> shown(p.nodes.size(), 0);
  nodes.assign(1, Node{});
  for (size_t i = 1; i < p.nodes.size(); ++i) {
    const uint32_t parent = shown[p.nodes[i].parent];
    const uint32_t frame = p.nodes[i].frame;
    if (!options.keep_machinery && (p.frames[frame].flags & profile::kMachinery) != 0) {
      shown[i] = parent;
      continue;
    }
    const uint64_t key = uint64_t{parent} << 32 | classes[frame];
    const uint32_t line = options.lines ? p.nodes[i].line : 0;
    const auto [it, added] = children.try_emplace({key, line}, static_cast<uint32_t>(nodes.size()));
    if (added) nodes.push_back(Node{parent, classes[frame], line});
    shown[i] = it->second;
  }
  return shown;
}

// Position of each node in a depth-first walk that visits heavy subtrees first.
std::vector<uint32_t> HeavyFirst(const Stacks& stacks, bool by_amount) {
  const std::vector<Node>& nodes = stacks.nodes;
  std::vector<double> weight(nodes.size(), 0);
  std::vector<uint32_t> size(nodes.size(), 1);
  for (const StackSample& s : stacks.samples)
    weight[s.node] += by_amount ? s.value.amount : s.value.count;
  for (size_t i = nodes.size() - 1; i > 0; --i) {
    weight[nodes[i].parent] += weight[i];
    size[nodes[i].parent] += size[i];
  }
  std::vector<uint32_t> order(nodes.size() - 1);
  std::iota(order.begin(), order.end(), 1u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (nodes[a].parent != nodes[b].parent) return nodes[a].parent < nodes[b].parent;
    return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
  });
  std::vector<uint32_t> position(nodes.size(), 0);
  std::vector<uint32_t> next(nodes.size(), 1);
  for (const uint32_t node : order) {  // by parent: a parent has its position before its children
    uint32_t& at = next[nodes[node].parent];
    position[node] = at;
    next[node] = at + 1;
    at += size[node];
  }
  return position;
}

// Messages stay where they were asked for.
profile::LabelSet ShownLabels(const profile::LabelSet& labels, const StackOptions& options) {
  profile::LabelSet out;
  if (options.by_labels)
    for (const LabelKey key : {LabelKey::kThread, LabelKey::kOwner, LabelKey::kUnfinished,
                               LabelKey::kHolding, LabelKey::kState})
      out = out.With(key, labels[key]);
  if (options.by_request) out = out.With(LabelKey::kRequest, labels[LabelKey::kRequest]);
  return out;
}

}  // namespace

std::vector<const profile::Figure*> FiguresOf(const Profile& profile, bool only_shown) {
  if (only_shown || profile.measure() == profile::Measure::kLive) return {&profile.shown()};
  std::vector<const profile::Figure*> out;
  // What the agent tells goes with allocations, in columns and views of its own.
  for (const profile::Figure& f : profile.figures)
    if (f.measure == profile::Measure::kAllocations || (f.events() && HasStacks(f.measure)))
      out.push_back(&f);
  const auto asked = [](const profile::Process& p) {
    return p.measures == 0 || p.Recorded(profile::Measure::kAllocations);
  };
  if (out.size() > 1 && profile.figures[0].cells.empty() &&
      std::none_of(profile.processes.begin(), profile.processes.end(), asked))
    out.erase(out.begin());
  return out;
}

Stacks CollectStacks(const Profile& profile, const StackOptions& options) {
  Stacks stacks;
  const std::vector<uint32_t> shown = FoldTree(profile, options, stacks.nodes);
  const std::vector<uint32_t> types = TypeClasses(profile, options.identity);
  const profile::Figure& figure = options.figure != nullptr ? *options.figure : profile.shown();
  stacks.samples.reserve(figure.cells.size());
  for (const profile::Cell& cell : figure.cells) {
    stacks.samples.push_back({shown[cell.node], types[cell.type], cell.process,
                              options.by_kind ? cell.kind : profile::HeapKind::kUnknown, cell.value,
                              0, -1, ShownLabels(profile.labels[cell.labels], options)});
  }
  for (const profile::LiveCell& cell : profile.lives()) {
    if (!options.lives || cell.young) continue;
    stacks.lives.push_back({shown[cell.node],
                            types[cell.type],
                            cell.process,
                            options.by_kind ? cell.kind : profile::HeapKind::kUnknown,
                            cell.value,
                            cell.age_bucket,
                            cell.generation,
                            {}});
  }
  const std::vector<uint32_t> position = HeavyFirst(stacks, figure.spec().amount_first);
  const auto merge = [&](std::vector<StackSample>& samples) {
    const auto key = [&](const StackSample& s) {
      return std::tuple(s.process, position[s.node], TypeName(profile, s.type), s.type, s.kind,
                        s.generation, s.age_bucket, s.labels);
    };
    std::stable_sort(samples.begin(), samples.end(),
                     [&](const StackSample& a, const StackSample& b) { return key(a) < key(b); });
    size_t kept = 0;
    for (size_t k = 0; k < samples.size(); ++k) {
      if (kept > 0 && key(samples[kept - 1]) == key(samples[k])) {
        samples[kept - 1].value += samples[k].value;
      } else {
        samples[kept++] = samples[k];
      }
    }
    samples.resize(kept);
  };
  merge(stacks.samples);
  merge(stacks.lives);
  return stacks;
}

void PathTo(const Stacks& stacks, uint32_t node, std::vector<uint32_t>& path) {
  path.clear();
  for (; node != 0; node = stacks.nodes[node].parent) path.push_back(stacks.nodes[node].frame);
  std::reverse(path.begin(), path.end());
}

void PathTo(const Stacks& stacks, uint32_t node, std::vector<const Node*>& path) {
  path.clear();
  for (; node != 0; node = stacks.nodes[node].parent) path.push_back(&stacks.nodes[node]);
  std::reverse(path.begin(), path.end());
}

std::string_view FrameName(const Profile& profile, uint32_t frame) {
  const Frame& f = profile.frames[frame];
  if (f.method.value != 0) return profile.str(f.method);  // mostly
  return profile::ShownMethod("", profile.str(f.raw));
}

std::string_view TypeName(const Profile& profile, uint32_t type) {
  const Type& t = profile.types[type];
  if (t.name.value != 0) return profile.str(t.name);  // samples are sorted by it
  return profile::ShownType("", profile.str(t.raw));
}

std::string ProcessName(const Profile& profile, uint32_t process) {
  const profile::Process& p = profile.processes[process];
  return profile::ProcessTitle(profile.str(p.name), p.pid);
}

}  // namespace clrscope::exporter
