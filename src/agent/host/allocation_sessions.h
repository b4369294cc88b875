// SPDX-License-Identifier: Apache-2.0
// The agent's sessions for allocations and collections: one for both, or, where samples may end for
// a while and collections go on, one each. On the agent's thread, but for the first start.
#pragma once

#include <cstdint>
#include <string>

#include "agent/host/session.h"

namespace clrscope::agent {

class AllocationSessions {
 public:
  explicit AllocationSessions(SessionThread& thread) : samples_(thread), collections_(thread) {}

  // From now on these are told. `apart`: by two sessions; `here`: as of Session::Begin. errors:
  // kRefused; they are asked for again
  Status Begin(profile::Source source, bool apart, bool here, int64_t now_ns) {
    source_ = source;
    apart_ = apart;
    if (!apart) return samples_.Begin(AskForAllocations(source), here, now_ns);
    const Status collections = collections_.Begin(AskForCollections(), here, now_ns);
    const Status samples = samples_.Begin(AskForSamples(source), here, now_ns);
    return collections.ok() ? samples : collections;
  }
  void End(int64_t now_ns) {
    samples_.End(now_ns);
    collections_.End(now_ns);
  }
  // Where they are apart: samples for a moment, or none for one. Whether it is so.
  bool Sample(bool on, int64_t now_ns) {
    if (!on) {
      samples_.End(now_ns);
      return true;
    }
    (void)samples_.Begin(AskForSamples(source_), /*here=*/false, now_ns);
    if (!samples_.on()) samples_.End(now_ns);
    return samples_.on();
  }

  // Whether one is to be begun, or begun anew as nothing comes. `heard`: what comes is told by
  // `samples` and `gcs`, so far.
  bool Due(bool heard, uint64_t samples, uint64_t gcs, int64_t now_ns) {
    if (collections_.Due(now_ns)) return true;
    return heard ? samples_.Due(samples, gcs, now_ns) : samples_.Due(now_ns);
  }
  void Renew(int64_t now_ns) {
    if (collections_.Due(now_ns))
      collections_.Renew(now_ns);
    else
      samples_.Renew(now_ns);
  }

  // Collections are told.
  bool on() const { return apart_ ? collections_.on() : samples_.on(); }
  const std::string& trouble() const { return worst().trouble(); }
  int64_t trouble_since_ns() const { return worst().trouble_since_ns(); }
  int64_t missing_ns(int64_t now_ns) const {
    return samples_.missing_ns(now_ns) + collections_.missing_ns(now_ns);
  }
  uint64_t begun_again() const { return samples_.begun_again() + collections_.begun_again(); }

 private:
  const Session& worst() const { return collections_.trouble().empty() ? samples_ : collections_; }

  profile::Source source_ = profile::Source::kSampled;
  bool apart_ = false;
  Session samples_, collections_;
};

}  // namespace clrscope::agent
