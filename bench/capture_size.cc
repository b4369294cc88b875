// SPDX-License-Identifier: Apache-2.0
// How large a capture gets: an hour at 10,000 samples/s over 20,000 distinct (stack, type) pairs,
// through the real fold and writer. Usage: capture_size FILE [SECONDS] [SAMPLES_PER_SECOND] [PAIRS]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analysis/process_fold.h"
#include "store/capture_writer.h"

using namespace clrscope;

namespace {

struct Site {
  std::vector<uint64_t> ips;
  uint64_t type = 0;
  uint32_t size = 0;  // 0: sizes vary
  clr::StackMemo memo;
};

std::string SampledPayload(uint64_t type, uint64_t size) {
  std::string out;
  const auto put = [&out](const void* p, size_t n) { out.append(static_cast<const char*>(p), n); };
  const uint32_t kind = 0;
  const uint16_t clr = 1;
  const uint64_t zero = 0;
  put(&kind, 4);
  put(&clr, 2);
  put(&type, 8);
  for (const char c : fmt::format("T{:x}", type)) {
    const char16_t wide = static_cast<char16_t>(c);
    put(&wide, 2);
  }
  put(&zero, 2);
  put(&zero, 8);
  put(&size, 8);
  put(&zero, 8);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string path = argv[1];
  const auto number = [&](int i, int64_t fallback) {
    return argc > i ? std::atoll(argv[i]) : fallback;
  };
  const int64_t seconds = number(2, 3600), rate = number(3, 10000), pairs = number(4, 20000);
  ::unlink(path.c_str());

  std::mt19937_64 random(1);
  std::vector<Site> sites(static_cast<size_t>(pairs));
  for (Site& s : sites) {
    const size_t depth = 20 + random() % 40;
    // Roots are shared, leaves differ, as in real programs.
    for (size_t i = 0; i < depth; ++i)
      s.ips.push_back(0x7f0000000000 + (i < 8 ? random() % 30000 : i * 100 + random() % 3));
    s.type = 0x7e0000000000 + (random() % 3000) * 8;
    if (random() % 2 == 0) s.size = static_cast<uint32_t>(24 + random() % 25 * 8);
  }
  profile::Recording recording;
  auto writer = store::CaptureWriter::Create(path, &recording);
  if (!writer.ok()) {
    fmt::print(stderr, "{}\n", writer.error().message);
    return 1;
  }
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  analysis::ProcessFold fold(&recording.strings, recording.processes[0].get(), 0, writer->get(),
                             {});
  clr::EventKind kind;
  kind.tag = clr::EventTag::kAllocationSampled;
  // Programs allocate unevenly: some sites are a thousand times hotter than others.
  std::exponential_distribution<double> skew(8.0 / static_cast<double>(pairs));
  for (int64_t second = 0; second < seconds; ++second) {
    for (int64_t i = 0; i < rate; ++i) {
      Site& s = sites[static_cast<size_t>(skew(random)) % sites.size()];
      const uint64_t size = s.size != 0 ? s.size : 24 + random() % 500 * 8;
      const std::string payload = SampledPayload(s.type, size);
      clr::RawEvent e;
      e.kind = &kind;
      e.thread = 100 + random() % 16;
      e.time_ns = second * 1'000'000'000 + i * (1'000'000'000 / rate);
      e.payload = AsBytes(payload.data(), payload.size());
      e.stack = {reinterpret_cast<const std::byte*>(s.ips.data()),
                 static_cast<uint32_t>(s.ips.size()), 8, &s.memo};
      e.stack_state = clr::StackState::kPresent;
      fold.OnEvent(e);
    }
    if (Status status = (*writer)->Commit((second + 1) * 1'000'000'000); !status.ok()) {
      fmt::print(stderr, "{}\n", status.error().message);
      return 1;
    }
  }
  fold.Flush();
  recording.end_ns = seconds * 1'000'000'000;
  if (!(*writer)->Finish(true).ok()) return 1;
  struct stat st {};
  ::stat(path.c_str(), &st);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} s at {} samples/s over {} pairs: file {:.1f} MB, peak memory {:.0f} MB, CPU {:.1f} s\n",
      seconds, rate, pairs, static_cast<double>(st.st_size) / 1e6,
      static_cast<double>(usage.ru_maxrss) / 1024,
      static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec));
}
