// SPDX-License-Identifier: Apache-2.0
#include "cli/man/man_page.h"

#include <gtest/gtest.h>

namespace clrscope::cli {
namespace {

TEST(ManPage, KeepsWhatRoffWouldTakeForItself) {
  EXPECT_EQ(ManText("a-b\\n"), "a\\-b\\en");
  EXPECT_EQ(ManText(".clrscope\n'quoted' `it`\nx.y"),
            "\\&.clrscope\n\\(aqquoted\\(aq \\(gait\\(ga\nx.y");
  EXPECT_EQ(ManText("COMMAND… 12 µs 😀"), "COMMAND\\[u2026] 12 \\[u00B5]s \\[u1F600]");
}

TEST(ManPage, EndsAfterACutCharacter) { EXPECT_EQ(ManText("\xe2\x80").substr(0, 3), "\\[u"); }

TEST(ManPage, ShowsAnOptionWithItsValue) {
  const std::string page =
      ManVerb("ps", "[options]", "Lists.", "  clrscope ps\n",
              {{"Options",
                {{"-o, --output", "FILE", "where to"}, {"", "PID", "a process"}, {"-q", "", ""}}}});
  EXPECT_EQ(page,
            ".SS clrscope ps [options]\nLists.\n.PP\n.nf\n  clrscope ps\n.fi\n.PP\nOptions:\n"
            ".TP\n\\fB\\-o, \\-\\-output\\fR \\fIFILE\\fR\nwhere to\n"
            ".TP\n\\fIPID\\fR\na process\n.TP\n\\fB\\-q\\fR\n\n");
}

}  // namespace
}  // namespace clrscope::cli
