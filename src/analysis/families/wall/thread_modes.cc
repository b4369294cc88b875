// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/wall/thread_modes.h"

#include <array>
#include <charconv>

namespace clrscope::analysis {
namespace {

struct Version {
  int major = 0, patch = 0;
};

// ".NET 10.0.12", with whatever follows.
Version VersionOf(std::string_view runtime) {
  constexpr std::string_view kPrefix = ".NET ";
  if (!runtime.starts_with(kPrefix)) return {};
  std::array<int, 3> parts{};
  const char* at = runtime.data() + kPrefix.size();
  const char* const end = runtime.data() + runtime.size();
  for (int& part : parts) {
    const auto [stop, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) break;
    at = stop != end && *stop == '.' ? stop + 1 : end;
  }
  return {parts[0], parts[2]};
}

}  // namespace

bool ThreadModesNeverTold(std::string_view runtime) { return VersionOf(runtime).major == 9; }

bool ThreadModesTold(std::string_view runtime, bool methods, uint64_t managed, uint64_t all) {
  constexpr int kRepairedIn = 10, kRepairedPatch = 11, kOnEverySystem = 7;
  constexpr uint64_t kFewest = 1'000;  // of so many samples one is managed
  constexpr uint64_t kHandful = 20;
  const Version v = VersionOf(runtime);
  if (ThreadModesNeverTold(runtime)) return false;
  if (methods && v.major >= kOnEverySystem && (v.major != kRepairedIn || v.patch >= kRepairedPatch))
    return true;
  return managed >= kHandful && managed >= all / kFewest;
}

}  // namespace clrscope::analysis
