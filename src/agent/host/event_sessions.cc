// SPDX-License-Identifier: Apache-2.0
#include "agent/host/event_sessions.h"

#include "clr/event_table.h"

namespace clrscope::agent {
namespace {

constexpr Ask kThrows{clr::keyword::kException, 2};

Status Bring(Session& session, bool wanted, const Ask& ask, bool here, int64_t now_ns) {
  const bool same = session.ask() == ask;
  if (session.wanted() && (!wanted || !same)) session.End(now_ns);
  return wanted && !session.wanted() ? session.Begin(ask, here, now_ns) : OkStatus();
}

}  // namespace

Status EventSessions::Want(const EventMeasures& m, bool here, int64_t now_ns) {
  namespace keyword = clr::keyword;
  if (m != measures_) silence_ = {};
  measures_ = m;
  const Ask waits{keyword::kContention | (m.waits ? keyword::kWaitHandle : 0), m.waits ? 5u : 4u};
  const Status thrown = Bring(exceptions_, m.exceptions, kThrows, here, now_ns);
  const Status waited = Bring(waits_, m.locks || m.waits, waits, here, now_ns);
  return thrown.ok() ? waited : thrown;
}

bool EventSessions::TellThrows(bool on, int64_t now_ns) {
  if (!on) {
    exceptions_.End(now_ns);
    return true;
  }
  (void)exceptions_.Begin(kThrows, /*here=*/false, now_ns);
  if (!exceptions_.on()) exceptions_.End(now_ns);
  return exceptions_.on();
}

bool EventSessions::Due(uint64_t events, int64_t now_ns) {
  if (exceptions_.Due(now_ns) || waits_.Due(now_ns)) return true;
  return on() && silence_.TimeToAsk(events, /*gcs=*/0, now_ns);
}

void EventSessions::Renew(int64_t now_ns) {
  const bool missing = exceptions_.Due(now_ns) || waits_.Due(now_ns);
  for (Session* s : {&exceptions_, &waits_})
    if (s->Due(now_ns)) s->Renew(now_ns);
  if (missing) return;
  thread_.Remind();
  ++reminded_;
}

}  // namespace clrscope::agent
