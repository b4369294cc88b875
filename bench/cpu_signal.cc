// SPDX-License-Identifier: Apache-2.0
// What a sample of the agent's CPU sampler takes the thread that it is of: signals as the kernel's
// timers send them, at a stack of some depth, and the same signals to an empty handler.
#include "agent/cpu/cpu_signal.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/cpu/cpu_sampler.h"
#include "agent/host/clock.h"

namespace {

using clrscope::agent::ClockNs;
using clrscope::agent::CpuSignal;

constexpr int kSignals = 1'000, kRounds = 21;

void Send(int signal, uintptr_t key) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = reinterpret_cast<void*>(key);  // NOLINT(performance-no-int-to-ptr)
  (void)::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, &info);
}

double NsOfEach(int signal, uintptr_t key) {
  const int64_t begin = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kSignals; ++i) Send(signal, key);
  return static_cast<double>(ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin) / kSignals;
}

__attribute__((noinline)) double AtDepth(int depth, int signal, uintptr_t key) {
  const double ns = depth == 0 ? NsOfEach(signal, key) : AtDepth(depth - 1, signal, key);
  __asm__ volatile("" ::: "memory");  // no tail call
  return ns;
}

size_t Drain() {
  size_t n = 0;
  for (; CpuSignal::ring()->Front() != nullptr; ++n) CpuSignal::ring()->Drop();
  return n;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

}  // namespace

int main() {
  struct sigaction empty {};
  empty.sa_handler = [](int) {};
  (void)::sigaction(SIGUSR1, &empty, nullptr);
  // Of the timer nothing comes: its period is an hour.
  if (!CpuSignal::Take(3'600'000'000'000).ok()) return 1;
  CpuSignal::SetRoom(1);
  uint32_t slot = 0;
  if (CpuSignal::Watch(::getpid(), &slot) != CpuSignal::Made::kMade) return 1;
  const uintptr_t key = CpuSignal::kMostThreads + slot;  // its first generation
  for (const bool bounds : {false, true}) {
    if (bounds) CpuSignal::FindStacks();
    for (const int depth : {10, 50, 100}) {
      std::vector<double> with, without;
      size_t taken = 0;
      for (int i = 0; i < kRounds; ++i) {
        without.push_back(AtDepth(depth, SIGUSR1, key));
        with.push_back(AtDepth(depth, CpuSignal::number(), key));
        taken += Drain();
      }
      fmt::print("{:3} frames, stack {}: {:5.0f} ns a sample, {:5.0f} ns of them a signal's; {}\n",
                 depth, bounds ? "known  " : "unknown", Median(with), Median(without),
                 taken == size_t{kSignals} * kRounds ? "all taken" : "SOME NOT TAKEN");
    }
  }
  CpuSignal::GiveBack();
  return 0;
}
