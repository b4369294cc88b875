// SPDX-License-Identifier: Apache-2.0
// The table of tables, and those that are short.
#include "store/query_tables.h"

#include "analysis/families/gc/gc_causes.h"
#include "analysis/families/gc/gc_report.h"
#include "base/loss.h"
#include "clr/gc_names.h"
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Profile;

constexpr std::string_view kSampleColumns =
    "start_s real, end_s real, process text, pid integer, type text, kind text, method text, "
    "module text, "
    "leaf_method text, samples integer, bytes real, objects real, event text, stack_id integer, "
    "type_key integer, "
    "process_key integer, request text";

std::unique_ptr<TableCursor> Processes(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(Numbers(p.processes.size()), [&p](uint32_t i, int column, sqlite3_context* out) {
    const profile::Process& process = p.processes[i];
    switch (column) {
      case 0:
        return Put(out, i);
      case 1:
        return PutProcess(out, p, i);
      case 2:
        return Put(out, process.pid);
      case 3:
        return PutKnown(out, p.str(process.command_line));
      case 4:
        return PutKnown(out, p.str(process.runtime));
      case 5:
        return PutKnown(out, p.str(process.os));
      case 6:
        return PutKnown(out, p.str(process.arch));
      case 7:
        return PutSeconds(out, process.start_ns);
      case 8:
        return PutSeconds(out, process.end_ns);
      case 9:
        return PutFlag(out, process.complete);
      default:
        return Put(out, p.EventOf(i));
    }
  });
}

std::unique_ptr<TableCursor> Counts(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<uint32_t> counted;
  for (uint32_t i = 0; i < p.processes.size(); ++i)
    if (p.processes[i].counting.events != 0) counted.push_back(i);
  return List(std::move(counted), [&p](uint32_t i, int column, sqlite3_context* out) {
    const profile::Counting& counting = p.processes[i].counting;
    constexpr std::string_view kModes[] = {"", "low", "high", "all"};
    switch (column) {
      case 0:
        return PutProcess(out, p, i);
      case 1:
        return Put(out, p.processes[i].pid);
      case 2:
        return PutKnown(out, kModes[static_cast<size_t>(counting.mode)]);
      case 3:
        return PutFlag(out, p.exact());
      case 4:
        return Put(out, counting.events);
      case 5:
        return Put(out, counting.loh_threshold);
      case 6:
        return Put(out, counting.added);
      case 7:
        return Put(out, counting.guessed);
      case 8:
        return counting.gc_known ? Put(out, counting.gc_bytes) : void();
      default: {
        const std::optional<uint64_t> missing = counting.MissingHigh();
        return missing ? Put(out, *missing) : void();
      }
    }
  });
}

// A GC with what follows from those around it.
struct GcQueryRow {
  const profile::PackedGc* gc;
  analysis::GcFlow flow;
};

std::unique_ptr<TableCursor> Gcs(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<GcQueryRow> rows;
  for (const analysis::ProcessGcs& process : analysis::GcReportOf(p))
    for (size_t i = 0; i < process.gcs.size(); ++i)
      rows.push_back({&process.gcs[i], process.figures.flows()[i]});
  return List(std::move(rows), [&p](const GcQueryRow& row, int column, sqlite3_context* out) {
    const profile::PackedGc& r = *row.gc;
    const analysis::GcFlow& f = row.flow;
    switch (column) {
      case 0:
        return PutProcess(out, p, r.process);
      case 1:
        return Put(out, p.processes[r.process].pid);
      case 2:
        return Put(out, r.number);
      case 3:
        return PutKnown(out, int64_t{r.generation});
      case 4:
        return PutKnown(out, int64_t{r.type});
      case 5:
        return PutKnown(out, int64_t{r.reason});
      case 6:
        return r.start_ns == -1 ? void() : PutSeconds(out, r.start_ns);
      case 7:
        return r.end_ns == -1 ? void() : PutSeconds(out, r.end_ns);
      case 8:
      case 9:
      case 10:
      case 11:
      case 12:
        return PutKnown(out, r.Sizes().size_after[static_cast<size_t>(column - 8)]);
      case 13:
        return PutKnown(out, clr::GcTypeName(r.type));
      case 14:
        return PutKnown(out, clr::GcReasonName(r.reason));
      case 15:
        return PutKnownSeconds(out, r.pause_ns);
      case 16:
        return PutKnownSeconds(out, r.suspend_ns);
      case 17:
        return PutKnown(out, analysis::FiguresOf(r.Unpack(), f).before_bytes);
      case 18:
        return PutKnown(out, f.peak_bytes);
      case 19:
        return PutKnown(out, f.promoted_bytes);
      case 20:
        return PutKnown(out, f.allocated_bytes);
      case 21:
        return PutKnown(out, r.pinned_objects);
      case 22:
        return PutKnown(out, int64_t{r.heap_count});
      default:
        return PutFlag(out, r.has(profile::kGcComplete));
    }
  });
}

