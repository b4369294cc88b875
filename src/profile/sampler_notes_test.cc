// SPDX-License-Identifier: Apache-2.0
#include "profile/sampler_notes.h"

#include <gtest/gtest.h>

#include "profile/testing/orders_profile.h"

namespace clrscope::profile {
namespace {

bool Says(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

TEST(SamplerNotes, WhatTheRuntimeDoesNotReportIsSaidWithWhy) {
  testing::OrdersBuilder b;
  Profile& p = b.p;
  p.processes.assign(1, {});
  Figure wall, cpu;
  wall.source = Source::kThreadWall;
  cpu.source = Source::kThreadCpu;
  EXPECT_EQ(ModesNote(p), "");
  EXPECT_TRUE(Says(SamplerNote(p, wall), "`running` is managed code"));
  EXPECT_TRUE(Says(SamplerNote(p, cpu), "CPU time of native code"));
  EXPECT_EQ(SamplerNote(p, Figure()), "");

  p.processes[0].modes_told = false;
  p.processes[0].runtime = p.strings.Intern(".NET 9.0.22");
  EXPECT_TRUE(Says(ModesNote(p), "the sampler of .NET 9.0.22 does not report it"));
  EXPECT_FALSE(Says(SamplerNote(p, wall), "`running`"));
  EXPECT_TRUE(Says(SamplerNote(p, wall), "`unknown` is the time"));

  p.processes.push_back({});
  EXPECT_TRUE(Says(ModesNote(p), "not known of 1 of the 2 processes: the sampler of"));
  EXPECT_TRUE(Says(SamplerNote(p, wall), "`running` is managed code"));
  p.processes[1].modes_told = false;
  EXPECT_TRUE(Says(ModesNote(p), "fewer than one sample in 1,000"));
}

}  // namespace
}  // namespace clrscope::profile
