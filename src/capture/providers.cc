// SPDX-License-Identifier: Apache-2.0
#include "capture/providers.h"

#include <fmt/format.h>

#include "clr/event_table.h"

namespace clrscope::capture {
namespace {

namespace keyword = clr::keyword;

constexpr uint32_t kInformational = 4, kVerbose = 5;
constexpr uint64_t kCode = keyword::kLoader | keyword::kJit | keyword::kNGen;

// A session needs a provider; this one's keyword is rare (AppDomain resource monitoring).
constexpr uint64_t kRareKeyword = 0x800;

// Level 5 brings much that is not needed. 1 and 203 are probe events: without them the runtime
// stops sending ticks at the next GC (dotnet/runtime src/coreclr/vm/gcenv.ee.cpp).
const std::vector<uint32_t> kTickEvents = {1,   2,   3,   4,   7,   8,   9,   10,  13,
                                           35,  39,  202, 203, 204, 205, 143, 144, 151,
                                           152, 153, 154, 155, 156, 157, 187};

ipc::SessionConfig Runtime(uint64_t keywords, uint32_t level) {
  ipc::SessionConfig config;
  ipc::ProviderConfig provider;
  provider.name = std::string(clr::kRuntimeProvider);
  provider.keywords = keywords;
  provider.level = level;
  config.providers.push_back(provider);
  return config;
}

}  // namespace

Result<profile::Source> ChooseSource(Sampling sampling, std::string_view clr_version) {
  const bool has_sampled =
      ipc::SamplingEventOf(clr_version) == ipc::SamplingEvent::kAllocationSampled;
  switch (sampling) {
    case Sampling::kTick:
      return profile::Source::kTick;
    case Sampling::kPoisson:
      if (!has_sampled)
        return Error{ErrorCode::kRefused,
                     fmt::format("--sampling poisson needs AllocationSampled, which .NET 10 has "
                                 "and this runtime ({}) lacks: "
                                 "use --sampling tick or auto",
                                 clr_version.empty() ? "of an unknown version" : clr_version)};
      return profile::Source::kSampled;
    case Sampling::kAuto:
      break;
  }
  return has_sampled ? profile::Source::kSampled : profile::Source::kTick;
}

ipc::SessionConfig AllocationSession(profile::Source source, uint32_t buffer_mb, bool rundown) {
  ipc::SessionConfig config;
  if (source == profile::Source::kSampled) {
    config = Runtime(keyword::kGc | kCode | keyword::kAllocationSampling, kInformational);
  } else {
    config = Runtime(keyword::kGc | kCode, kVerbose);
    config.providers[0].filter = ipc::EventFilter{true, kTickEvents};
  }
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = rundown ? ipc::kDefaultRundown : 0;
  return config;
}

ipc::SessionConfig TypeCountSession(profile::CountMode mode, uint32_t buffer_mb) {
  uint64_t keywords = 0;
  if (mode != profile::CountMode::kHigh) keywords |= keyword::kSampledObjectLow;
  if (mode != profile::CountMode::kLow) keywords |= keyword::kSampledObjectHigh;
  ipc::SessionConfig config = Runtime(keywords, kInformational);
  config.buffer_mb = buffer_mb;
  config.rundown_keyword = 0;
  return config;
}

ipc::SessionConfig TypeNameSession(bool rundown) {
  ipc::SessionConfig config =
      Runtime(keyword::kGc | kCode | keyword::kType | keyword::kHeapAndTypeNames, kVerbose);
  std::vector<uint32_t> events = kTickEvents;
  events.push_back(15);  // BulkType
  config.providers[0].filter = ipc::EventFilter{true, events};
  config.rundown_keyword = rundown ? ipc::kDefaultRundown : 0;
  return config;
}

ipc::SessionConfig SettingsSession() {
  ipc::SessionConfig config = Runtime(kRareKeyword, kInformational);
  config.buffer_mb = 16;
  config.rundown_keyword = keyword::kGc;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig EntryPointSession() {
  ipc::SessionConfig config = Runtime(keyword::kCompilationDiagnostic, kVerbose);
  config.providers[0].filter = ipc::EventFilter{true, {159}};
  config.buffer_mb = 32;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig ReminderSession() {
  ipc::SessionConfig config = Runtime(kRareKeyword, kInformational);
  config.buffer_mb = 1;
  config.rundown_keyword = 0;
  config.stackwalk = false;
  return config;
}

ipc::SessionConfig RundownSession() {
  ipc::SessionConfig config = ReminderSession();
  config.buffer_mb = 64;
  config.rundown_keyword = kCode | keyword::kGc;
  return config;
}

}  // namespace clrscope::capture
