// SPDX-License-Identifier: Apache-2.0
#include "dac/guarded.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <csignal>

namespace clrscope::dac {
namespace {

// A page that may not be read, as address 0 is none that a sanitizer lets through.
class Gone {
 public:
  Gone() : page_(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Gone() { ::munmap(page_, 4096); }
  HResult Read() const { return *static_cast<volatile HResult*>(page_); }

 private:
  void* page_;
};

HResult Compute() {
  volatile uint32_t turns = 0;
  for (uint32_t i = 0; i < 1'000'000; ++i) turns = turns + i;
  return kOk;
}

TEST(Guarded, ACallThatFaultsFailsAndIsCounted) {
  CatchFaults();
  const Gone gone;
  const uint64_t before = Faults();
  for (uint64_t n = 1; n <= 100; ++n) {
    EXPECT_FALSE(Succeeds([&] { return gone.Read(); }));
    EXPECT_EQ(Faults(), before + n);
  }
}

TEST(Guarded, ACallThatNeverEndsIsEnded) {
  CatchFaults();
  const Gone gone;
  // Also after a fault in our own code.
  EXPECT_FALSE(Succeeds([&] {
    const OurCode reads;
    return gone.Read();
  }));
  const uint64_t before = Faults();
  EXPECT_FALSE(Succeeds([]() -> HResult {
    while (true) Compute();
  }));
  EXPECT_EQ(Faults(), before + 1);
  EXPECT_TRUE(Succeeds([] { return kOk; })) << "the next one has its own time";
  EXPECT_EQ(Faults(), before + 1);
}

TEST(Guarded, AnOverdueCallMayEndByItselfAndFails) {
  CatchFaults();
  const uint64_t before = Faults();
  EXPECT_FALSE(Succeeds([] {
    while (!Overdue()) Compute();
    return kOk;
  }));
  EXPECT_EQ(Faults(), before + 1);
  EXPECT_FALSE(Overdue());
}

TEST(Guarded, OurOwnCodeIsNotCutOff) {
  CatchFaults();
  const auto user_cpu = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
  };
  const double until = user_cpu() + 1.5;  // six ticks; a call is ended at the third
  bool whole = false;
  EXPECT_FALSE(Succeeds([&] {
    const OurCode computes;
    while (user_cpu() < until) Compute();
    whole = true;
    return kOk;
  }));
  EXPECT_TRUE(whole);
}

TEST(Guarded, WhatDoesNotFaultIsItsAnswer) {
  CatchFaults();
  const uint64_t before = Faults();
  EXPECT_TRUE(Succeeds([] { return kOk; }));
  EXPECT_FALSE(Succeeds([] { return kFail; }));
  EXPECT_EQ(Faults(), before);
}

TEST(GuardedDeathTest, OutsideOfACallAFaultEndsTheProcess) {
  const Gone gone;
  const auto fault = [&] {
    CatchFaults();
    if (Succeeds([&] { return gone.Read(); })) return;
    gone.Read();
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace clrscope::dac
