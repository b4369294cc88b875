// SPDX-License-Identifier: Apache-2.0
// make_live_capture FILE [FOLDER]: ten minutes of a program with a leak (Orders.History.Add, 64 B,
// 2,000 a second), a cache that is refreshed each 100 s (Orders.Prices.Load) and a table that is
// loaded once (Orders.Main), as the agent would have told it; in FOLDER as the files that it would
// have written beside.
#include <cstdio>
#include <string>

#include "agent/spool/spool.h"
#include "analysis/testing/simulated_agent.h"
#include "store/capture_writer.h"

int main(int argc, char** argv) {
  using namespace clrscope;
  namespace testing = analysis::testing;
  if (argc != 2 && argc != 3) return 2;
  testing::SimulatedProgram program;
  const auto never = [](double, double) { return testing::kNeverDies; };
  program.streams = {
      {"string", "System.String.Concat", 200, [](double) { return 1e5; },
       [](double, double u) { return 0.04 * u; }},
      {"Orders.Order", "Orders.History.Add", 64, [](double) { return 2'000.0; }, never},
      {"Orders.Price", "Orders.Prices.Load", 1'000,
       [](double t) { return std::fmod(t, 100) < 10 ? 4'000.0 : 0.0; },
       [](double t, double) { return 100 - std::fmod(t, 100) + 0.5; }},
      {"byte[]", "Orders.Main", 90'000, [](double t) { return t < 5 ? 40.0 : 0.0; }, never}};
  std::vector<profile::IntervalFrame> frames = testing::SimulatedAgent(program, 3).Run();
  for (profile::IntervalFrame& f : frames) {
    f.flows = {{2, 2, profile::HeapKind::kSoh, profile::EstimateSampled(12, 64)}};
    f.cpu = {9'000'000'000, 1'500'000'000, 500'000'000, -1};
  }

  profile::Recording recording;
  recording.start_unix_ns = frames[0].start_unix_ns;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& process = *recording.processes[0];
  process.info.pid = 4321;
  process.info.name = recording.strings.Intern("orders");
  process.info.runtime = recording.strings.Intern(".NET 10.0.14");
  process.info.complete = true;
  auto writer = store::CaptureWriter::Create(argv[1], &recording);
  if (!writer.ok()) {
    std::fprintf(stderr, "%s\n", writer.error().message.c_str());
    return 1;
  }
  analysis::IntervalFold fold(&recording, 0, writer->get(), true);
  std::vector<profile::IntervalMethod> methods;
  std::vector<profile::IntervalType> types;
  std::vector<profile::IntervalNode> nodes;
  for (profile::IntervalFrame& f : frames) {
    if (argc == 3) {
      methods.insert(methods.end(), f.methods.begin(), f.methods.end());
      types.insert(types.end(), f.types.begin(), f.types.end());
      nodes.insert(nodes.end(), f.nodes.begin(), f.nodes.end());
      const std::string path =
          std::string(argv[2]) + "/" + std::to_string(1000 + f.sequence) + ".pb";
      const std::string bytes = agent::EncodePprof(f, {methods, types, nodes}, {}, "Orders");
      if (!agent::WriteAtomically(path, bytes).ok()) return 1;
    }
    recording.end_ns = process.info.end_ns = f.end_ns;
    if (!fold.OnFrame(std::move(f)).ok() || !(*writer)->Commit(recording.end_ns).ok()) return 1;
  }
  return (*writer)->Finish(true).ok() ? 0 : 1;
}
