// SPDX-License-Identifier: Apache-2.0
#include "cli/live/metrics_server.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <utility>

#include "capture/streams/event_fd.h"
#include "report/metrics_text.h"

namespace clrscope::cli {
namespace {

constexpr int kTimeoutSeconds = 5;
constexpr int kMaxHeaderBytes = 16 << 10, kMaxBodyBytes = 4 << 10;

void Send(evhttp_request* request, const std::string& content_type, const std::string& body) {
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                    content_type.c_str());
  evbuffer* const buffer = evhttp_request_get_output_buffer(request);
  evbuffer_add(buffer, body.data(), body.size());
  evhttp_send_reply(request, HTTP_OK, "OK", nullptr);
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

void MetricsServer::FreeBase(event_base* base) { event_base_free(base); }
void MetricsServer::FreeHttp(evhttp* http) { evhttp_free(http); }
void MetricsServer::FreeEvent(event* e) { event_free(e); }

MetricsServer::~MetricsServer() {
  if (!thread_.joinable()) return;
  capture::Notify(stop_.get());
  thread_.join();
}

Result<int> MetricsServer::Start(const ListenAddress& address) {
  event_set_log_callback([](int, const char*) {});  // of connections that went wrong: not ours
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  base_.reset(event_base_new());
  if (base_ != nullptr) http_.reset(evhttp_new(base_.get()));
  if (http_ != nullptr)
    stop_event_.reset(event_new(
        base_.get(), stop_.get(), EV_READ,
        [](int, short, void* base) { event_base_loopbreak(static_cast<event_base*>(base)); },
        base_.get()));
  if (stop_event_ == nullptr || event_add(stop_event_.get(), nullptr) != 0)
    return Error{ErrorCode::kIo, "cannot start the HTTP server: out of memory or descriptors"};
  evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
  evhttp_set_timeout(http_.get(), kTimeoutSeconds);
  evhttp_set_max_headers_size(http_.get(), kMaxHeaderBytes);
  evhttp_set_max_body_size(http_.get(), kMaxBodyBytes);
  evhttp_set_cb(
      http_.get(), "/metrics",
      [](evhttp_request* request, void* self) {
        static_cast<MetricsServer*>(self)->Answer(request);
      },
      this);
  evhttp_set_cb(
      http_.get(), "/",
      [](evhttp_request* request, void*) {
        Send(request, "text/plain", "clrscope: figures are at /metrics\n");
      },
      nullptr);
  ASSIGN_OR_RETURN(Fd socket, ListenAt(address));
  const int port = PortOf(socket.get());
  if (port < 0 || evhttp_accept_socket(http_.get(), socket.get()) != 0)
    return Error{ErrorCode::kIo, "cannot start the HTTP server: out of memory or descriptors"};
  (void)socket.release();  // it is the server's now
  thread_ = std::thread([this] {
    // A client that hangs up in mid-answer must not end the process.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    event_base_dispatch(base_.get());
  });
  return port;
}

void MetricsServer::Publish(std::string prometheus, std::string open_metrics) {
  const std::lock_guard lock(mutex_);
  prometheus_ = std::move(prometheus);
  open_metrics_ = std::move(open_metrics);
}

void MetricsServer::Answer(evhttp_request* request) {
  const char* const accept =
      evhttp_find_header(evhttp_request_get_input_headers(request), "Accept");
  const report::MetricsFormat format = report::FormatFor(accept == nullptr ? "" : accept);
  const std::lock_guard lock(mutex_);
  Send(request, std::string(report::ContentType(format)),
       format == report::MetricsFormat::kOpenMetrics ? open_metrics_ : prometheus_);
}

}  // namespace clrscope::cli
