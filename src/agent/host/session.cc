// SPDX-License-Identifier: Apache-2.0
#include "agent/host/session.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "clr/event_table.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kFirstTry = 500 * kMillisecond, kLastTry = 30 * kSecond;

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

std::string HexOfResult(HResult result) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4)
    out += kDigits[static_cast<uint32_t>(result) >> shift & 15];
  return out;
}

void Session::Try(bool here, int64_t now_ns) {
  const auto begun = here ? std::optional(thread_.BeginHere(ask_)) : thread_.Begin(ask_);
  if (begun.has_value() && begun->id != 0) {
    id_ = begun->id;
    if (!trouble_.empty()) missing_ns_ += now_ns - missing_since_ns_;
    trouble_.clear();
    wait_ns_ = 0;
    return;
  }
  id_ = 0;
  if (trouble_.empty()) missing_since_ns_ = now_ns;
  trouble_ = begun.has_value() ? "the runtime gives no events (EventPipeStartSession: " +
                                     HexOfResult(begun->result) + ")"
                               : "the program ends, or no thread can be started to ask the runtime "
                                 "for events";
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
  if (id_ != 0) thread_.Stop(id_);
  id_ = 0;
}

void Session::End(int64_t now_ns) {
  wanted_ = false;
  if (!trouble_.empty()) missing_ns_ += now_ns - missing_since_ns_;
  trouble_.clear();
  if (!on()) return;
  Stop();
  thread_.Remind();
}

void Session::Renew(int64_t now_ns) {
  Stop();
  Try(/*here=*/false, now_ns);
  begun_again_ += id_ != 0 ? 1 : 0;
}

}  // namespace clrscope::agent