struct GcCauseRow {
  const profile::GcBrief* gc;
  uint32_t type = 0, frame = 0;
  int64_t bytes = 0;
};

std::unique_ptr<TableCursor> GcCauses(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  const analysis::GcSites sites(p);
  std::vector<GcCauseRow> rows;
  for (const profile::PackedGc& gc : p.gcs) {
    const profile::GcRecord whole = gc.Unpack();
    for (const profile::GcAllocated& a : whole.top_types) rows.push_back({&gc, a.type, 0, a.bytes});
    for (const analysis::GcSite& s : sites.Of(whole))
      rows.push_back({&gc, s.type, s.frame, s.bytes});
  }
  return List(std::move(rows), [&p](const GcCauseRow& row, int column, sqlite3_context* out) {
    switch (column) {
      case 0:
        return PutProcess(out, p, row.gc->process);
      case 1:
        return Put(out, p.processes[row.gc->process].pid);
      case 2:
        return Put(out, row.gc->number);
      case 3:
        return PutKnown(out, p.str(p.types[row.type].name));
      case 4:
        return row.frame == 0 ? void() : PutKnown(out, p.str(p.frames[row.frame].method));
      case 5:
        return Put(out, row.bytes);
      default:
        return PutKnown(out, row.gc->sampled_bytes);
    }
  });
}

struct MemoryQueryRow {
  uint32_t process;
  profile::MemoryReading reading;
};

std::unique_ptr<TableCursor> MemoryReadings(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<MemoryQueryRow> rows;
  for (uint32_t i = 0; i < p.processes.size(); ++i)
    for (const profile::MemoryReading& reading : p.processes[i].memory)
      rows.push_back({i, reading});
  return List(std::move(rows), [&p](const MemoryQueryRow& row, int column, sqlite3_context* out) {
    const profile::MemoryReading& r = row.reading;
    switch (column) {
      case 0:
        return PutSeconds(out, r.at_ns);
      case 1:
        return PutProcess(out, p, row.process);
      case 2:
        return Put(out, p.processes[row.process].pid);
      case 3:
        return PutKnown(out, r.rss_bytes);
      case 4:
        return PutKnown(out, r.private_bytes);
      case 5:
        return PutKnown(out, r.file_bytes);
      case 6:
        return PutKnown(out, r.shared_bytes);
      case 7:
        return PutKnown(out, r.swap_bytes);
      case 8:
        return PutKnown(out, r.threads);
      default:
        return Put(out, row.process);
    }
  });
}

std::unique_ptr<TableCursor> Losses(const Catalog& c, std::optional<int64_t>) {
  std::vector<std::pair<Loss, uint64_t>> rows;
  c.profile().losses.ForEach([&](Loss loss, uint64_t n) { rows.emplace_back(loss, n); });
  return List(std::move(rows),
              [](const std::pair<Loss, uint64_t>& r, int column, sqlite3_context* out) {
                if (column == 1) return Put(out, r.second);
                Put(out, column == 0 ? Describe(r.first).name : Describe(r.first).sentence);
              });
}

