// SPDX-License-Identifier: Apache-2.0
// The stacks and samples of a profile as a file shows them: machinery left out, equals merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pprof/words.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// Which frames (and types) a format cannot tell apart, and so become one.
enum class Identity : uint8_t {
  kName,           // the C# name alone: formats of plain text
  kModuleAndName,  // the module too
  kExact,          // overloads and equally named types stay apart
};

struct StackOptions {
  bool keep_machinery = false;  // keep frames flagged kMachinery
  bool by_kind = false;         // keep the heap kinds apart; otherwise every kind is kUnknown
  Identity identity = Identity::kExact;
  // `lives` too; objects that no GC looked at yet are left out.
  bool lives = false;
  const profile::Figure* figure = nullptr;  // whose cells; null: the one that is shown
  bool by_labels = false;                   // of events: keep threads and their like apart
  bool by_request = false;                  // keep routes apart
  bool lines = false;  // keep frames at different lines apart, where lines are known
};

// Indexes as in profile::Cell, but `node` is one of Stacks::nodes.
struct StackSample {
  uint32_t node = 0;
  uint32_t type = 0;
  uint32_t process = 0;
  profile::HeapKind kind = profile::HeapKind::kUnknown;
  profile::Estimate value;
  // Of live objects only.
  uint8_t age_bucket = 0;
  int8_t generation = -1;
  profile::LabelSet labels;  // of those that are kept apart
};

// A tree as in profile::Profile: node 0 is the root, a parent comes before its children.
// Samples are distinct and sorted by process, then depth first with the heaviest subtree first (by
// the measure's first quantity), then by type name, kind and labels: the same profile always gives
// the same order.
struct Stacks {
  std::vector<profile::Node> nodes;
  std::vector<StackSample> samples;
  std::vector<StackSample> lives;  // in the same order, then by generation and age
};

// What a file of several measures holds, in its order: allocations where they were recorded, then
// events that have stacks. Of live objects, and where `only_shown` one measure was asked for, that
// one alone.
std::vector<const profile::Figure*> FiguresOf(const profile::Profile& profile, bool only_shown);

Stacks CollectStacks(const profile::Profile& profile, const StackOptions& options);

// Replaces `path` by the frame indexes from the root to `node`.
void PathTo(const Stacks& stacks, uint32_t node, std::vector<uint32_t>& path);

// The same as nodes of `stacks`.
void PathTo(const Stacks& stacks, uint32_t node, std::vector<const profile::Node*>& path);

using pprof::kPlumbing;

// Names to show; never empty.
std::string_view FrameName(const profile::Profile& profile, uint32_t frame);
std::string_view TypeName(const profile::Profile& profile, uint32_t type);
// "orders (1234)"
std::string ProcessName(const profile::Profile& profile, uint32_t process);

}  // namespace clrscope::exporter
