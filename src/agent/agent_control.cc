// SPDX-License-Identifier: Apache-2.0
// What is asked through the control socket; on the agent's thread.
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/term_signal.h"
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
  collector_.Resend();
}

void Agent::OwnerLeft() {
  if (options_.owned) stop_ = true;
}

Status Agent::Pause() {
  if (paused_.load()) return OkStatus();
  EndInterval(/*last=*/false);
  paused_.store(true);
  sampling_.store(false);
  StopSession();
  return OkStatus();
}

Status Agent::Resume() {
  if (!paused_.load()) return OkStatus();
  RETURN_IF_ERROR(StartSession());
  paused_.store(false);
  interval_start_ns_ = Now();  // nothing is told of the time between
  next_interval_ns_ = interval_start_ns_ + options_.every_ns;
  return OkStatus();
}

std::string Agent::Command(std::string_view line) {
  if (line == "detach") {
    stop_ = true;
    return "ok";
  }
  const auto answer = [](const Status& s) { return s.ok() ? "ok" : "error " + s.error().message; };
  if (line == "stop") return answer(Pause());
  if (line == "start") return answer(Resume());
  if (line == "interval") {
    EndInterval(/*last=*/false);
    next_interval_ns_ = Now() + options_.every_ns;
    return "ok";
  }
  if (line.starts_with("set ")) {
    Result<Options> changed = ChangeOptions(line.substr(4), options_);
    if (!changed.ok()) return answer(changed.error());
    if (changed->every_ns != options_.every_ns) next_interval_ns_ = Now() + changed->every_ns;
    options_ = changed.Take();
    if (!options_.output.empty()) TakeTermSignal(WakeThread, this);
    return "ok";
  }
  if (line == "status") return StatusJson();
  return "error there is no such command";
}

std::string Agent::StatusJson() const {
  const ShardTotals sums = SumShards();
  std::string out = "{\"schema_version\":1,\"pid\":" + std::to_string(::getpid()) + ",\"runtime\":";
  JsonText(out, runtime_);
  const auto add = [&](const char* name, uint64_t value) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  out += ",\"event\":";
  JsonText(out, profile::EventName(source_));
  out += std::string(",\"sampling\":") +
         (!paused_.load() && (sampling_.load() || source_ == profile::Source::kCounted) ? "true"
                                                                                        : "false");
  out += std::string(",\"stopped\":") + (paused_.load() ? "true" : "false");
  out += std::string(",\"attached\":") + (attached_ ? "true" : "false");
  out += std::string(",\"owned\":") + (options_.owned ? "true" : "false");
  out += std::string(",\"live\":") + (live_ != nullptr ? "true" : "false");
  add("uptime_ms", static_cast<uint64_t>(Now() / kMillisecond));
  add("every_ms", static_cast<uint64_t>(options_.every_ns / kMillisecond));
  add("samples", sums.samples - at_start_.samples);
  add("sample_ns", sums.nanoseconds - at_start_.nanoseconds);
  add("walk_fallbacks", sums.snapshots - at_start_.snapshots);
  const auto ended = [&](const char* name, WalkEnd end) {
    const auto i = static_cast<size_t>(end);
    add(name, sums.ends[i] - at_start_.ends[i]);
  };
  ended("walk_new", WalkEnd::kNew);
  ended("walk_no_rule", WalkEnd::kNoRule);
  ended("walk_stub", WalkEnd::kStub);
  ended("walk_disagree", WalkEnd::kDisagree);
  ended("walk_outside", WalkEnd::kOutside);
  ended("walk_no_room", WalkEnd::kNoRoom);
  add("selftest_equal", sums.equal - at_start_.equal);
  add("selftest_different", sums.different - at_start_.different);
  add("selftest_skipped", sums.skipped - at_start_.skipped);
  add("table_full", sums.full - at_start_.full);
  add("agent_cpu_ns", static_cast<uint64_t>(ClockNs(CLOCK_THREAD_CPUTIME_ID)));
  add("handles", live_ == nullptr ? 0 : live_->size());
  add("generations_derived", live_ == nullptr ? 0 : live_->derived());
  add("frames", code_.frame_count());
  add("methods", names_.methods().size());
  add("types", names_.types().size());
  add("sessions_again", sessions_again_);
  add("retired", retired_);
  add("files", spooled_);
  add("files_failed", spool_failed_);
  add("frames_dropped", frames_dropped_);
  out += ",\"failure\":";
  JsonText(out, failure_);
  return out + "}";
}

}  // namespace clrscope::agent
