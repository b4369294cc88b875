// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/universal_fold.h"

#include <algorithm>
#include <limits>

#include "clr/universal_events.h"
#include "profile/stacks/made_up_frames.h"
#include "profile/tables/thread_state.h"

namespace clrscope::analysis {

using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::Measure;
using profile::SeriesKey;
using profile::Source;
using profile::ThreadState;

namespace {

// A damaged clock must not overflow; a thread that waits longer than a year waits a year.
constexpr double kLongestNs = 3.2e16;

uint64_t SaneNs(double ns) { return static_cast<uint64_t>(std::clamp(ns, 0.0, kLongestNs)); }

// Memory without a file, in which the runtime writes code.
bool IsGenerated(std::string_view path) {
  return path.empty() || path.front() != '/' || path.starts_with("//anon") ||
         path.starts_with("/memfd:") || path.starts_with("/dev/zero");
}

}  // namespace

void UniversalFold::Add(Source source, const LabelSet& set, int64_t time_ns, uint32_t node,
                        const profile::Sums& sums) {
  const int64_t slice = std::max<int64_t>(0, time_ns) / slices_.home().slice_ns;
  if (slice != slice_) Flush();
  slice_ = slice;
  const uint16_t label = tables().labels.Find(set);
  if (label == LabelTable::kOther) tables().losses.Add(Loss::kLabelsCapped);
  tables().source_samples[static_cast<size_t>(source)] += sums.samples;
  slices_.Add(time_ns, SeriesKey::Make(node, 0, profile::HeapKind::kUnknown, source, 0), label, 0,
              0, sums);
}

void UniversalFold::OnCpu(const clr::RawEvent& event, int64_t time_ns, uint32_t node) {
  clr::UniversalSample sample;
  if (!clr::Decode(event, sample)) return tables().losses.Add(Loss::kUnsupportedVersion);
  tables().info.Record(Measure::kCpu);
  const uint64_t ns =
      SaneNs(static_cast<double>(sample.value) * static_cast<double>(clock_.period_ns));
  const LabelSet set = LabelSet().With(LabelKey::kThread, event.thread);
  Add(Source::kUniversalCpu, set, time_ns, node, {1, ns, 1});
  // Without switches nobody tells the rest of the wall time.
  if (switches_)
    Add(Source::kUniversalSwitch,
        set.With(LabelKey::kState, static_cast<uint64_t>(ThreadState::kRunning)), time_ns, node,
        {1, ns, 1});
}

void UniversalFold::OnSwitch(const clr::RawEvent& event, int64_t time_ns, uint32_t node) {
  clr::UniversalSample away;
  if (!clr::Decode(event, away)) return tables().losses.Add(Loss::kUnsupportedVersion);
  switches_ = true;
  tables().info.Record(Measure::kWall);
  const uint64_t ns = SaneNs(static_cast<double>(away.value) * 1e9 /
                             static_cast<double>(std::max<int64_t>(1, clock_.ticks_per_second)));
  Add(Source::kUniversalSwitch,
      LabelSet()
          .With(LabelKey::kThread, event.thread)
          .With(LabelKey::kState, static_cast<uint64_t>(ThreadState::kBlockedUnknown)),
      time_ns, node, {1, ns, 0});
}

void UniversalFold::OnProcess(const clr::RawEvent& event, StringPool& strings) {
  clr::UniversalProcess process;
  if (!clr::Decode(event, process)) return tables().losses.Add(Loss::kUnsupportedVersion);
  if (tables().info.name.value == 0) tables().info.name = strings.Intern(process.name);
}

void UniversalFold::OnMapping(const clr::RawEvent& event, int64_t time_ns, StringPool& strings) {
  clr::UniversalMapping mapping;
  if (!clr::Decode(event, mapping)) return tables().losses.Add(Loss::kUnsupportedVersion);
  if (tables().images.images().size() >= profile::ImageMap::kMost)
    return tables().losses.Add(Loss::kImagesCapped);
  profile::Image image;
  image.start = mapping.start;
  image.end = mapping.end;
  image.offset = mapping.offset;
  if (!IsGenerated(mapping.path)) image.path = strings.Intern(mapping.path);
  if (time_ns > 0) image.from_ns = time_ns;  // else it was there before
  tables().images.Restore(image);
}

uint64_t UniversalFold::ModuleId(StringId path) {
  constexpr uint64_t kMadeUp = uint64_t{1} << 63;  // no module of a runtime has such an id
  const uint64_t id = kMadeUp | path.value;
  if (tables().code.FindModule(id) == nullptr) {
    profile::ModuleImage module;
    module.id = id;
    module.path = path;
    tables().code.AddModule(module);
  }
  return id;
}

void UniversalFold::OnSymbol(const clr::RawEvent& event, StringPool& strings) {
  clr::UniversalSymbol symbol;
  if (!clr::Decode(event, symbol)) return tables().losses.Add(Loss::kUnsupportedVersion);
  // The kernel's functions are told as one.
  if (profile::IsOfKernel(symbol.start)) return;
  profile::MethodCode code;
  code.start = symbol.start;
  code.size = static_cast<uint32_t>(
      std::min<uint64_t>(symbol.end - symbol.start, std::numeric_limits<uint32_t>::max()));
  clr::JittedSymbol method;
  if (clr::ParseJittedSymbol(symbol.name, method)) {
    code.module_id = ModuleId(strings.Intern(method.module));
    code.owner = strings.Intern(method.owner);
    code.name = strings.Intern(method.name);
    scratch_.assign(method.result).append("  ").append(method.parameters);
    code.signature = strings.Intern(scratch_);
  } else {
    code.name = strings.Intern(symbol.name);
  }
  tables().code.Add(code);
}

}  // namespace clrscope::analysis
