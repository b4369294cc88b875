// SPDX-License-Identifier: Apache-2.0
// The agent's sessions for exceptions and for waits, one each: their levels differ, and at the
// level of waits the exceptions' keyword brings five more events for every exception. On the
// agent's thread, but for the first start.
#pragma once

#include <cstdint>
#include <string>

#include "agent/host/session.h"
#include "agent/host/silence.h"

namespace clrscope::agent {

struct EventMeasures {
  bool exceptions = false, locks = false, waits = false;  // waits bring locks
  bool any() const { return exceptions || locks || waits; }
  bool operator==(const EventMeasures&) const = default;
};

class EventSessions {
 public:
  explicit EventSessions(SessionThread& thread)
      : thread_(thread), exceptions_(thread), waits_(thread) {}

  // From now on these are told; what is told already goes on. `here`: as of Session::Begin.
  // errors: kRefused; they are asked for again
  Status Want(const EventMeasures& measures, bool here, int64_t now_ns);
  void End(int64_t now_ns) {
    exceptions_.End(now_ns);
    waits_.End(now_ns);
  }
  // Exceptions for a moment, or not for one; they stay among the measures. Whether it is so.
  bool TellThrows(bool on, int64_t now_ns);
  // Whether a session is to be begun, or the runtime to be reminded as nothing comes. `events`: so
  // far.
  bool Due(uint64_t events, int64_t now_ns);
  void Renew(int64_t now_ns);

  // What was wanted last, also when it has ended.
  const EventMeasures& measures() const { return measures_; }
  bool on() const { return exceptions_.on() || waits_.on(); }
  bool troubled() const { return !trouble().empty(); }
  const std::string& trouble() const { return worst().trouble(); }
  int64_t trouble_since_ns() const { return worst().trouble_since_ns(); }
  int64_t missing_ns(int64_t now_ns) const {
    return exceptions_.missing_ns(now_ns) + waits_.missing_ns(now_ns);
  }
  uint64_t reminded() const { return reminded_; }

 private:
  const Session& worst() const { return exceptions_.trouble().empty() ? waits_ : exceptions_; }

  SessionThread& thread_;
  EventMeasures measures_;
  Session exceptions_, waits_;
  Silence silence_;
  uint64_t reminded_ = 0;
};

}  // namespace clrscope::agent
