// SPDX-License-Identifier: Apache-2.0
// What samples by stops take: the program whose threads are stopped, of the work that it does for
// each second of CPU time; each thread, from the request to stop until it goes on; and the sampler
// itself. Intervals of seconds with and without it take turns.
//   cpu_stops [HZ] [THREADS] [ROUNDS]
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "capture/kernel/stop_sampler.h"

namespace {

using clrscope::capture::StopSampler;

struct Shared {
  std::atomic<uint64_t> pieces{0};
};

class Nothing final : public StopSampler::Sink {
 public:
  void OnSample(const clrscope::capture::StopSample&) override { ++samples; }
  uint64_t samples = 0;
};

double SecondsOf(clockid_t clock) {
  timespec t{};
  (void)::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

[[noreturn]] void Work(Shared& shared) {
  for (;;) {
    for (volatile int i = 0; i < 20'000;) i = i + 1;
    ++shared.pieces;
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto hz = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 99);
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1,
            rounds = argc > 3 ? std::atoi(argv[3]) : 11;
  auto* shared = new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 1; i < threads; ++i) std::thread([shared] { Work(*shared); }).detach();
    Work(*shared);
  }
  clockid_t clock{};
  (void)::clock_getcpuclockid(child, &clock);
  std::vector<double> more, stop_us, longest_us, own_us;
  uint64_t stops = 0;
  const auto per_piece = [&] {
    const uint64_t pieces = shared->pieces;
    const double begin = SecondsOf(clock);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return (SecondsOf(clock) - begin) / static_cast<double>(shared->pieces - pieces);
  };
  for (int i = 0; i < rounds; ++i) {
    const double alone = per_piece(), own = SecondsOf(CLOCK_PROCESS_CPUTIME_ID);
    auto sampler = StopSampler::Open(child, hz);
    if (!sampler.ok()) {
      fmt::print(stderr, "cpu_stops: {}\n", sampler.error().message);
      break;
    }
    (*sampler)->Start();
    const double sampled = per_piece();
    (*sampler)->Stop();
    Nothing sink;
    (*sampler)->Read(sink);
    const StopSampler::Figures f = (*sampler)->figures();
    const auto n = static_cast<double>(std::max<uint64_t>(1, f.stops));
    stops += f.stops;
    more.push_back(100 * (sampled / alone - 1));
    stop_us.push_back(static_cast<double>(f.stopped.count()) / 1e3 / n);
    longest_us.push_back(static_cast<double>(f.longest_stop.count()) / 1e3);
    own_us.push_back((SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - own) * 1e6 / n);
  }
  (void)::kill(child, SIGKILL);
  (void)::waitpid(child, nullptr, 0);
  if (more.empty()) return 1;
  fmt::print(
      "{} samples of {} threads at {} Hz: {:+.2f} % of CPU time for the same work (median of {} "
      "rounds); a stop takes {:.0f} us on average, {:.0f} at the most; a sample takes the sampler "
      "{:.0f} us of CPU\n",
      stops, threads, hz, Median(more), rounds, Median(stop_us), Median(longest_us),
      Median(own_us));
  return 0;
}
