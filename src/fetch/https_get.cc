// SPDX-License-Identifier: Apache-2.0
#include "fetch/https_get.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/keyvalq_struct.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/program_version.h"
#include "fetch/event_loop.h"
#include "fetch/no_sigpipe.h"
#include "fetch/resolve.h"
#include "fetch/trust.h"
#include "fetch/url.h"

namespace clrscope::fetch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostHeaderBytes = 64 << 10;

// SSL_set_tlsext_host_name() is a macro with a C cast.
bool NameServer(SSL* ssl, std::string name) {
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

// A request under way, and what came of it.
struct Exchange {
  event_base* base = nullptr;
  ByteSink* body = nullptr;
  int status = 0;  // 0: no answer
  std::string location;
  bool over = false;
  bool late = false;  // the whole took longer than it may
  std::optional<evhttp_request_error> error;
  Status written = OkStatus();
};

int OnHeaders(evhttp_request* request, void* argument) {
  auto& exchange = *static_cast<Exchange*>(argument);
  exchange.status = evhttp_request_get_response_code(request);
  const char* const location =
      evhttp_find_header(evhttp_request_get_input_headers(request), "Location");
  if (location != nullptr) exchange.location = location;
  return 0;
}

void OnPiece(evhttp_request* request, void* argument) {
  auto& exchange = *static_cast<Exchange*>(argument);
  evbuffer* const piece = evhttp_request_get_input_buffer(request);
  if (exchange.status == HTTP_OK && exchange.written.ok()) {
    const size_t size = evbuffer_get_length(piece);
    const auto* const bytes = reinterpret_cast<const char*>(evbuffer_pullup(piece, -1));
    exchange.written = exchange.body->Write(std::string_view(bytes, size));
    if (!exchange.written.ok()) event_base_loopbreak(exchange.base);
  }
  evbuffer_drain(piece, evbuffer_get_length(piece));
}

void OnError(evhttp_request_error error, void* argument) {
  static_cast<Exchange*>(argument)->error = error;
}

// The request is null, or has no status, where it failed.
void OnEnd(evhttp_request* request, void* argument) {
  auto& exchange = *static_cast<Exchange*>(argument);
  exchange.over = request != nullptr && evhttp_request_get_response_code(request) != 0;
  event_base_loopbreak(exchange.base);
}

class Get {
 public:
  Get(const Limits& limits, ByteSink& body)
      : limits_(limits), body_(body), until_(Clock::now() + limits.whole) {}

  Status Run(Url url) {
    for (int i = 0; i <= limits_.redirects; ++i) {
      ASSIGN_OR_RETURN(const std::string location, Ask(url));
      if (location.empty()) return body_.Finish();
      ASSIGN_OR_RETURN(url, Redirect(url, location));
    }
    return Error{ErrorCode::kRefused,
                 fmt::format("{}: more than {} redirections", url.host, limits_.redirects)};
  }

 private:
  std::chrono::milliseconds Left() const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now()));
  }

  // Returns where to ask instead; "": the body has come.
  Result<std::string> Ask(const Url& url) {
    ASSIGN_OR_RETURN(const std::vector<std::string> addresses,
                     Resolve(url.host, std::min(limits_.silence, Left())));
    if (url.tls && trusted_ == nullptr) {
      ASSIGN_OR_RETURN(trusted_, TrustSystem());
    }
    std::optional<Error> last;
    for (const std::string& address : addresses) {
      // /etc/hosts, or a name server, may call another machine "localhost".
      if (!url.tls && !IsLoopback(address)) continue;
      const Clock::time_point begun = Clock::now();
      auto location = AskAt(address, url);
      if (location.ok() || location.error().code != ErrorCode::kIo) return location;
      // Where packets are dropped each address would take as long.
      if (Clock::now() - begun >= limits_.silence || Left().count() == 0)
        return Error{ErrorCode::kTimeout, fmt::format("{} does not answer", url.host)};
      last = location.error();
    }
    if (last) return *last;
    return Error{ErrorCode::kIo, fmt::format("{} has no address that can be asked", url.host)};
  }

  bufferevent* Socket(event_base* base, const Url& url, SSL** ssl) const {
    if (!url.tls) return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    *ssl = SSL_new(trusted_.get());
    if (*ssl == nullptr) return nullptr;
    in6_addr digits;
    const bool named = ::inet_pton(AF_INET, url.host.c_str(), &digits) != 1 &&
                       ::inet_pton(AF_INET6, url.host.c_str(), &digits) != 1;
    const bool known =
        named ? NameServer(*ssl, url.host) && SSL_set1_host(*ssl, url.host.c_str()) == 1
              : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(*ssl), url.host.c_str()) == 1;
    if (!known) {
      SSL_free(*ssl);
      return nullptr;
    }
    return bufferevent_openssl_socket_new(base, -1, *ssl, BUFFEREVENT_SSL_CONNECTING,
                                          BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
  }

  Result<std::string> AskAt(const std::string& address, const Url& url) {
    const Error no_room{ErrorCode::kFailed, fmt::format("no room to ask {}", url.host)};
    const EventBase base(event_base_new());
    // The address is in digits; libevent asks glibc for it all the same without this.
    const NameServers names(
        base == nullptr ? nullptr : evdns_base_new(base.get(), EVDNS_BASE_DISABLE_WHEN_INACTIVE));
    if (names == nullptr) return no_room;
    Exchange exchange;  // outlives the connection
    exchange.base = base.get();
    exchange.body = &body_;
    SSL* ssl = nullptr;
    bufferevent* const socket = Socket(base.get(), url, &ssl);
    if (socket == nullptr) return no_room;
    const Connection connection(evhttp_connection_base_bufferevent_new(
        base.get(), names.get(), socket, address.c_str(), url.port));
    if (connection == nullptr) return no_room;
    const timeval silence = ToTimeval(limits_.silence), whole = ToTimeval(Left());
    evhttp_connection_set_timeout_tv(connection.get(), &silence);
    evhttp_connection_set_max_headers_size(connection.get(), kMostHeaderBytes);
    evhttp_connection_set_max_body_size(connection.get(), static_cast<ev_ssize_t>(limits_.bytes));

    evhttp_request* const request = evhttp_request_new(&OnEnd, &exchange);
    if (request == nullptr) return no_room;
    evhttp_request_set_header_cb(request, &OnHeaders);
    evhttp_request_set_chunked_cb(request, &OnPiece);
    evhttp_request_set_error_cb(request, &OnError);
    evkeyvalq* const headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", url.authority().c_str());
    evhttp_add_header(headers, "User-Agent", std::string(ProgramVersion()).c_str());
    evhttp_add_header(headers, "Accept", "*/*");
    evhttp_add_header(headers, "Connection", "close");
    event_base_loopexit(base.get(), &whole);
    // It owns the request from here on.
    if (evhttp_make_request(connection.get(), request, EVHTTP_REQ_GET, url.target.c_str()) == 0)
      event_base_dispatch(base.get());
    // By the clock of libevent, which may differ from ours by milliseconds.
    exchange.late = event_base_got_exit(base.get()) != 0;
    return Outcome(exchange, url, ssl);
  }

  Result<std::string> Outcome(const Exchange& exchange, const Url& url, SSL* ssl) const {
    ERR_clear_error();
    if (!exchange.written.ok()) return exchange.written.error();
    if (exchange.error == EVREQ_HTTP_DATA_TOO_LONG)
      return Error{ErrorCode::kRefused,
                   fmt::format("{} sends more than {} MB", url.host, limits_.bytes >> 20)};
    if (exchange.error == EVREQ_HTTP_TIMEOUT || exchange.late || Left().count() == 0)
      return Error{ErrorCode::kTimeout, fmt::format("{} does not answer", url.host)};
    if (ssl != nullptr && SSL_get_verify_result(ssl) != X509_V_OK)
      return Error{ErrorCode::kRefused,
                   fmt::format("{} cannot be told from somebody else: {}", url.host,
                               X509_verify_cert_error_string(SSL_get_verify_result(ssl)))};
    if (exchange.status == 0)
      return Error{ErrorCode::kIo, fmt::format("{} cannot be reached", url.host)};
    if (!exchange.over || exchange.error)
      return Error{ErrorCode::kTruncated, fmt::format("{} broke off in its answer", url.host)};
    switch (exchange.status) {
      case HTTP_OK:
        return std::string();
      case HTTP_NOTFOUND:
      case 410:
        return Error{ErrorCode::kNotFound, fmt::format("{} does not have it", url.host)};
      case HTTP_MOVEPERM:
      case HTTP_MOVETEMP:
      case 303:
      case 307:
      case 308:
        if (!exchange.location.empty()) return exchange.location;
        [[fallthrough]];
      default:
        return Error{ErrorCode::kRefused,
                     fmt::format("{} answers with status {}", url.host, exchange.status)};
    }
  }

  const Limits& limits_;
  ByteSink& body_;
  const Clock::time_point until_;
  TlsContext trusted_;
};

}  // namespace

Status HttpsGet(const std::string& url, const Limits& limits, ByteSink& body) {
  ASSIGN_OR_RETURN(Url parsed, ParseUrl(url));
  event_set_log_callback([](int, const char*) {});  // of connections that went wrong: told here
  const NoSigpipe guard;
  return Get(limits, body).Run(std::move(parsed));
}

}  // namespace clrscope::fetch
