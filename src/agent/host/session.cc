// SPDX-License-Identifier: Apache-2.0
#include "agent/host/session.h"

#include <algorithm>
#include <string_view>

#include "agent/host/thread.h"
#include "base/units.h"
#include "clr/event_table.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kFirstTry = 500 * kMillisecond, kLastTry = 30 * kSecond;

EventPipeProviderConfig Runtime(const Ask& ask) {
  EventPipeProviderConfig provider{};
  provider.name = u"Microsoft-Windows-DotNETRuntime";
  provider.keywords = ask.keywords;
  provider.level = ask.level;
  return provider;
}

}  // namespace

// AllocationTick is verbose; AllocationSampled silences it in the whole process: never both.
Ask AskForAllocations(profile::Source source) {
  Ask ask{clr::keyword::kGc, 4};
  if (source == profile::Source::kSampled) ask.keywords |= clr::keyword::kAllocationSampling;
  if (source == profile::Source::kTick) ask.level = 5;
  return ask;
}

Ask AskForSamples(profile::Source source) {
  return source == profile::Source::kSampled ? Ask{clr::keyword::kAllocationSampling, 4}
                                             : AskForAllocations(source);
}

Ask AskForCollections() { return {clr::keyword::kGc, 4}; }

// A session that ends still counts when the runtime works out what is asked of it: its events go on
// being made, stacks and all, and are thrown away, until another session begins or ends
// (dotnet/runtime src/native/eventpipe/ep-config.c, config_compute_keyword_and_level).
void RemindProviders(ICorProfilerInfo* info) {
  constexpr uint64_t kRareKeyword = 0x800;  // AppDomain resource monitoring
  EventPipeProviderConfig provider = Runtime({kRareKeyword, 4});
  (void)OnThrowawayThread([&] {
    EventPipeSession id = 0;
    if (Succeeded(info->EventPipeStartSession(1, &provider, 0, &id)) && id != 0)
      (void)info->EventPipeStopSession(id);
  });
}

std::string HexOfResult(HResult result) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4)
    out += kDigits[static_cast<uint32_t>(result) >> shift & 15];
  return out;
}

void Session::Try(bool here, int64_t now_ns) {
  EventPipeProviderConfig provider = Runtime(ask_);
  HResult hr = kFail;
  bool ran = true;
  const auto start = [&] { hr = info_->EventPipeStartSession(1, &provider, 0, &id_); };
  if (here) {
    start();
  } else {
    ran = OnThrowawayThread(start);
  }
  if (ran && Succeeded(hr) && id_ != 0) {
    if (!trouble_.empty()) missing_ns_ += now_ns - missing_since_ns_;
    trouble_.clear();
    wait_ns_ = 0;
    return;
  }
  id_ = 0;
  if (trouble_.empty()) missing_since_ns_ = now_ns;
  trouble_ = ran ? "the runtime gives no events (EventPipeStartSession: " + HexOfResult(hr) + ")"
                 : "no thread can be started to ask the runtime for events";
  wait_ns_ = std::clamp(wait_ns_ * 2, kFirstTry, kLastTry);
  next_try_ns_ = now_ns + wait_ns_;
}

Status Session::Begin(const Ask& ask, bool here, int64_t now_ns) {
  ask_ = ask;
  wanted_ = true;
  if (id_ == 0) Try(here, now_ns);
  if (id_ != 0) return OkStatus();
  return Error{ErrorCode::kRefused, trouble_};
}

void Session::Stop() {
  if (id_ != 0 && !OnThrowawayThread([&] { (void)info_->EventPipeStopSession(id_); }))
    (void)info_->EventPipeStopSession(id_);  // better here than never
  id_ = 0;
}

void Session::End(int64_t now_ns) {
  wanted_ = false;
  if (!trouble_.empty()) missing_ns_ += now_ns - missing_since_ns_;
  trouble_.clear();
  if (!on()) return;
  Stop();
  RemindProviders(info_);
}

void Session::Renew(int64_t now_ns) {
  Stop();
  Try(/*here=*/false, now_ns);
  begun_again_ += id_ != 0 ? 1 : 0;
}

}  // namespace clrscope::agent
