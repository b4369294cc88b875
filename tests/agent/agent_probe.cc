// SPDX-License-Identifier: Apache-2.0
// Attaches the agent to a process, takes its frames for some seconds, and prints what they add up
// to as one JSON object: what the live tests hold to the program's own count.
//   agent_probe PID SECONDS [OPTIONS] [--no-attach] [--keep]
// Ends early when the agent does.
#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "capture/agents/agent_link.h"
#include "profile/interval/interval_frame.h"

namespace {

using clrscope::profile::Estimate;
using clrscope::profile::IntervalFrame;
using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kPatience{30'000};

Json ToJson(const Estimate& e) {
  return {{"samples", e.samples},
          {"bytes", e.amount},
          {"objects", e.count},
          {"low", clrscope::profile::AmountInterval(e).low},
          {"high", clrscope::profile::AmountInterval(e).high}};
}

struct Sums {
  Estimate flows;
  std::map<std::string, Estimate> types, lives, old_lives;
  std::map<std::string, uint64_t> losses;
  std::vector<std::string> type_names{"?"}, method_names;
  std::vector<clrscope::profile::IntervalNode> nodes{{0, 0}};
  std::map<std::string, uint64_t> leaves;  // samples by the leaf method
  uint64_t frames = 0, gcs = 0, background_gcs = 0, samples = 0, sample_ns = 0, fallbacks = 0;
  uint64_t agent_cpu_ns = 0, agent_bytes = 0, handles = 0, deepest = 0;
  double births = 0, deaths = 0, live_mean = 0;
  int64_t process_ns = 0, server_ns = 0, background_ns = 0, workstation_ns = 0;
  bool last = false, gap = false;
  std::string runtime;

  void Add(const IntervalFrame& f) {
    gap = gap || (frames != 0 && f.sequence != next_);
    next_ = f.sequence + 1;
    ++frames;
    runtime = f.runtime;
    last = f.last;
    for (const auto& m : f.methods) method_names.push_back(m.method);
    for (const auto& t : f.types) type_names.push_back(t.name);
    for (const auto& n : f.nodes) nodes.push_back(n);
    for (const auto& flow : f.flows) {
      flows += flow.value;
      types[type_names.at(flow.type)] += flow.value;
      if (flow.node != 0) leaves[method_names.at(nodes.at(flow.node).method)] += flow.value.samples;
      uint64_t depth = 0;
      for (uint32_t n = flow.node; n != 0; n = nodes.at(n).parent) ++depth;
      deepest = std::max(deepest, depth);
    }
    lives.clear();
    old_lives.clear();
    for (const auto& l : f.lives) (l.young ? lives : old_lives)[type_names.at(l.type)] += l.value;
    for (const auto& t : f.turnover) {
      births += t.births.count;
      deaths += t.deaths.count;
    }
    for (const auto& gc : f.gcs) {
      ++gcs;
      background_gcs += gc.type == 1 ? 1 : 0;
    }
    samples += f.meter.samples;
    sample_ns += f.meter.sample_ns;
    fallbacks += f.meter.walk_fallbacks;
    agent_cpu_ns += f.meter.agent_cpu_ns;
    agent_bytes = f.meter.agent_bytes;
    handles = f.meter.handles;
    live_mean = f.meter.live_mean_bytes;
    const auto cpu = [](int64_t& sum, int64_t v) { sum += std::max<int64_t>(v, 0); };
    cpu(process_ns, f.cpu.process_ns);
    cpu(server_ns, f.cpu.server_gc_ns);
    cpu(background_ns, f.cpu.background_gc_ns);
    cpu(workstation_ns, f.cpu.workstation_gc_ns);
    for (const auto& [name, count] : f.losses) losses[name] += count;
  }

  Json Report() const {
    Json out = {{"runtime", runtime},
                {"frames", frames},
                {"last", last},
                {"gap", gap},
                {"total", ToJson(flows)},
                {"gcs", gcs},
                {"background_gcs", background_gcs},
                {"births", births},
                {"deaths", deaths}};
    for (const auto& [name, e] : types) out["types"][name] = ToJson(e);
    for (const auto& [name, e] : lives) out["young"][name] = ToJson(e);
    for (const auto& [name, e] : old_lives) out["live"][name] = ToJson(e);
    out["losses"] = losses;
    out["leaves"] = leaves;
    out["deepest"] = deepest;
    out["meter"] = {{"samples", samples},          {"sample_ns", sample_ns},
                    {"fallbacks", fallbacks},      {"agent_cpu_ns", agent_cpu_ns},
                    {"agent_bytes", agent_bytes},  {"handles", handles},
                    {"live_mean_bytes", live_mean}};
    out["cpu"] = {{"process_ns", process_ns},
                  {"server_gc_ns", server_ns},
                  {"background_gc_ns", background_ns},
                  {"workstation_gc_ns", workstation_ns}};
    return out;
  }

 private:
  uint64_t next_ = 0;
};

int Fail(const clrscope::Error& error) {
  fmt::print(stderr, "agent_probe: {}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc < 3) {
    fmt::print(stderr, "usage: agent_probe PID SECONDS [OPTIONS] [--no-attach] [--keep]\n");
    return 2;
  }
  const pid_t pid = std::atoi(argv[1]);
  const auto seconds = std::chrono::duration<double>(std::atof(argv[2]));
  std::string options = "every=500ms,owned=1";
  bool attach = true, keep = false;
  for (int i = 3; i < argc; ++i) {
    const std::string_view a = argv[i];
    if (a == "--no-attach") {
      attach = false;
    } else if (a == "--keep") {
      keep = true;
    } else {
      options += "," + std::string(a);
    }
  }
  const auto deadline = clrscope::ipc::Deadline::After(kPatience);
  if (attach)
    if (const auto s = clrscope::capture::AttachAgent(pid, options, deadline); !s.ok())
      return Fail(s.error());
  auto feed = clrscope::capture::AgentSubscription::Open(pid, deadline);
  if (!feed.ok()) return Fail(feed.error());
  fmt::print("{{\"attached\":{}}}\n", pid);
  std::fflush(stdout);
  Sums sums;
  const auto end = Clock::now() + seconds;
  bool asked = false;
  while (!sums.last) {
    pollfd p{(*feed)->fd(), POLLIN, 0};
    (void)::poll(&p, 1, 50);
    IntervalFrame frame;
    for (;;) {
      auto next = (*feed)->Next(frame);
      if (!next.ok()) {
        fmt::print("{}\n", sums.Report().dump());
        return Fail(next.error());
      }
      if (!*next) break;
      sums.Add(frame);
      if (frame.last) break;
    }
    if (Clock::now() < end || asked) continue;
    asked = true;
    if (keep) break;
    if (const auto s = (*feed)->Command("detach", deadline); !s.ok()) return Fail(s.error());
  }
  fmt::print("{}\n", sums.Report().dump());
  return 0;
}
