// SPDX-License-Identifier: Apache-2.0
#include "report/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clrscope::report {
namespace {

using capture::LiveView;
using Process = LiveView::ProcessState;

constexpr const char* kGenerations[] = {"gen0", "gen1", "gen2", "loh", "poh"};
constexpr const char* kKinds[] = {"soh", "loh", "poh", "unknown"};

std::string EscapeLabel(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

class FamilyWriter {
 public:
  FamilyWriter(const LiveView& view, MetricsFormat format) : view_(view), format_(format) {}

  // `name` without "_total"; `unit`: its last part, or "".
  void Family(std::string_view name, bool counter, std::string_view unit, std::string_view help) {
    const bool open = format_ == MetricsFormat::kOpenMetrics;
    name_ = name;
    if (counter) name_ += "_total";
    const std::string family = open ? std::string(name) : name_;
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family, help, family,
                        counter ? "counter" : "gauge");
    if (open && !unit.empty()) out_ += fmt::format("# UNIT {} {}\n", family, unit);
  }
  // f(process, add): calls add(more labels, value) for each sample of the family.
  template <class F>
  void ForEach(F f) {
    for (size_t i = 0; i < view_.processes().size(); ++i) {
      const auto& known = view_.tables().processes()[i];
      if (known.ended) continue;
      const std::string labels = fmt::format(
          "process=\"{}\",pid=\"{}\"", EscapeLabel(view_.tables().str(known.name)), known.pid);
      f(view_.processes()[i], [&](std::string_view more, double value) {
        out_ +=
            fmt::format("{}{{{}{}{}}} {}\n", name_, labels, more.empty() ? "" : ",", more, value);
      });
    }
  }
  std::string Take() {
    if (format_ == MetricsFormat::kOpenMetrics) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  const LiveView& view_;
  MetricsFormat format_;
  std::string name_, out_;
};

std::string Generation(size_t i) {
  return fmt::format("dotnet_gc_heap_generation=\"{}\"", kGenerations[i]);
}

void WriteGc(FamilyWriter& w) {
  w.Family("dotnet_gc_collections", true, "",
           "Garbage collections that ended since clrscope joined the process, by generation.");
  w.ForEach([](const Process& p, auto add) {
    for (size_t i = 0; i < 3; ++i) add(Generation(i), static_cast<double>(p.collections[i]));
  });
  w.Family("dotnet_gc_pause_time_seconds", true, "seconds",
           "Time that all threads were stopped for garbage collections.");
  w.ForEach([](const Process& p, auto add) { add("", static_cast<double>(p.pause_ns) / 1e9); });
  w.Family("clrscope_gc_pauses", true, "", "How often all threads were stopped for a collection.");
  w.ForEach([](const Process& p, auto add) { add("", static_cast<double>(p.pauses)); });
  w.Family("dotnet_gc_last_collection_heap_size_bytes", false, "bytes",
           "Heap size after the last collection, by generation.");
  w.ForEach([](const Process& p, auto add) {
    for (size_t i = 0; i < 5; ++i)
      if (p.last_gc.size_after[i] >= 0)
        add(Generation(i), static_cast<double>(p.last_gc.size_after[i]));
  });
}

void WriteAllocations(FamilyWriter& w) {
  w.Family("clrscope_allocated_bytes", true, "bytes",
           "Bytes allocated since clrscope joined the process, estimated from samples, by heap.");
  w.ForEach([](const Process& p, auto add) {
    for (size_t i = 0; i < 4; ++i)
      if (i < 3 || p.by_kind[i].samples != 0)
        add(fmt::format("heap=\"{}\"", kKinds[i]), std::round(p.by_kind[i].amount));
  });
  w.Family("clrscope_allocated_objects", true, "",
           "Objects allocated since clrscope joined the process, estimated from samples, by heap.");
  w.ForEach([](const Process& p, auto add) {
    for (size_t i = 0; i < 4; ++i)
      if (i < 3 || p.by_kind[i].samples != 0)
        add(fmt::format("heap=\"{}\"", kKinds[i]), std::round(p.by_kind[i].count));
  });
  w.Family("clrscope_samples", true, "", "Allocation samples that the estimates rest on.");
  w.ForEach([](const Process& p, auto add) {
    add(fmt::format("event=\"{}\"",
                    EventName(p.biased ? profile::Source::kTick : profile::Source::kSampled)),
        static_cast<double>(p.samples));
  });
  w.Family("clrscope_events_dropped", true, "", "Events that the runtime dropped.");
  w.ForEach([](const Process& p, auto add) { add("", static_cast<double>(p.dropped)); });
}

void WriteCpu(FamilyWriter& w) {
  w.Family("clrscope_process_cpu_seconds", true, "seconds",
           "CPU time of the process since it began, as the system counts it.");
  w.ForEach([](const Process& p, auto add) {
    if (p.cpu_s >= 0) add("", p.cpu_s);
  });
}

void WriteSampledCpu(FamilyWriter& w) {
  w.Family("clrscope_cpu_time_seconds", true, "seconds",
           "CPU time since clrscope joined the process, by samples: whose code ran.");
  w.ForEach([](const Process& p, auto add) {
    if (!p.KnowsWhatRuns()) return;
    for (size_t i = 0; i < profile::kFrameKinds; ++i)
      if (i == 0 || p.cpu_ns[i] > 0)
        add(fmt::format("code=\"{}\"", FrameKindName(static_cast<profile::FrameKind>(i))),
            p.cpu_ns[i] / 1e9);
  });
}

void WriteWall(FamilyWriter& w) {
  w.Family("clrscope_wall_time_seconds", true, "seconds",
           "What threads did since clrscope joined the process: seconds of all threads in each "
           "state, without idle threads.");
  w.ForEach([](const Process& p, auto add) {
    if (!p.Recorded(profile::Measure::kWall)) return;
    for (size_t i = 1; i <= profile::kThreadStates; ++i) {
      const auto state = static_cast<profile::ThreadState>(i);
      const bool told = state != profile::ThreadState::kRunning || p.KnowsWhatRuns();
      if (state != profile::ThreadState::kIdle && told)
        add(fmt::format("state=\"{}\"", profile::ThreadStateName(i)), p.wall_ns[i] / 1e9);
    }
  });
}

void WritePool(FamilyWriter& w) {
  w.Family("clrscope_thread_pool_threads", false, "", "Threads that the thread pool has.");
  w.ForEach([](const Process& p, auto add) {
    if (p.pool_threads >= 0) add("", p.pool_threads);
  });
  w.Family("dotnet_thread_pool_queue_length", false, "",
           "Work items that wait for a thread of the pool.");
  w.ForEach([](const Process& p, auto add) {
    if (p.pool_queue >= 0) add("", p.pool_queue);
  });
}

// Families of measures that no process is asked for are left out.
bool Any(const LiveView& view, profile::Measure m) {
  return std::any_of(view.processes().begin(), view.processes().end(),
                     [m](const Process& p) { return p.Recorded(m); });
}

const profile::Estimate& Of(const Process& p, profile::Measure m) {
  return p.events[static_cast<size_t>(m)];
}

void WriteExceptions(FamilyWriter& w) {
  using profile::Measure;
  w.Family("dotnet_exceptions", true, "",
           "Exceptions thrown since clrscope joined the process, by type; those past 50 types are "
           "(other).");
  w.ForEach([](const Process& p, auto add) {
    if (!p.Recorded(Measure::kExceptions)) return;
    for (const auto& [type, count] : p.exceptions)
      add(fmt::format("error_type=\"{}\"", EscapeLabel(type)), count);
  });
  w.Family("clrscope_exceptions_rethrown", true, "",
           "Times that exceptions were thrown again: by each level of await, by "
           "ExceptionDispatchInfo.");
  w.ForEach([](const Process& p, auto add) {
    if (p.Recorded(Measure::kExceptions)) add("", Of(p, Measure::kExceptions).amount);
  });
}

// Waits of a measure: how many, and for how long.
void WriteWaits(FamilyWriter& w, profile::Measure m, std::string_view count, std::string_view time,
                std::string_view what) {
  w.Family(count, true, "", fmt::format("{} that ended since clrscope joined the process.", what));
  w.ForEach([m](const Process& p, auto add) {
    if (p.Recorded(m)) add("", Of(p, m).count);
  });
  w.Family(time, true, "seconds", fmt::format("Time of {}.", what));
  w.ForEach([m](const Process& p, auto add) {
    if (p.Recorded(m)) add("", Of(p, m).amount / 1e9);
  });
}

// "GET /items/{id}" → http_request_method="GET",http_route="/items/{id}", as OpenTelemetry has
// them.
std::string RouteLabels(std::string_view name) {
  const size_t space = name.starts_with('(') ? std::string_view::npos : name.find(' ');
  const bool method = space != std::string_view::npos;
  return fmt::format("http_request_method=\"{}\",http_route=\"{}\"",
                     method ? EscapeLabel(name.substr(0, space)) : "",
                     EscapeLabel(method ? name.substr(space + 1) : name));
}

void WriteRequests(FamilyWriter& w, const LiveView& view) {
  using Route = Process::Route;
  using profile::Measure;
  const auto family = [&](std::string_view name, std::string_view unit, std::string_view help,
                          double Route::*value, bool of_requests) {
    w.Family(name, true, unit, help);
    w.ForEach([&](const Process& p, auto add) {
      if (!p.Recorded(Measure::kRequests)) return;
      for (const auto& [route, sums] : p.routes)
        if (sums.*value > 0 || (of_requests && sums.requests > 0))
          add(RouteLabels(route), value == &Route::bytes ? std::round(sums.*value) : sums.*value);
    });
  };
  family("clrscope_requests", "",
         "Requests that ended since clrscope joined the process, by route; those past 200 routes "
         "are (other).",
         &Route::requests, true);
  family("clrscope_request_duration_seconds", "seconds", "Time that they took.", &Route::seconds,
         true);
  family("clrscope_request_errors", "",
         "Requests that ended with a status of 500 or more, or by an exception.", &Route::errors,
         true);
  family("clrscope_request_allocated_bytes", "bytes",
         "Bytes allocated for requests, estimated from samples; (no request): by everything else.",
         &Route::bytes, true);
  if (Any(view, Measure::kExceptions))
    family("clrscope_request_exceptions", "", "Exceptions thrown for requests.", &Route::exceptions,
           true);
  if (Any(view, Measure::kLocks))
    family("clrscope_request_lock_wait_seconds", "seconds", "Waits for locks within requests.",
           &Route::lock_wait_s, true);
}

}  // namespace

MetricsFormat FormatFor(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos
             ? MetricsFormat::kOpenMetrics
             : MetricsFormat::kPrometheus;
}

std::string_view ContentType(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string MetricsText(const LiveView& view, MetricsFormat format) {
  FamilyWriter w(view, format);
  WriteAllocations(w);
  WriteGc(w);
  WriteCpu(w);
  using profile::Measure;
  if (Any(view, Measure::kCpu)) WriteSampledCpu(w);
  if (Any(view, Measure::kWall)) WriteWall(w);
  if (std::any_of(view.processes().begin(), view.processes().end(),
                  [](const Process& p) { return p.pool_threads >= 0; }))
    WritePool(w);
  if (Any(view, Measure::kExceptions)) WriteExceptions(w);
  if (Any(view, Measure::kLocks))
    WriteWaits(w, Measure::kLocks, "dotnet_monitor_lock_contentions",
               "clrscope_lock_wait_time_seconds", "Waits for locks");
  if (Any(view, Measure::kWaits))
    WriteWaits(w, Measure::kWaits, "clrscope_waits", "clrscope_wait_time_seconds", "Other waits");
  if (Any(view, Measure::kRequests)) WriteRequests(w, view);
  return w.Take();
}

}  // namespace clrscope::report
