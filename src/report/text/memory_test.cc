// SPDX-License-Identifier: Apache-2.0
#include "report/text/memory.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace clrscope::report {
namespace {

constexpr int64_t kMiB = 1 << 20;

analysis::MemoryGrowth Growth() {
  analysis::MemoryGrowth m;
  m.from = {10 * kSecond, 100 * kMiB, 80 * kMiB, 20 * kMiB, 0, 0, 9};
  m.to = {40 * kSecond, 224 * kMiB, 203 * kMiB, 21 * kMiB, 0, 0, 9};
  m.gc_from = {8 * kSecond, 10 * kMiB, 0};
  m.gc_to = {39 * kSecond, 10 * kMiB + kMiB / 2, 0};
  m.gc_at_most = kMiB;
  return m;
}

// On one line each: Wrap() has tests of its own.
std::string Text(const analysis::MemoryGrowth& m) { return MemoryText(m, "app (7)", 7, 10000); }

TEST(MemoryText, SaysWhereTheGrowthIs) {
  const std::string text = Text(Growth());
  EXPECT_NE(text.find("app (7): RSS 100 MiB at 0:10, 224 MiB at 0:40: +124 MiB (private +123 MiB, "
                      "mapped files +1.00 MiB); GC heap 10.0 MiB committed at 0:08, 10.5 MiB at "
                      "0:39: +512 KiB\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("outside of the GC's heap, which took at most 1.00 MiB of it: look for it in "
                      "private memory: malloc"),
            std::string::npos)
      << text;
  analysis::MemoryGrowth files = Growth();
  std::swap(files.to.private_bytes, files.to.file_bytes);
  files.from.private_bytes = 10 * kMiB;
  files.from.file_bytes = 90 * kMiB;
  EXPECT_NE(Text(files).find("in mapped files: "), std::string::npos) << Text(files);
}

TEST(MemoryText, AccusesNobody) {
  analysis::MemoryGrowth m = Growth();
  m.gc_at_most = 120 * kMiB;
  EXPECT_EQ(Text(m).find("outside"), std::string::npos);
  m.gc_at_most.reset();
  EXPECT_EQ(Text(m).find("outside"), std::string::npos);
  EXPECT_TRUE(MemoryJson(m)["gc_at_most_bytes"].is_null());
  EXPECT_TRUE(MemoryJson(m)["mostly_outside_gc"].is_null());
}

TEST(MemoryText, WhatIsNotKnownIsNotZero) {
  analysis::MemoryGrowth m = Growth();
  m.gc_from = m.gc_to = {};
  m.from.private_bytes = m.from.file_bytes = m.from.shared_bytes = m.from.swap_bytes = -1;
  m.to = m.from;
  m.to.rss_bytes = 90 * kMiB;
  const std::string text = Text(m);
  EXPECT_NE(text.find("RSS 100 MiB at 0:10, 90.0 MiB at 0:10: -10.0 MiB; GC heap not known"),
            std::string::npos)
      << text;
  const Json json = MemoryJson(m);
  EXPECT_TRUE(json["gc_to"].is_null());
  EXPECT_TRUE(json["from"]["private_bytes"].is_null());
  EXPECT_EQ(json["grown_bytes"], -10 * kMiB);
}

TEST(MemoryText, SwapThreadsAndAHeapThatNobodyCollected) {
  analysis::MemoryGrowth m = Growth();
  m.to.swap_bytes = 6 * kMiB;
  m.to.threads = 25;
  m.gc_to = m.gc_from;
  const std::string text = Text(m);
  EXPECT_NE(text.find("RSS and swap 100 MiB at 0:10, 230 MiB at 0:40: +130 MiB (private +129 MiB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; 9 threads, then 25; GC heap 10.0 MiB committed at 0:08, at the last "
                      "collection\n"),
            std::string::npos)
      << text;
}

TEST(MemoryText, FreeSpaceInTheHeap) {
  analysis::MemoryGrowth m = Growth();
  m.gc_to.committed_bytes = 120 * kMiB;
  m.gc_at_most = 110 * kMiB;
  m.live_bytes = 3 * kMiB;
  EXPECT_NE(Text(m).find("what lives there grew by +3.00 MiB by samples"), std::string::npos)
      << Text(m);
}

}  // namespace
}  // namespace clrscope::report
