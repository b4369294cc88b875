// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics.h"

#include <fmt/format.h>
#include <signal.h>

#include <charconv>
#include <chrono>

#include "capture/signals.h"
#include "cli/live_selection.h"
#include "cli/metrics_server.h"
#include "cli/metrics_text.h"
#include "cli/options.h"
#include "cli/output.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;

Result<ListenAddress> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  ListenAddress out;
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

void Publish(const capture::LiveView& view, MetricsServer& server) {
  server.Publish(MetricsText(view, MetricsFormat::kPrometheus),
                 MetricsText(view, MetricsFormat::kOpenMetrics));
}

int Serve(const LiveSelection& selection, const ListenAddress& address) {
  Result<capture::Signals> signals = capture::Signals::Take();
  if (!signals.ok()) return Fail(signals.error());
  MetricsServer server;
  Result<LiveEngine> live = StartLive(selection);
  if (!live.ok()) return Fail(live.error());
  capture::LiveView& view = *live->view;
  Publish(view, server);
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
    signals->ForEach([&](int signal) {
      quit = quit || signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
      if (signal == SIGTSTP) SuspendLive(*live->engine);
    });
    for (const std::string& note : view.TakeNotes()) Warn("not served: " + note);
    if (view.tables().second() == published) continue;
    published = view.tables().second();
    (void)view.RotateIfDue();
    Publish(view, server);
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
  AddLiveSelection(verb, selection);
  verb.Add("--listen", listen, "address and port; 127.0.0.1:9464 by default, port 0: any")
      .Value("HOST:PORT");
  if (const auto code = verb.Parse(args)) return *code;
  const Result<ListenAddress> address = ParseAddress(listen);
  if (!address.ok()) return Fail(address.error());
  return Serve(selection, *address);
}

}  // namespace clrscope::cli
