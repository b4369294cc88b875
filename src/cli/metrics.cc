// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics.h"

#include <fmt/format.h>
#include <httplib.h>
#include <signal.h>

#include <charconv>
#include <chrono>
#include <mutex>
#include <thread>

#include "capture/signals.h"
#include "cli/live_selection.h"
#include "cli/metrics_text.h"
#include "cli/options.h"
#include "cli/output.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;

struct Address {
  std::string host;
  int port = 0;
};

Result<Address> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  Address out;
  if (colon != std::string::npos) {
    out.host = text.substr(0, colon);
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
      out.host = out.host.substr(1, out.host.size() - 2);
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + colon + 1, end, out.port);
    if (error == std::errc() && at == end && out.port >= 0 && out.port < 65536 && !out.host.empty())
      return out;
  }
  return Error{ErrorCode::kUsage,
               fmt::format("--listen {}: give an address and a port, as 127.0.0.1:9464", text)};
}

// The page of the last second, served by threads of its own: a slow scraper holds nobody up.
class Server {
 public:
  ~Server() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  // Returns the port. errors: the address is taken, or not ours
  Result<int> Start(const Address& address) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(2); };
    // Not SO_REUSEPORT, the library's default: two servers would share one address.
    server_.set_socket_options([](socket_t fd) {
      const int yes = 1;
      (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_read_timeout(5s);
    server_.set_write_timeout(5s);
    server_.set_payload_max_length(4096);
    server_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      const MetricsFormat format = FormatFor(request.get_header_value("Accept"));
      const std::lock_guard lock(mutex_);
      response.set_content(format == MetricsFormat::kOpenMetrics ? open_metrics_ : prometheus_,
                           std::string(ContentType(format)));
    });
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("clrscope: figures are at /metrics\n", "text/plain");
    });
    int port = address.port;
    if (port == 0)
      port = server_.bind_to_any_port(address.host);
    else if (!server_.bind_to_port(address.host, port))
      port = -1;
    if (port < 0)
      return Error{ErrorCode::kIo,
                   fmt::format("cannot listen on {}:{}: it is in use, or no address of this "
                               "machine; choose another by --listen",
                               address.host, address.port)};
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    return port;
  }
  void Publish(const capture::LiveView& view) {
    std::string prometheus = MetricsText(view, MetricsFormat::kPrometheus);
    std::string open = MetricsText(view, MetricsFormat::kOpenMetrics);
    const std::lock_guard lock(mutex_);
    prometheus_.swap(prometheus);
    open_metrics_.swap(open);
  }

 private:
  httplib::Server server_;
  std::thread thread_;
  std::mutex mutex_;
  std::string prometheus_, open_metrics_;  // guarded by mutex_
};

int Serve(const LiveSelection& selection, const Address& address) {
  Result<capture::Signals> signals = capture::Signals::Take();
  if (!signals.ok()) return Fail(signals.error());
  Server server;
  Result<LiveEngine> live = StartLive(selection);
  if (!live.ok()) return Fail(live.error());
  capture::LiveView& view = *live->view;
  server.Publish(view);
  const Result<int> port = server.Start(address);
  if (!port.ok()) return Fail(port.error());
  Warn(fmt::format(
      "serving http://{}:{}/metrics; Ctrl-C ends it",
      address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]",
      *port));
  bool quit = false;
  int64_t published = -1;
  while (!quit) {
    if (!live->engine->Work()) {
      pollfd fd{signals->fd(), POLLIN, 0};
      live->engine->Wait(500ms, {&fd, 1});
    }
    signals->ForEach([&quit](int signal) {
      quit = quit || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    });
    for (const std::string& note : view.TakeNotes()) Warn("not served: " + note);
    if (view.tables().second() == published) continue;
    published = view.tables().second();
    (void)view.RotateIfDue();
    server.Publish(view);
  }
  StopLive(*live->engine);
  return kExitOk;
}

}  // namespace

int RunMetrics(const Args& args) {
  LiveSelection selection;
  std::string listen = "127.0.0.1:9464";
  VerbOptions verb(
      "metrics", "(-p PID | -n NAME | --all) [options]",
      "Serves allocation rates, collections, pauses and heap sizes to Prometheus, as OpenMetrics.",
      "  clrscope metrics --all\n"
      "  clrscope metrics -n orders --listen 0.0.0.0:9464\n"
      "  curl -s localhost:9464/metrics | promtool check metrics\n");
  AddLiveSelection(verb.app(), selection);
  verb.app()
      .add_option("--listen", listen, "address and port; 127.0.0.1:9464 by default, port 0: any")
      ->type_name("HOST:PORT");
  if (const auto code = verb.Parse(args)) return *code;
  const Result<Address> address = ParseAddress(listen);
  if (!address.ok()) return Fail(address.error());
  return Serve(selection, *address);
}

}  // namespace clrscope::cli
