// SPDX-License-Identifier: Apache-2.0
// What is asked of a process that is recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/process_fold.h"
#include "capture/sessions/providers.h"
#include "ipc/processes/dotnet_process.h"
#include "profile/estimate/counting.h"
#include "profile/tables/process_tables.h"

namespace clrscope::capture {

class StreamKeeper;

// Of each session beside the main one. A thread has a buffer of 100 KB in each until it is read, so
// this is enough for some 1,300 threads that begin within a tenth of a second. Events of threads
// beyond that are lost uncounted: a thread that never wrote has no sequence number to miss.
inline constexpr uint32_t kEventBufferMb = 128;

struct TargetOptions {
  Sampling sampling = Sampling::kAuto;
  // An agent in the process tells what is allocated: no session samples.
  bool agent = false;
  profile::CountMode types = profile::CountMode::kUnknown;  // launched runtimes only
  uint32_t buffer_mb = 256;
  bool exceptions = false, locks = false, waits = false;  // these too; waits brings locks
  bool requests = false;                                  // of ASP.NET Core
  bool every_request = false;                             // at any rate, not in windows of time
  bool activities = false;                                // of its ActivitySources; with requests
  bool actions = false;                                   // conventional routes by MVC's actions
  uint32_t cpu_hz = 0;  // samples of CPU time, a second of it; 0 = none
  // Who takes them; kNone: the kernel where it may, else stops from outside.
  profile::CpuSampler sampler = profile::CpuSampler::kNone;
  bool cpu_may_lack = false;                // where nobody can, the rest is recorded without them
  bool lines = false;                       // source lines
  std::vector<std::string> symbol_folders;  // of this machine, with PDBs
  uint32_t wall_hz = 0;  // looks at each thread, a second, for where it waits; 0 = none
  bool pool = false;     // the thread pool's counters, once a second
  bool allocations = true;
  // What the recording may take of the process's CPU time; 0: no limit.
  double max_overhead = 0;
  // Allocations have a session apart, so that they can be recorded in windows of time.
  bool allocations_apart() const {
    return max_overhead > 0 && allocations && !agent && types == profile::CountMode::kUnknown;
  }
  // It begins with sessions of EventSources, for which a process has to have settled (settling.h).
  bool event_sources() const { return requests || pool; }
  // Where raw streams are kept, for the main session with a rundown of its own at its stop; null:
  // nowhere. Outlives the target.
  StreamKeeper* keeper = nullptr;
  analysis::FoldOptions fold;
};

// What a process that has EventSource switched off can be asked: not what EventSources alone tell.
TargetOptions WhatCanBeAsked(TargetOptions options, const ipc::DotnetProcess& process);

// What it asks of requests, and what that takes the process, of its CPU time, for each.
RequestExtras ExtrasOf(const TargetOptions& options);
double NsPerRequest(const TargetOptions& options);
// What the routing of a request takes it, if it is told, and its status (docs/performance.md).
inline constexpr double kRoutingNsPerRequest = 25'000, kStatusNsPerRequest = 10'000;

}  // namespace clrscope::capture