constexpr QueryTable kTables[] = {
    {"samples",
     "what was allocated, by slice of time, stack, type, heap and request; by the event that "
     "reports rest on",
     kSampleColumns, -1, Samples},
    {"all_samples", "the same by every event: never add up different events", kSampleColumns, -1,
     AllSamples},
    {"exceptions", "what was thrown, by slice of time, stack, type and thread",
     "start_s real, end_s real, process text, pid integer, type text, method text, module text, "
     "leaf_method text, thread integer, message text, inner integer, nested integer, count "
     "integer, "
     "rethrows integer, stack_id integer, "
     "type_key integer, process_key integer, request text",
     -1, Exceptions},
    {"locks",
     "waits for locks that were held, by slice of time, stack, thread, owner and what it did",
     "start_s real, end_s real, process text, pid integer, method text, module text, leaf_method "
     "text, thread integer, owner integer, holding text, unfinished integer, count integer, "
     "wait_ns integer, stack_id integer, process_key integer, request text",
     -1, Locks},
    {"waits", "waits that blocked, by slice of time, stack and thread",
     "start_s real, end_s real, process text, pid integer, method text, module text, leaf_method "
     "text, thread integer, unfinished integer, count integer, wait_ns integer, stack_id integer, "
     "process_key integer, request text",
     -1, Waits},
    {"cpu", "CPU time, by slice of time, stack and thread; kind: whose code the leaf is",
     "start_s real, end_s real, process text, pid integer, method text, module text, leaf_method "
     "text, kind text, thread integer, samples integer, cpu_ns integer, stack_id integer, "
     "process_key integer",
     -1, Cpu},
    {"wall", "wall time of threads, by slice of time, stack, thread and state, idle ones too",
     "start_s real, end_s real, process text, pid integer, method text, module text, leaf_method "
     "text, kind text, thread integer, state text, samples integer, wall_ns integer, stack_id "
     "integer, process_key integer",
     -1, Wall},
    {"request_costs", "what each route cost, as `report --by request` has it (record --requests)",
     "request text, process text, pid integer, count integer, unfinished integer, errors integer, "
     "mean_ns integer, p50_ns integer, p95_ns integer, p99_ns integer, max_ns "
     "integer, " CLRSCOPE_FIGURES ", exceptions integer, lock_wait_ns integer, gc_waited_ns "
     "integer, gc_caused_ns integer, queue_ns integer, awaiting_ns integer, cpu_ns integer, "
     "process_key integer",
     -1, RequestCosts},
    {"requests", "the slowest requests, 200 of each process, the slowest first",
     "start_s real, duration_ns integer, request text, path text, process text, pid integer, "
     "finished integer, samples integer, bytes real, exceptions integer, lock_wait_ns integer, "
     "gc_waited_ns integer, queue_ns integer, awaiting_ns integer, process_key integer",
     -1, SlowestRequests},
    {"types", "types with their totals; types(1): those that were only thrown too",
     "type_key integer, type text, raw text, type_id integer, process text, pid "
     "integer, " CLRSCOPE_FIGURES ", thrown integer hidden",
     6 + kFigures, Types},
    {"sites", "allocated type and first method outside the framework",
     "type text, method text, module text, process text, pid integer, type_key integer, method_id "
     "integer, " CLRSCOPE_FIGURES,
     -1, Sites},
    {"methods", "methods; self: allocated by the method itself, total: also by what it calls",
     "method_id integer, method text, module text, raw text, token integer, framework integer, "
     "machinery integer, "
     "self_samples integer, self_bytes real, self_objects real, total_samples integer, total_bytes "
     "real, total_objects real",
     -1, Methods},
    {"stacks", "stacks as text, root first; stacks(ID) is one of them",
     "stack_id integer, depth integer, method text, module text, leaf_method text, stack "
     "text, " CLRSCOPE_FIGURES ", id integer hidden",
     6 + kFigures, Stacks},
    {"frames", "the frames of every stack, depth 0 = leaf; frames(ID) are those of one",
     "stack_id integer, depth integer, method text, module text, method_id integer, framework "
     "integer, machinery integer, "
     "id integer hidden",
     7, Frames},
    {"addresses",
     "addresses of stacks as they were recorded, and their names; leaf_samples, samples: of CPU "
     "time, that end there, that have it on their stack",
     "process text, pid integer, address integer, first_s real, method text, module text, raw "
     "text, kind text, leaf_samples integer, samples integer, process_key integer",
     -1, Addresses},
    {"processes", "the processes that were recorded",
     "process_key integer, process text, pid integer, command_line text, runtime text, os text, "
     "arch text, start_s real, "
     "end_s real, complete integer, event text",
     -1, Processes},
    {"threads", "threads with their totals, by heap",
     "thread integer, process text, pid integer, kind text, " CLRSCOPE_FIGURES, -1, Threads},
    {"gcs", "garbage collections: their pauses, and the heap after each",
     "process text, pid integer, number integer, generation integer, type integer, reason integer, "
     "start_s real, end_s real, "
     "gen0_bytes integer, gen1_bytes integer, gen2_bytes integer, loh_bytes integer, poh_bytes "
     "integer, type_name text, reason_name text, pause_s real, suspend_s real, before_bytes "
     "integer, peak_bytes integer, promoted_bytes integer, allocated_bytes integer, "
     "pinned_objects integer, heaps integer, complete integer",
     -1, Gcs},
    {"gc_causes",
     "what was allocated most since the GC before, of each GC: by type (method is null), and by "
     "site; estimated",
     "process text, pid integer, number integer, type text, method text, bytes integer, all_bytes "
     "integer",
     -1, GcCauses},
    {"live",
     "what lives and has survived a GC (record --live), by stack, type, heap, generation, age and "
     "request; a state, at at_s",
     "process text, pid integer, type text, method text, module text, leaf_method text, kind text, "
     "generation text, age_from_s integer, age_to_s integer, gcs_survived_min integer, "
     "gcs_survived_max integer, gen2_survived_min integer, gen2_survived_max integer, at_s "
     "real, " CLRSCOPE_FIGURES
     ", stack_id integer, type_key integer, process_key integer, request text",
     -1, LiveObjects},
    {"live_ages", "what lived at the end of each interval, by heap and age",
     "at_s real, process text, pid integer, kind text, age_from_s integer, age_to_s "
     "integer, " CLRSCOPE_FIGURES ", process_key integer",
     -1, LiveAges},
    {"turnover",
     "followed objects that a GC first found alive (born) or found dead in an interval, by "
     "stack, type and request",
     "start_s real, end_s real, process text, pid integer, type text, method text, module text, "
     "born integer, born_bytes real, born_objects real, dead integer, dead_bytes real, "
     "dead_objects real, mean_age_at_death_s real, stack_id integer, type_key integer, "
     "process_key integer, request text",
     -1, Turnover},
    {"gc_cpu", "processor time of the garbage collector, by interval",
     "process text, pid integer, start_s real, end_s real, gc_cpu_s real, gc_share real, "
     "server_gc_s real, background_gc_s real, workstation_gc_s real, process_cpu_s real, "
     "process_key integer",
     -1, GcCpu},
    {"agent_intervals", "the intervals of the agent, and what it cost in each",
     "process text, pid integer, start_s real, end_s real, event text, samples integer, sample_s "
     "real, walk_fallbacks integer, agent_cpu_s real, agent_bytes integer, handles integer, "
     "handle_scan_s real, live_mean_bytes real, process_key integer",
     -1, AgentIntervals},
    {"counts",
     "what GCSampledObjectAllocation (--types) counted, per process, and what it may lack",
     "process text, pid integer, mode text, exact integer, events integer, loh_threshold integer, "
     "added_objects integer, guessed_sizes integer, gc_bytes integer, missing_bytes_high integer",
     -1, Counts},
    {"memory_readings",
     "memory of the processes, as the system told it each second; of old readings one of each 10 "
     "s, "
     "then of each minute",
     "at_s real, process text, pid integer, rss_bytes integer, private_bytes integer, file_bytes "
     "integer, shared_bytes integer, swap_bytes integer, threads integer, process_key integer",
     -1, MemoryReadings},
    {"losses", "what was lost, and which figures it touches",
     "name text, count integer, sentence text", -1, Losses},
    {"recording", "one row about the whole",
     "event text, biased integer, start_unix_ns integer, duration_s real, complete "
     "integer, " CLRSCOPE_FIGURES,
     -1, RecordingRow},
};

}  // namespace

std::span<const QueryTable> QueryTables() { return kTables; }

}  // namespace clrscope::store
