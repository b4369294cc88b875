// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/open_target.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "analysis/families/wall/thread_modes.h"
#include "capture/sessions/providers.h"

namespace clrscope::capture {
namespace {

// The first version with CollectTracing4, by which a session says what its rundown has.
// Source: dotnet/diagnostics documentation/design-docs/ipc-protocol.md
constexpr int kChoosesRundowns = 9;

// Of routes, methods and statuses that the runtime is to count, and of templates.
constexpr uint32_t kMostRequestSeries = 2000;

// Of a session that shares what the runtime measures: another one each time.
std::string Identifier() {
  std::random_device random;
  return fmt::format("clrscope-{:08x}{:08x}", random(), random());
}

Status OpenRequests(const TargetOptions& options, OpenedTarget& out) {
  using Kind = OpenedTarget::Kind;
  ASSIGN_OR_RETURN(OpenedStream requests,
                   out.link->Open(RequestSession(kEventBufferMb, ExtrasOf(options))));
  out.streams.push_back({std::move(requests), Kind::kRequests});
  if (Result<OpenedStream> tasks = out.link->Open(TaskSession(kEventBufferMb)); tasks.ok())
    out.streams.push_back({tasks.Take(), Kind::kTasks});
  else
    out.notes.push_back("how long requests wait is not told: " + tasks.error().message);
  out.request_counter = Identifier();
  if (Result<OpenedStream> counter =
          out.link->Open(RequestCounterSession(out.request_counter, kMostRequestSeries));
      counter.ok())
    out.streams.push_back({counter.Take(), Kind::kRequestCounter});
  else
    out.notes.push_back("routes are told by paths: " + counter.error().message);
  return OkStatus();
}

}  // namespace

OpenedTarget::~OpenedTarget() {
  for (const Stream& s : streams)
    if (s.opened.ring) link->Drop(s.opened.ring);
}

Result<OpenedTarget> OpenTarget(const ipc::DotnetProcess& process,
                                std::shared_ptr<RuntimeLink> link, const TargetOptions& asked,
                                bool fresh) {
  using Kind = OpenedTarget::Kind;
  const TargetOptions options = WhatCanBeAsked(asked, process);
  OpenedTarget out;
  out.process = process;
  out.link = std::move(link);
  out.fresh = fresh;
  // While it is there: one that runs for a moment is not asked again.
  if (auto files = symbol_files::ModuleFiles::Of(process.pid); files.ok()) out.files = files.Take();
  const bool keep = options.keeper != nullptr;
  const bool counts = options.types != profile::CountMode::kUnknown;
  out.source = profile::Source::kCounted;
  if (!counts) {
    ASSIGN_OR_RETURN(out.source, ChooseSource(options.sampling, process.clr_version));
  }
  // First: what the others tell is to have ids from its first event on.
  if (options.requests) RETURN_IF_ERROR(OpenRequests(options, out));
  if (options.cpu_hz != 0) {
    ASSIGN_OR_RETURN(out.sampler, OpenSampler(process, options));
    if (!out.sampler.note.empty()) out.notes.push_back(std::move(out.sampler.note));
  }
  // Live events first, then the rundown: the other order leaves a gap between them.
  ASSIGN_OR_RETURN(
      OpenedStream main,
      out.link->Open(counts                        ? TypeNameSession(keep)
                     : options.allocations_apart() ? CollectionSession(options.buffer_mb)
                     : options.agent || !options.allocations
                         ? CodeSession(options.buffer_mb, keep)
                         : AllocationSession(out.source, options.buffer_mb, keep)));
  out.streams.push_back({std::move(main), Kind::kMain});
  if (counts) {
    ASSIGN_OR_RETURN(OpenedStream objects,
                     out.link->Open(TypeCountSession(options.types, options.buffer_mb)));
    out.streams.push_back({std::move(objects), Kind::kCounts});
  }
  if (options.allocations_apart()) {
    ASSIGN_OR_RETURN(OpenedStream stream,
                     out.link->Open(AllocationsAlone(out.source, options.buffer_mb)));
    out.streams.push_back({std::move(stream), Kind::kAllocations});
  }
  if (options.exceptions) {
    ASSIGN_OR_RETURN(OpenedStream stream, out.link->Open(ExceptionSession(kEventBufferMb)));
    out.streams.push_back({std::move(stream), Kind::kExceptions});
  }
  if (options.locks || options.waits) {
    ASSIGN_OR_RETURN(OpenedStream stream,
                     out.link->Open(LockSession(kEventBufferMb, options.waits)));
    out.streams.push_back({std::move(stream), Kind::kLocks});
    if (options.waits && !TellsWaits(process.clr_version))
      out.notes.push_back(fmt::format(
          "process {} runs .NET {}, which tells waits for locks only: other waits need .NET 9",
          process.pid, process.clr_version));
  }
  if (out.sampler.by == profile::CpuSampler::kRuntime) {
    ASSIGN_OR_RETURN(OpenedStream stream, out.link->Open(ThreadSampleSession(kEventBufferMb)));
    out.streams.push_back({std::move(stream), Kind::kThreadSamples});
    if (analysis::ThreadModesNeverTold(".NET " + process.clr_version))
      out.notes.push_back(
          fmt::format("process {} runs .NET {}, whose sampler does not report which threads run "
                      "(dotnet/runtime#123996): there is wall time, and no CPU time",
                      process.pid, process.clr_version));
  }
  if (options.pool) {
    if (Result<OpenedStream> pool = out.link->Open(CounterSession()); pool.ok())
      out.streams.push_back({pool.Take(), Kind::kPool});
    else
      out.notes.push_back("the thread pool is not told: " + pool.error().message);
  }
  if (Result<OpenedStream> entries = out.link->Open(EntryPointSession()); entries.ok())
    out.streams.push_back({entries.Take(), Kind::kEntryPoints});
  else
    out.notes.push_back("precompiled methods are named by rundowns only: " +
                        entries.error().message);
  if (options.lines) {
    if (Result<OpenedStream> lines = out.link->Open(LineSession(kEventBufferMb)); lines.ok())
      out.streams.push_back({lines.Take(), Kind::kLines});
    else
      out.notes.push_back("methods that are compiled from now on have no source lines: " +
                          lines.error().message);
  }
  // The GC is not there yet: its settings are asked for with the first allocation. .NET 8 cannot
  // leave out the methods of that rundown, and reads metadata of methods that are being made: it
  // ended 2 of some 750 programs with SIGSEGV (of that kind: dotnet/runtime#69375).
  if (fresh && ipc::MajorVersion(process.clr_version) >= kChoosesRundowns) {
    if (Result<OpenedStream> settings = out.link->Open(SettingsSession()); settings.ok())
      out.streams.push_back({settings.Take(), Kind::kSettings});
  }
  if (fresh) return out;
  if (Result<OpenedStream> rundown = out.link->Open(RundownSession(options.lines)); rundown.ok()) {
    out.streams.push_back({rundown.Take(), Kind::kRundown});
  } else {
    out.rundown_failed = true;
    out.notes.push_back("methods that were compiled before cannot be named: " +
                        rundown.error().message);
  }
  return out;
}

}  // namespace clrscope::capture
