// SPDX-License-Identifier: Apache-2.0
// Words and conclusions about a .NET process.
#include "ipc/processes/dotnet_process.h"

#include <charconv>
#include <string_view>

namespace clrscope::ipc {

std::string Describe(GcFlavour gc) {
  if (gc.server == Tristate::kUnknown) return "unknown";
  std::string text = gc.server == Tristate::kYes ? "server" : "workstation";
  if (gc.concurrent == Tristate::kYes) text += ", concurrent";
  if (gc.concurrent == Tristate::kNo) text += ", non-concurrent";
  return text;
}

int MajorVersion(std::string_view clr_version) {
  int major = 0;
  const char* end = clr_version.data() + clr_version.size();
  const auto [stop, error] = std::from_chars(clr_version.data(), end, major);
  return error == std::errc{} && stop != end && *stop == '.' ? major : 0;
}

SamplingEvent SamplingEventOf(std::string_view clr_version) {
  const int major = MajorVersion(clr_version);
  if (major == 0) return SamplingEvent::kUnknown;
  return major >= 10 ? SamplingEvent::kAllocationSampled : SamplingEvent::kAllocationTick;
}

}  // namespace clrscope::ipc
