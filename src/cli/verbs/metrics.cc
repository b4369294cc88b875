// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/metrics.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>

#include "capture/record/signals.h"
#include "cli/live/listen_address.h"
#include "cli/live/live_selection.h"
#include "cli/live/metrics_server.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/metrics_text.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;

void Publish(const capture::LiveView& view, MetricsServer& server) {
  server.Publish(report::MetricsText(view, report::MetricsFormat::kPrometheus),
                 report::MetricsText(view, report::MetricsFormat::kOpenMetrics));
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
    for (const std::string& note : view.TakeNotes()) Warn(note);
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
      "Serves allocation rates, collections, pauses, heap sizes and CPU time to Prometheus, as "
      "OpenMetrics.",
      "  clrscope metrics --all\n"
      "  clrscope metrics -n orders --listen 0.0.0.0:9464\n"
      "  clrscope metrics -p 1234 --exceptions --locks     what is thrown, and waits for locks, "
      "too\n"
      "  curl -s localhost:9464/metrics | promtool check metrics\n");
  AddLiveSelection(verb, selection);
  AddMeasureOptions(verb, selection.measures, {});
  AddPoolOption(verb, selection);
  verb.Add("--listen", listen,
           "listen on this HOST:PORT (default 127.0.0.1:9464); port 0 picks a free one")
      .Value("ADDRESS");
  if (const auto code = verb.Parse(args)) return *code;
  const Result<ListenAddress> address = ParseListenAddress(listen);
  if (!address.ok()) return Fail(address.error());
  return Serve(selection, *address);
}

}  // namespace clrscope::cli
