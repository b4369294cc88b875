// SPDX-License-Identifier: Apache-2.0
// One line of text per distinct stack and type.
#include "export/folded.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/round_to_total.h"
#include "export/stack_walk.h"

namespace clrscope::exporter {
namespace {

double WeightOf(const profile::Estimate& e, FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kAmount:
      return e.amount;
    case FoldedWeight::kCount:
      return e.count;
    case FoldedWeight::kSamples:
      break;
  }
  return static_cast<double>(e.samples);
}

void AppendName(std::string& line, std::string_view name) {
  if (!line.empty()) line += ';';
  for (const char c : name) {
    line += c == ';' ? ',' : c == '\n' || c == '\r' ? ' ' : c;
  }
}

}  // namespace

Status WriteFolded(const profile::Profile& profile, const FoldedOptions& options, ByteSink& sink) {
  const profile::MeasureSpec& spec = profile.shown().spec();
  const FoldedWeight weight =
      options.weight.value_or(spec.amount_first ? FoldedWeight::kAmount : FoldedWeight::kCount);
  if (weight == FoldedWeight::kCount && !profile.shown().counts_known) {
    return Error{ErrorCode::kUsage,
                 "objects are unknown in this recording: its runtime does not tell object sizes; "
                 "fold bytes or samples instead"};
  }
  const Stacks stacks =
      CollectStacks(profile, {options.keep_machinery, /*by_kind=*/false, Identity::kName});
  std::vector<double> values;
  for (const StackSample& s : stacks.samples) values.push_back(WeightOf(s.value, weight));
  const std::vector<int64_t> weights = RoundToTotal(values);

  std::vector<uint32_t> path;
  std::string line;
  for (size_t i = 0; i < stacks.samples.size(); ++i) {
    if (weights[i] == 0) continue;
    const StackSample& s = stacks.samples[i];
    line.clear();
    if (profile.processes.size() > 1) AppendName(line, ProcessName(profile, s.process));
    PathTo(stacks, s.node, path);
    for (const uint32_t frame : path) AppendName(line, FrameName(profile, frame));
    if (spec.typed) {
      AppendName(line, TypeName(profile, s.type));
    } else if (path.empty()) {
      AppendName(line, kPlumbing);
    }
    line += ' ';
    line += std::to_string(weights[i]);
    line += '\n';
    RETURN_IF_ERROR(sink.Write(line));
  }
  return OkStatus();
}

}  // namespace clrscope::exporter
