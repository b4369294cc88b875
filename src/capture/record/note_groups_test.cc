// SPDX-License-Identifier: Apache-2.0
#include "capture/record/note_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace clrscope::capture {
namespace {

using Notes = std::vector<std::string>;

TEST(NoteGroupsTest, WhatIsTrueOfManyProcessesIsSaidOnce) {
  Notes notes = {"first"};
  for (int pid = 1; pid <= 7; ++pid) {
    notes.push_back(fmt::format("no live objects of process {}, for a reason", pid));
    if (pid < 3) notes.push_back(fmt::format("process {}: the agent is gone", pid));
  }
  notes.emplace_back("process 9: another thing");
  EXPECT_EQ(GroupNotes(notes),
            (Notes{"first", "no live objects of processes 1, 2, 3, 4, 5 and 2 more, for a reason",
                   "processes 1, 2: the agent is gone", "process 9: another thing"}));
}

TEST(NoteGroupsTest, OtherNotesStay) {
  const Notes notes = {"process 1 runs unrecorded", "process 2 runs unrecorded", "process 3", "x"};
  EXPECT_EQ(GroupNotes(notes), notes);
}

}  // namespace
}  // namespace clrscope::capture
