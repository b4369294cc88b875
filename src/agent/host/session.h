// SPDX-License-Identifier: Apache-2.0
// An EventPipe session of the agent's in its own process: begun, begun again when it could not be,
// or when nothing comes, and ended. Each of these may wait for the runtime. On the agent's thread;
// times are the agent's, ns.
#pragma once

#include <cstdint>
#include <string>

#include "agent/host/session_thread.h"
#include "agent/host/silence.h"
#include "base/result.h"
#include "profile/estimate/estimate.h"

namespace clrscope::agent {

Ask AskForAllocations(profile::Source source);
// The same in two sessions, so that samples can end while collections go on.
Ask AskForSamples(profile::Source source);
Ask AskForCollections();

class Session {
 public:
  explicit Session(SessionThread& thread) : thread_(thread) {}

  // From now on there is to be one. `here`: on the calling thread, which is one of the runtime's.
  // Where it cannot be had it is due again later. errors: kRefused, as trouble() has it
  Status Begin(const Ask& ask, bool here, int64_t now_ns);
  void End(int64_t now_ns);
  // Whether it is to be begun.
  bool Due(int64_t now_ns) const { return wanted_ && id_ == 0 && now_ns >= next_try_ns_; }
  // … or begun anew as nothing comes. `samples`, `gcs`: so far.
  bool Due(uint64_t samples, uint64_t gcs, int64_t now_ns) {
    return Due(now_ns) || (on() && silence_.TimeToAsk(samples, gcs, now_ns));
  }
  void Renew(int64_t now_ns);

  bool on() const { return id_ != 0; }
  bool wanted() const { return wanted_; }
  // Why there is none, though there is to be one; since when.
  const std::string& trouble() const { return trouble_; }
  const Ask& ask() const { return ask_; }
  int64_t trouble_since_ns() const { return missing_since_ns_; }
  // Time without one that was to be there, up to `now_ns`.
  int64_t missing_ns(int64_t now_ns) const {
    return missing_ns_ + (trouble_.empty() ? 0 : now_ns - missing_since_ns_);
  }
  uint64_t begun_again() const { return begun_again_; }

 private:
  void Try(bool here, int64_t now_ns);
  void Stop();

  SessionThread& thread_;
  Ask ask_;
  bool wanted_ = false;
  EventPipeSession id_ = 0;
  Silence silence_;
  std::string trouble_;
  int64_t missing_since_ns_ = 0, missing_ns_ = 0;
  int64_t next_try_ns_ = 0, wait_ns_ = 0;
  uint64_t begun_again_ = 0;
};

// "0x80131363"
std::string HexOfResult(HResult result);

}  // namespace clrscope::agent
