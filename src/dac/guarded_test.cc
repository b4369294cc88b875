// SPDX-License-Identifier: Apache-2.0
#include "dac/guarded.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <csignal>
#include <ctime>

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
  const uint64_t before = Faults();
  volatile uint64_t turns = 0;
  EXPECT_FALSE(Succeeds([&]() -> HResult {
    while (true) turns = turns + 1;
  }));
  EXPECT_EQ(Faults(), before + 1);
  EXPECT_GT(turns, 0u);
}

TEST(Guarded, AQuestionThatItAsksIsNotCutOff) {
  CatchFaults();
  const auto cpu = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto until = cpu() + std::chrono::milliseconds(1500);  // some six ticks
  EXPECT_TRUE(Succeeds([&] {
    const NotEnded asks;
    while (cpu() < until) {
    }
    return kOk;
  }));
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
