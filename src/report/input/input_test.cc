// SPDX-License-Identifier: Apache-2.0
// Which measure is shown where none is named.
#include "report/input/input.h"

#include <gtest/gtest.h>

#include "profile/testing/orders_profile.h"
#include "profile/views/filter.h"

namespace clrscope::report {
namespace {

using profile::Measure;
using profile::testing::OrdersProfile;

// Allocations, and a wait for a lock.
Input WithALock() {
  Input input;
  input.profile = OrdersProfile();
  profile::Figure locks;
  locks.measure = Measure::kLocks;
  locks.source = profile::Source::kContention;
  profile::Estimate e;
  e.samples = 1;
  e.count = 1;
  e.amount = 1e6;
  locks.cells.push_back({1, 0, 0, profile::HeapKind::kUnknown, e, 0});
  input.profile.figures.push_back(locks);
  return input;
}

Measure Shown(Input& input, const profile::Filter& filter) {
  InputOptions options;
  options.filter = filter;
  EXPECT_TRUE(profile::Apply(filter, input.profile).ok());
  EXPECT_TRUE(ShowMeasure(options, input).ok());
  return input.profile.measure();
}

TEST(ShowMeasureTest, AllocationsComeFirst) {
  Input input = WithALock();
  EXPECT_EQ(Shown(input, {}), Measure::kAllocations);
}

TEST(ShowMeasureTest, WhatWasRecordedComesWhereNothingWasAllocated) {
  Input input = WithALock();
  input.profile.shown().cells.clear();
  EXPECT_EQ(Shown(input, {}), Measure::kLocks);
}

TEST(ShowMeasureTest, WithoutAllocationsAFilterIsOfWhatWasRecorded) {
  Input input = WithALock();
  input.profile.shown().cells.clear();
  for (profile::Process& process : input.profile.processes) process.Record(Measure::kLocks);
  EXPECT_EQ(Shown(input, {.type = "NoSuchType"}), Measure::kLocks);
}

TEST(ShowMeasureTest, AnEventThatWasNotRecordedDoesNotLeadToAnotherMeasure) {
  Input input = WithALock();
  input.profile.shown().cells.clear();
  InputOptions options;
  options.event = "tick";
  EXPECT_TRUE(ShowMeasure(options, input).ok());
  EXPECT_EQ(input.profile.measure(), Measure::kAllocations);
}

// "nothing matches --type" is the answer, and not that locks have no types.
TEST(ShowMeasureTest, ATypeThatNothingHasDoesNotLeadToAMeasureWithoutTypes) {
  Input input = WithALock();
  EXPECT_EQ(Shown(input, {.type = "NoSuchType"}), Measure::kAllocations);
}

TEST(EmptyReasonTest, NothingIsSaidToHaveBeenWhereTheStreamWasCut) {
  InputOptions options;
  options.path = "x";
  for (const bool lost : {false, true}) {
    Input input = WithALock();
    for (profile::Figure& figure : input.profile.figures) figure.cells.clear();
    input.profile.shown_index = 1;
    if (lost) input.profile.losses.Add(Loss::kTargetLost);
    EXPECT_EQ(EmptyReason(input, options)->message,
              lost ? "x was recorded with waits for locks, and none came; a program ended in the "
                     "middle of its stream, and what it did last is missing"
                   : "x was recorded with waits for locks, and there were none");
    input.profile.shown().measure = Measure::kExceptions;
    EXPECT_EQ(EmptyReason(input, options)->message.find("an exception that ended it") !=
                  std::string::npos,
              lost);
    input.profile.shown_index = 0;
    EXPECT_EQ(EmptyReason(input, options)->message.find("is missing") != std::string::npos, lost);
    EXPECT_EQ(NoLiveObjects(input, options).message.find("is missing") != std::string::npos, lost);
  }
}

TEST(EmptyReasonTest, WhatElseWasLost) {
  InputOptions options;
  options.path = "x";
  Input input = WithALock();
  input.profile.figures[1].cells.clear();
  input.profile.shown_index = 1;
  input.damage = Error{ErrorCode::kTruncated, "x ends early"};
  input.profile.losses.Add(Loss::kEventsDropped);
  EXPECT_EQ(EmptyReason(input, options)->message,
            "x was recorded with waits for locks, and none came; the file is not complete, "
            "and what follows is missing; events were lost on the way");
}

TEST(EmptyReasonTest, EachLossThatHidesEvents) {
  InputOptions options;
  options.path = "x";
  const auto reason = [&options](Loss loss, bool complete) {
    Input input = WithALock();
    input.profile.figures[1].cells.clear();
    input.profile.shown_index = 1;
    input.profile.losses.Add(loss);
    for (profile::Process& process : input.profile.processes) process.complete = complete;
    return EmptyReason(input, options)->message;
  };
  for (size_t i = 0; i < static_cast<size_t>(Loss::kCount); ++i) {
    const auto loss = static_cast<Loss>(i);
    EXPECT_EQ(reason(loss, true).find("none came") != std::string::npos, Describe(loss).hides)
        << Describe(loss).name;
  }
  EXPECT_TRUE(reason(Loss::kNamesLate, false)
                  .ends_with("the recording of a program was not closed, and what it did last is "
                             "missing"));
}

}  // namespace
}  // namespace clrscope::report
