// SPDX-License-Identifier: Apache-2.0
// What a recording says while it runs, and what the program ends with.
#include "cli/terminal/progress.h"

#include <gtest/gtest.h>

#include "cli/exit_code.h"

namespace clrscope::cli {
namespace {

TEST(ExitCodeTest, EveryErrorHasOne) {
  EXPECT_EQ(ExitCodeOf(ErrorCode::kUsage), 2);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kEmpty), 3);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kNotDotnet), 4);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kPermission), 5);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kRefused), 6);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kTruncated), 8);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kIo), 1);
}

TEST(ProgressTest, PartsThatDoNotFitAreLeftOutWhole) {
  capture::Progress p;
  p.elapsed = std::chrono::seconds(3);
  p.recording = 1;
  p.bytes = 964.0 * (1 << 20);
  p.samples = 8142;
  p.gcs = 12;
  const auto line = [&](unsigned columns) {
    return FormatProgress(p, std::chrono::seconds(30), columns);
  };
  EXPECT_EQ(line(79),
            "Recording [#...............] 3/30 s  964 MiB allocated  8,142 samples  12 GCs");
  EXPECT_EQ(line(39), "Recording 3/30 s  964 MiB allocated");
  for (unsigned columns = 1; columns < 120; ++columns) EXPECT_LE(line(columns).size(), columns);
  p.happenings = 42;
  p.samples = 0;
  EXPECT_EQ(line(79), "Recording [#...............] 3/30 s  42 throws and waits  12 GCs");
  p.dropped = 5;  // what went wrong has the first place
  EXPECT_EQ(line(39), "Recording 3/30 s  5 events dropped");
}

}  // namespace
}  // namespace clrscope::cli
