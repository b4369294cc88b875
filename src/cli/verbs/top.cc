// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/top.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "capture/record/signals.h"
#include "cli/live/live_selection.h"
#include "cli/live/top_plain.h"
#include "cli/live/top_screen.h"
#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/input/parse.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;
using analysis::LiveBy;

struct TopOptions {
  LiveSelection selection;
  std::string by = "type", measure = "allocations", duration;
  std::optional<size_t> limit;
  bool jsonl = false;
};

class Top {
 public:
  Top(const TopOptions& options, LiveEngine live, capture::Signals signals,
      std::optional<int64_t> duration_ns)
      : options_(options),
        live_(std::move(live)),
        signals_(std::move(signals)),
        duration_ns_(duration_ns),
        model_(live_.view.get()) {
    model_.by = options.by == "site"      ? LiveBy::kSite
                : options.by == "process" ? LiveBy::kProcess
                : options.by == "thread"  ? LiveBy::kThread
                : options.by == "request" ? LiveBy::kRequest
                                          : LiveBy::kType;
    for (const profile::MeasureSpec& m : profile::kMeasureSpecs)
      if (m.name == options.measure) model_.SetMeasure(m.id);
    if (options.jsonl || !IsTerminal(STDOUT_FILENO) || !IsTerminal(STDIN_FILENO)) return;
    Result<std::unique_ptr<TopScreen>> screen = TopScreen::Open();
    if (screen.ok())
      screen_ = screen.Take();
    else
      Warn(screen.error().message + "; printing a table each second instead");
  }

  int Run() {
    const auto start = std::chrono::steady_clock::now();
    int64_t shown = -1;
    bool dirty = true;
    while (!quit_) {
      const bool more = live_.engine->Work();
      if (!more) Wait();
      signals_.ForEach([this](int signal) { OnSignal(signal); });
      const capture::LiveView& view = *live_.view;
      if (view.tables().second() != shown) {
        shown = view.tables().second();
        dirty = true;
        OnSecond();
      }
      if (screen_) {
        if (!screen_->HandleKeys(model_)) break;
        if (dirty || keys_) screen_->Draw(model_);
        dirty = keys_ = false;
      }
      const auto elapsed = std::chrono::steady_clock::now() - start;
      if (duration_ns_ && elapsed >= std::chrono::nanoseconds(*duration_ns_)) break;
      if (!screen_ && !options_.selection.discovers() && !live_.engine->any_recording()) break;
    }
    StopLive(*live_.engine);
    screen_.reset();
    return failed_ ? kExitFailure : kExitOk;
  }

 private:
  void Wait() {
    pollfd fds[2] = {{signals_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    live_.engine->Wait(100ms, std::span<pollfd>(fds, screen_ ? 2 : 1));
    if (screen_) {
      keys_ = true;  // or the window has another size
    }
  }

  void OnSecond() {
    model_.Refresh();
    for (const std::string& note : live_.view->TakeNotes()) {
      if (screen_)
        screen_->SetNote(note);
      else
        Warn(note);
    }
    if (live_.view->RotateIfDue()) (void)model_.Leave();
    if (screen_) return;
    const size_t limit = options_.limit.value_or(options_.jsonl ? 50 : 15);
    Output out;
    out.Write(options_.jsonl ? TopJsonLine(model_, limit) : TopTable(model_, limit, OutputWidth()));
    if (!out.Flush().ok()) quit_ = failed_ = true;
  }

  void OnSignal(int signal) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) quit_ = true;
    if (signal != SIGTSTP) return;
    SuspendLive(*live_.engine, [this](bool back) {
      if (!screen_) return;
      back ? screen_->Resume() : screen_->Suspend();
    });
  }

  const TopOptions& options_;
  LiveEngine live_;
  capture::Signals signals_;
  std::optional<int64_t> duration_ns_;
  TopModel model_;
  std::unique_ptr<TopScreen> screen_;
  bool quit_ = false, failed_ = false, keys_ = false;
};

}  // namespace

int RunTop(const Args& args) {
  TopOptions o;
  VerbOptions verb(
      "top", "(-p PID | -n NAME | --all) [options]",
      "Shows live who allocates, what is thrown and who waits for locks: by type, site, process or "
      "thread. Without a terminal it prints a table each second.",
      "  clrscope top -p 1234\n"
      "  clrscope top --all\n"
      "  clrscope top -p 1234 --measure cpu                 who uses CPU time\n"
      "  clrscope top -p 1234 --measure exceptions\n"
      "  clrscope top -p 1234 --by request          which routes of ASP.NET Core allocate\n"
      "  clrscope top -n orders --by site --jsonl -d 10s | jq -c '.rows[0]'\n");
  AddLiveSelection(verb, o.selection);
  verb.Add("--by", o.by,
           "the first table: type (default), site, process, thread or request (implies --requests)")
      .Value("WHAT")
      .OneOf({"type", "site", "process", "thread", "request"});
  verb.Add("--measure", o.measure,
           "the first measure: allocations (default), exceptions, locks, waits, requests, cpu or "
           "wall. The last four imply their option")
      .Value("MEASURE")
      .OneOf({"allocations", "exceptions", "locks", "waits", "requests", "cpu", "wall"});
  AddMeasureOptions(verb, o.selection.measures, {.standard = "allocations, exceptions and locks"});
  AddPoolOption(verb, o.selection);
  verb.Add("-d,--duration", o.duration, "stop after this time: 30, 30s, 5m …").Value("TIME");
  verb.Add("-l,--limit", o.limit, "show this many rows (default: 15 in tables, 50 in JSON lines)")
      .Value("N");
  verb.Flag("--jsonl", o.jsonl, "print one JSON document per second, each on its own line");
  if (const auto code = verb.Parse(args)) return *code;
  // Programs that do neither pay nothing for these.
  MeasureArguments& measures = o.selection.measures;
  if (measures.only.empty() && measures.measures.empty())
    measures.exceptions = measures.locks = true;
  if (o.measure == "waits") measures.waits = true;
  if (o.measure == "cpu") measures.cpu = true;
  if (o.measure == "wall") measures.wall = true;
  if (o.measure == "requests" || o.by == "request") measures.requests = "auto";
  std::optional<int64_t> duration;
  if (!o.duration.empty()) {
    Result<int64_t> ns = report::ParseDuration(o.duration);
    if (!ns.ok()) return Fail(ns.error());
    duration = *ns;
  }
  Result<capture::Signals> signals = capture::Signals::Take();
  if (!signals.ok()) return Fail(signals.error());
  Result<LiveEngine> live = StartLive(o.selection);
  if (!live.ok()) return Fail(live.error());
  return Top(o, live.Take(), signals.Take(), duration).Run();
}

}  // namespace clrscope::cli
