// SPDX-License-Identifier: Apache-2.0
#include "fetch/resolve.h"

#include <arpa/inet.h>
#include <event2/util.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>

#include "fetch/event_loop.h"

namespace clrscope::fetch {
namespace {

struct Answer {
  event_base* base = nullptr;
  bool came = false;
  int error = 0;
  std::vector<std::string> addresses;
};

std::string InDigits(const sockaddr* address) {
  const void* const bytes =
      address->sa_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(address->sa_family, bytes, text, sizeof(text)) == nullptr ? "" : text;
}

void TakeAnswer(int error, evutil_addrinfo* list, void* argument) {
  auto& answer = *static_cast<Answer*>(argument);
  answer.came = true;
  answer.error = error;
  for (const evutil_addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    std::string text = InDigits(at->ai_addr);
    if (!text.empty() &&
        std::find(answer.addresses.begin(), answer.addresses.end(), text) == answer.addresses.end())
      answer.addresses.push_back(std::move(text));
  }
  if (list != nullptr) evutil_freeaddrinfo(list);
  event_base_loopbreak(answer.base);
}

}  // namespace

Result<std::vector<std::string>> Resolve(const std::string& host,
                                         std::chrono::milliseconds patience) {
  in6_addr address;
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
      ::inet_pton(AF_INET6, host.c_str(), &address) == 1)
    return std::vector<std::string>{host};
  const EventBase base(event_base_new());
  const NameServers names(
      base == nullptr ? nullptr : evdns_base_new(base.get(), EVDNS_BASE_DISABLE_WHEN_INACTIVE));
  if (names == nullptr) return Error{ErrorCode::kFailed, "no room to ask name servers"};
  // Each try of a name server waits so long, in seconds.
  evdns_base_set_option(names.get(), "timeout:", "2");
  evdns_base_set_option(names.get(), "attempts:", "2");
  (void)evdns_base_resolv_conf_parse(names.get(), DNS_OPTIONS_ALL, "/etc/resolv.conf");

  Answer answer{base.get(), false, 0, {}};
  evutil_addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  hints.ai_flags = EVUTIL_AI_ADDRCONFIG;
  evdns_getaddrinfo_request* const request =
      evdns_getaddrinfo(names.get(), host.c_str(), nullptr, &hints, &TakeAnswer, &answer);
  if (!answer.came) {
    const timeval wait = ToTimeval(patience);
    event_base_loopexit(base.get(), &wait);
    event_base_dispatch(base.get());
  }
  if (!answer.came) {
    evdns_getaddrinfo_cancel(request);
    event_base_loop(base.get(), EVLOOP_NONBLOCK);  // which calls back
    return Error{ErrorCode::kTimeout, fmt::format("no name server tells the address of {}", host)};
  }
  if (answer.addresses.empty())
    return Error{answer.error == EVUTIL_EAI_NONAME ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("{}: {}", host, evutil_gai_strerror(answer.error))};
  // Machines often have an IPv6 address that leads nowhere.
  std::stable_partition(
      answer.addresses.begin(), answer.addresses.end(),
      [](const std::string& text) { return text.find(':') == std::string::npos; });
  return std::move(answer.addresses);
}

}  // namespace clrscope::fetch
