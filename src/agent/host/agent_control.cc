// SPDX-License-Identifier: Apache-2.0
// What is asked through the control socket; on the agent's thread.
#include <unistd.h>

#include "agent/host/agent.h"
#include "agent/host/clock.h"
#include "agent/host/term_signal.h"
#include "agent/samples/given_up_handles.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

void JsonText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  out += '"';
}

}  // namespace

void Agent::OwnerCame() {
  // A new reader knows nothing of the dictionaries, and is told what follows from now on.
  (void)ResolveFrames(kSlice);
  (void)Drain();
  profile::IntervalFrame dropped;
  if (sequence_ != 0) collector_.FillFrame(dropped);
  dropped.end_ns = Now();
  TellBudget(dropped);
  collector_.Resend();
  collector_.activities().Resend();
}

void Agent::OwnerLeft() {
  if (options_.owned) stop_ = true;
}

Status Agent::Pause() {
  if (paused_.load()) return OkStatus();
  TellOpenWaits();
  EndInterval(/*last=*/false);
  paused_.store(true);
  sampling_.store(false);
  takes_events_.store(false);
  const UnloadDesk::Closed closed(desk_);
  session_.End(Now());
  event_sessions_.End(Now());
  phase_.Forget();
  return counts() ? SetMask(/*counting=*/false) : OkStatus();
}

Status Agent::Resume() {
  if (!paused_.load()) return OkStatus();
  if (counts()) RETURN_IF_ERROR(SetMask(/*counting=*/true));
  ShardPool::Get().ForEach([](Shard& s) {
    for (OpenWait* wait : {&s.waits.contention, &s.waits.wait}) wait->Tell([] {});
  });
  sampling_.store(samples());
  takes_events_.store(true);
  const UnloadDesk::Closed closed(desk_);
  RestartBudget();
  Status begun = BeginAllocations(/*here=*/false);
  if (begun.ok()) begun = event_sessions_.Want(WantedEvents(), /*here=*/false, Now());
  phase_.Forget();
  if (!begun.ok()) {
    sampling_.store(false);
    takes_events_.store(false);
    session_.End(Now());
    event_sessions_.End(Now());
    return begun;
  }
  paused_.store(false);
  interval_start_ns_ = Now();  // nothing is told of the time between
  next_interval_ns_ = interval_start_ns_ + options_.every_ns;
  return OkStatus();
}

// The runtime tells waits from .NET 9 on.
EventMeasures Agent::WantedEvents() const {
  constexpr int kWaitsSince = 9;
  return {options_.exceptions, options_.locks, options_.waits && major_ >= kWaitsSince};
}

Status Agent::Change(std::string_view text) {
  ASSIGN_OR_RETURN(Options changed, ChangeOptions(text, options_));
  if (changed.every_ns != options_.every_ns) next_interval_ns_ = Now() + changed.every_ns;
  options_ = std::move(changed);
  if (!options_.output.empty()) (void)TakeTermSignal(WakeThread, this);
  if (paused_.load() || WantedEvents() == event_sessions_.measures()) return OkStatus();
  // What an interval holds is all of it.
  TellOpenWaits();
  EndInterval(/*last=*/false);
  next_interval_ns_ = Now() + options_.every_ns;
  const UnloadDesk::Closed closed(desk_);
  return event_sessions_.Want(WantedEvents(), /*here=*/false, Now());
}

// In place of letting go.
void Agent::StopCounting() {
  if (!paused_.load()) EndInterval(/*last=*/true);
  paused_.store(true);
  const UnloadDesk::Closed closed(desk_);
  takes_events_.store(false);
  session_.End(Now());
  event_sessions_.End(Now());
  failure_.clear();
  if (Status s = SetMask(/*counting=*/false); !s.ok()) failure_ = s.error().message;
  GiveBackTermSignal();
  options_.owned = false;
}

std::string Agent::Command(std::string_view line) {
  if (line == "detach") {
    stop_ = true;
    return counts() ? "error it was loaded to count every object, and the runtime lets none go "
                      "that was; it has stopped counting, and stays"
                    : "ok";
  }
  const auto answer = [](const Status& s) { return s.ok() ? "ok" : "error " + s.error().message; };
  if (line == "stop") return answer(Pause());
  if (line == "start") return answer(Resume());
  if (line == "interval") {
    EndInterval(/*last=*/false);
    next_interval_ns_ = Now() + options_.every_ns;
    return "ok";
  }
  if (line.starts_with("set ")) return answer(Change(line.substr(4)));
  if (line == "status") return StatusJson();
  return "error there is no such command";
}

