// SPDX-License-Identifier: Apache-2.0
// Owners of libevent's objects.
#pragma once

#include <event2/bufferevent.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>

#include <chrono>
#include <memory>

namespace clrscope::fetch {

struct FreeEvents {
  void operator()(event_base* base) const { event_base_free(base); }
  void operator()(evdns_base* names) const { evdns_base_free(names, 0); }
  void operator()(evhttp_connection* connection) const { evhttp_connection_free(connection); }
};
using EventBase = std::unique_ptr<event_base, FreeEvents>;
using NameServers = std::unique_ptr<evdns_base, FreeEvents>;
using Connection = std::unique_ptr<evhttp_connection, FreeEvents>;

inline timeval ToTimeval(std::chrono::milliseconds time) {
  return {static_cast<time_t>(time.count() / 1000),
          static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

}  // namespace clrscope::fetch
