// SPDX-License-Identifier: Apache-2.0
// Which events a recording asks a runtime for.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "ipc/processes/dotnet_process.h"
#include "ipc/protocol/session_config.h"
#include "profile/estimate/counting.h"
#include "profile/estimate/estimate.h"

namespace clrscope::capture {

enum class Sampling : uint8_t { kAuto, kPoisson, kTick };

// The event that a runtime of this version is sampled by. errors: kRefused when it has none such.
Result<profile::Source> ChooseSource(Sampling sampling, std::string_view clr_version);

// Whether such a runtime tells waits beside those for locks: .NET 9 was the first.
bool TellsWaits(std::string_view clr_version);

// Allocations, GCs, and code as it is loaded. `rundown`: let its stop write the rundown too, as a
// stream needs that is to be read on its own.
ipc::SessionConfig AllocationSession(profile::Source source, uint32_t buffer_mb, bool rundown);
// The same without allocations.
ipc::SessionConfig CodeSession(uint32_t buffer_mb, bool rundown);
// GCs and code, with the stacks of who asks for a collection: what goes with AllocationsAlone().
ipc::SessionConfig CollectionSession(uint32_t buffer_mb);
// Allocations, for a moment or all along. Of AllocationTick it has collections too: the runtime
// sends ticks only where it sends these.
ipc::SessionConfig AllocationsAlone(profile::Source source, uint32_t buffer_mb);
// Exceptions that are thrown, and nothing else: a flood of them takes nothing else along. At the
// keyword's higher levels each one would have five more events.
ipc::SessionConfig ExceptionSession(uint32_t buffer_mb);
// The EventCounters of System.Runtime, once a second: how many exceptions there are, what the
// thread pool has. Another tool's are not disturbed: an interval of a second is what they ask for,
// too.
ipc::SessionConfig CounterSession();
// Contended locks; with `waits` every wait that blocks (.NET 9 and later), in one stream, since a
// wait for a lock is told by both.
ipc::SessionConfig LockSession(uint32_t buffer_mb, bool waits);
// What a session of requests may have beside their starts and ends.
struct RequestExtras {
  bool activities = false;  // of the program's ActivitySources, and commands of EF Core
  bool routing = false;     // what RoutingSession() has
  bool statuses = false;    // and of each request, whether it ended with an error
  bool tasks = false;       // what TaskSession() has
};
// Requests of ASP.NET Core as they begin and end, and ids of activities in the events of every
// other session; with what they call. No stacks.
ipc::SessionConfig RequestSession(uint32_t buffer_mb, const RequestExtras& extras = {});
// The route values of each request that a template fits, and the status of each one's end, by a
// DiagnosticListener of ASP.NET Core. The runtime has one filter of these for all sessions: that of
// who came last.
ipc::SessionConfig RoutingSession(uint32_t buffer_mb);
// Tasks and the work items of the pool: what threads do for requests. Only their ids are told, so
// that RequestSession() must be there too.
ipc::SessionConfig TaskSession(uint32_t buffer_mb);
// How many requests there are by route and status, and how many routing matched to each template:
// the runtime's histogram and its counter of matches, once a second. `series`: of both at most.
// Without it another tool's session is joined, and joins this one, whatever limits it has: the
// runtime has one for all.
ipc::SessionConfig RequestCounterSession(std::string_view identifier,
                                         std::optional<uint32_t> series = {});
// The runtime's own sample profiler: a stack of each managed thread, 1,000 times a second, for
// which the program is stopped. It has no setting.
ipc::SessionConfig ThreadSampleSession(uint32_t buffer_mb);
// GCSampledObjectAllocation and nothing else: a flood of it takes nothing else along. The runtime
// arms it at its start only. mode: not kUnknown
ipc::SessionConfig TypeCountSession(profile::CountMode mode, uint32_t buffer_mb);
// What goes with it: the names of types, GCs, code, and AllocationTick, whose sum is what the GC
// handed out. Must be opened before and closed after it: without the names' keyword the runtime
// counts nothing.
ipc::SessionConfig TypeNameSession(bool rundown);
// Nothing but the GC's settings at its stop.
ipc::SessionConfig SettingsSession();
// Precompiled methods at their first call: their only live sign (R2RGetEntryPoint, level 5, and
// therefore a session of its own: level 5 of the GC's keyword would switch AllocationTick on).
ipc::SessionConfig EntryPointSession();
// No event at all: its beginning makes the runtime look again at what sessions ask for.
ipc::SessionConfig ReminderSession();
// Maps of code to IL as methods are compiled: for source lines.
ipc::SessionConfig LineSession(uint32_t buffer_mb);
// Nothing but the rundown at its stop: the methods and modules that are there already, and the GC's
// settings.
// `lines`: with maps of code to IL.
ipc::SessionConfig RundownSession(bool lines);

}  // namespace clrscope::capture