std::string Agent::StatusJson() const {
  const ShardTotals sums = SumShards();
  std::string out = "{\"schema_version\":1,\"pid\":" + std::to_string(::getpid()) +
                    ",\"answers\":true,\"runtime\":";
  JsonText(out, runtime_);
  const auto add = [&](const char* name, uint64_t value) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  out += ",\"event\":";
  JsonText(out, profile::EventName(source_, /*by_callbacks=*/true));
  out +=
      std::string(",\"sampling\":") +
      (!paused_.load() && (counts() || (sampling_.load() && session_.on()) || event_sessions_.on())
           ? "true"
           : "false");
  out += ",\"measures\":[";
  for (const profile::MeasureSpec& m : profile::kMeasureSpecs) {
    if ((Measures() >> static_cast<uint32_t>(m.id) & 1) == 0) continue;
    if (out.back() != '[') out += ',';
    JsonText(out, m.name);
  }
  out += ']';
  out += std::string(",\"stopped\":") + (paused_.load() ? "true" : "false");
  out += std::string(",\"attached\":") + (attached_ ? "true" : "false");
  out += std::string(",\"owned\":") + (options_.owned ? "true" : "false");
  out += std::string(",\"live\":") + (live_ != nullptr ? "true" : "false");
  add("uptime_ms", static_cast<uint64_t>(Now() / kMillisecond));
  add("every_ms", static_cast<uint64_t>(options_.every_ns / kMillisecond));
  add("samples", sums.samples - at_start_.samples);
  add("sample_ns", sums.nanoseconds - at_start_.nanoseconds);
  add("walk_fallbacks", sums.snapshots - at_start_.snapshots);
  add("events", sums.events - at_start_.events);
  add("event_ns", sums.event_ns - at_start_.event_ns);
  add("events_lost", sums.events_lost - at_start_.events_lost);
  const auto ended = [&](const char* name, const auto& now, const auto& before, auto end) {
    const auto i = static_cast<size_t>(end);
    add(name, now[i] - before[i]);
  };
  const auto walk = [&](const char* name, WalkEnd end) {
    ended(name, sums.ends, at_start_.ends, end);
  };
  walk("walk_new", WalkEnd::kNew);
  walk("walk_no_rule", WalkEnd::kNoRule);
  walk("walk_stub", WalkEnd::kStub);
  walk("walk_disagree", WalkEnd::kDisagree);
  walk("walk_outside", WalkEnd::kOutside);
  walk("walk_no_room", WalkEnd::kNoRoom);
  const auto async = [&](const char* name, AsyncEnd end) {
    ended(name, sums.async_ends, at_start_.async_ends, end);
  };
  async("async_all", AsyncEnd::kAll);
  async("async_new_type", AsyncEnd::kNewType);
  async("async_no_box", AsyncEnd::kNoBox);
  async("async_ambiguous", AsyncEnd::kAmbiguous);
  async("async_other", AsyncEnd::kOther);
  async("async_unreadable", AsyncEnd::kUnreadable);
  async("async_too_deep", AsyncEnd::kTooDeep);
  add("async_several", sums.async_several - at_start_.async_several);
  add("async_ns", sums.async_ns - at_start_.async_ns);
  add("selftest_equal", sums.equal - at_start_.equal);
  add("selftest_different", sums.different - at_start_.different);
  add("selftest_skipped", sums.skipped - at_start_.skipped);
  add("table_full", sums.full - at_start_.full);
  add("turned_away", sums.turned_away - at_start_.turned_away);
  add("shallow_stacks", sums.shallow - at_start_.shallow);
  add("agent_cpu_ns", static_cast<uint64_t>(ClockNs(CLOCK_THREAD_CPUTIME_ID)));
  add("longest_call_ns", static_cast<uint64_t>(heartbeat_.longest_ns()));
  out += ",\"longest_call\":";
  JsonText(out, heartbeat_.longest());
  add("handles", live_ == nullptr ? 0 : live_->size());
  add("handles_waiting", GivenUpHandles::Get().waiting());
  add("generations_derived", live_ == nullptr ? 0 : live_->derived());
  add("frames", code_.frame_count());
  add("methods", names_.methods().size());
  add("types", names_.types().size());
  add("metadata_by_runtime", ModuleMetadata::opened_by_runtime());
  add("unnamed_code", unnamed_.size());
  add("suspensions", suspensions_);
  add("suspended_ns", suspended_ns_);
  add("dictionaries", collector_.trims() + 1);
  add("shards", ShardPool::Get().count());
  add("agent_bytes", MemoryBytes());
  add("sessions_again", session_.begun_again());
  add("sessions_reminded", event_sessions_.reminded());
  add("session_missing_ms",
      static_cast<uint64_t>((session_.missing_ns(Now()) + event_sessions_.missing_ns(Now())) /
                            kMillisecond));
  add("deaf_intervals", deaf_intervals_);
  add("unloads_missed", desk_.closed());
  add("unloaded_unnamed", collector_.unloaded());
  add("retired", retired_);
  const SpoolThread::Counts files = spool_.counts();
  add("files", files.written);
  add("files_failed", files.failed);
  add("files_dropped", files.dropped);
  add("files_waiting", files.waiting);
  add("frames_dropped", frames_dropped_);
  if (budget_ != nullptr) out += ",\"overhead\":" + budget_->Json();
  out += ",\"failure\":";
  const std::string trouble = Trouble();
  JsonText(out, trouble);
  if (!trouble.empty())
    add("failing_ms", static_cast<uint64_t>((Now() - TroubleSince()) / kMillisecond));
  return out + "}";
}

// The worst first.
std::string Agent::Trouble() const {
  if (!session_.trouble().empty()) return session_.trouble();
  if (event_sessions_.troubled()) return event_sessions_.trouble();
  if (is_deaf())
    return "the program allocates, as its collections show, but the runtime sends no allocation "
           "events";
  if (const std::string error = spool_.counts().error; !error.empty()) return error;
  return failure_;
}

int64_t Agent::TroubleSince() const {
  return !session_.trouble().empty()  ? session_.trouble_since_ns()
         : event_sessions_.troubled() ? event_sessions_.trouble_since_ns()
         : is_deaf()                  ? deaf_since_ns_
                                      : 0;
}

}  // namespace clrscope::agent
