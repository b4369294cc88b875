// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_causes.h"

#include <algorithm>
#include <unordered_map>

#include "base/saturate.h"
#include "clr/gc_names.h"
#include "profile/views/tables.h"

namespace clrscope::analysis {

using profile::GcRecord;

GcSites::GcSites(const profile::Profile& profile) : frames_(profile::SiteFrames(profile, false)) {}

std::vector<GcSite> GcSites::Of(const GcRecord& gc) const {
  std::vector<GcSite> out;
  for (const profile::GcAllocated& a : gc.top_stacks) {
    const uint32_t frame = frames_[a.node];
    const auto same = std::find_if(out.begin(), out.end(), [&](const GcSite& s) {
      return s.type == a.type && s.frame == frame;
    });
    if (same == out.end())
      out.push_back({a.type, frame, a.bytes});
    else
      same->bytes = SaturatedAdd(same->bytes, a.bytes);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const GcSite& a, const GcSite& b) { return a.bytes > b.bytes; });
  if (out.size() > profile::kGcTop) out.resize(profile::kGcTop);
  return out;
}

std::vector<InducingStack> InducingStacks(std::span<const profile::PackedGc> gcs) {
  std::vector<InducingStack> out;
  std::unordered_map<uint32_t, size_t> index;
  for (const profile::GcBrief& gc : gcs) {
    if (!clr::IsInduced(gc.reason)) continue;
    const auto [it, is_new] = index.try_emplace(gc.trigger_node, out.size());
    if (is_new) out.push_back({gc.trigger_node, 0, 0});
    InducingStack& stack = out[it->second];
    ++stack.gcs;
    stack.pause_ns = SaturatedAdd(stack.pause_ns, std::max<int64_t>(gc.pause_ns, 0));
  }
  std::stable_sort(out.begin(), out.end(), [](const InducingStack& a, const InducingStack& b) {
    return a.pause_ns > b.pause_ns;
  });
  return out;
}

Blame BlameTypes(std::span<const profile::PackedGc> gcs) {
  Blame blame;
  std::unordered_map<uint32_t, size_t> index;
  for (const profile::PackedGc& gc : gcs) {
    if (!clr::IsCausedByAllocation(gc.reason) || gc.pause_ns < 0 || gc.sampled_bytes <= 0) continue;
    const auto pause = static_cast<double>(gc.pause_ns);
    blame.pause_ns += pause;
    gc.ForEachTopType([&](const profile::GcAllocated& a) {
      const auto [it, is_new] = index.try_emplace(a.type, blame.types.size());
      if (is_new) blame.types.push_back({a.type, 0, 0});
      TypeBlame& type = blame.types[it->second];
      const double part =
          pause * static_cast<double>(a.bytes) / static_cast<double>(gc.sampled_bytes);
      type.bytes = SaturatedAdd(type.bytes, a.bytes);
      type.pause_ns += part;
      blame.named_ns += part;
    });
  }
  std::stable_sort(blame.types.begin(), blame.types.end(),
                   [](const TypeBlame& a, const TypeBlame& b) { return a.pause_ns > b.pause_ns; });
  return blame;
}

}  // namespace clrscope::analysis
