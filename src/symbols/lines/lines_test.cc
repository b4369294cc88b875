// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "symbols/lines/il_map.h"
#include "symbols/lines/line_lookup.h"

namespace clrscope::symbols {
namespace {

constexpr AddressKind kReturn = AddressKind::kReturn, kHere = AddressKind::kInstruction;

uint32_t IlAt(std::vector<IlMapEntry> entries, uint32_t native, AddressKind kind = kHere) {
  return IlMap(std::move(entries)).IlOffsetAt(native, kind);
}

SequencePoint Visible(uint32_t il, uint32_t line) { return {il, 1, line, line, 1, 9}; }
SequencePoint Hidden(uint32_t il) { return {il, 1}; }

TEST(IlMap, TheLastEntryAtOrBeforeTheCode) {
  const std::vector<IlMapEntry> map = {{0, 0}, {10, 5}, {20, 9}};
  EXPECT_EQ(IlAt(map, 0), 0u);
  EXPECT_EQ(IlAt(map, 9), 0u);
  EXPECT_EQ(IlAt(map, 10), 5u);
  EXPECT_EQ(IlAt(map, 1000), 9u);
}

TEST(IlMap, AReturnAddressBelongsToTheCallBeforeIt) {
  const std::vector<IlMapEntry> map = {{0, 0}, {10, 5}, {20, 9}};
  EXPECT_EQ(IlAt(map, 20, kReturn), 5u);  // the call ends the entry of IL 5
  EXPECT_EQ(IlAt(map, 21, kReturn), 9u);
  EXPECT_EQ(IlAt(map, 0, kReturn), 0u);
}

TEST(IlMap, EntriesComeInAnyOrder) {
  // A cold block and a handler are written after what follows them.
  EXPECT_EQ(IlAt({{0, 0}, {60, 30}, {20, 12}, {40, 20}}, 45), 20u);
}

TEST(IlMap, OfEntriesWithOneOffsetRealIlIsPreferred) {
  for (const auto& map : {std::vector<IlMapEntry>{{0, 0}, {10, 7}, {10, -1}},
                          std::vector<IlMapEntry>{{0, 0}, {10, -1}, {10, 7}}})
    EXPECT_EQ(IlAt(map, 12), 7u);
  // Of two that mean IL, the one without length came first.
  EXPECT_EQ(IlAt({{0, 0}, {10, 7}, {10, 8}}, 12), 8u);
}

TEST(IlMap, FromCodeWithoutIlBackToTheLastThatHasIt) {
  const std::vector<IlMapEntry> map = {
      {0, IlMapEntry::kProlog},     {4, 0},   {10, 6},
      {20, IlMapEntry::kNoMapping}, {30, 11}, {40, IlMapEntry::kEpilog}};
  EXPECT_EQ(IlAt(map, 25), 6u);
  EXPECT_EQ(IlAt(map, 44), 11u);
  EXPECT_EQ(IlAt(map, 2), 0u);  // the prologue
}

TEST(IlMap, WithoutAnyIlItIsTheMethodsBegin) {
  EXPECT_EQ(IlAt({{0, -2}, {8, -1}}, 100), 0u);
  EXPECT_EQ(IlAt({}, 100), 0u);
  EXPECT_EQ(IlAt({{50, 9}}, 10), 0u);
}

TEST(LineLookup, TheLastVisiblePointAtOrBefore) {
  const std::vector<SequencePoint> points = {Visible(0, 10), Visible(4, 11), Hidden(8),
                                             Visible(12, 13)};
  EXPECT_EQ(PointAt(points, 3)->start_line, 10u);
  EXPECT_EQ(PointAt(points, 4)->start_line, 11u);
  EXPECT_EQ(PointAt(points, 9)->start_line, 11u);  // the hidden one keeps the line before it
  EXPECT_EQ(PointAt(points, 500)->start_line, 13u);
}

TEST(LineLookup, BeforeTheFirstVisiblePointItIsThatOne) {
  // As state machines and closures begin.
  const std::vector<SequencePoint> points = {Hidden(0), Hidden(7), Visible(10, 11)};
  EXPECT_EQ(PointAt(points, 8)->start_line, 11u);
  EXPECT_EQ(PointAt(std::vector<SequencePoint>{Visible(5, 3)}, 1)->start_line, 3u);
}

TEST(LineLookup, WhatIsHiddenAfterAStatement) {
  const std::vector<SequencePoint> points = {Hidden(0), Visible(4, 11), Hidden(8), Visible(12, 13)};
  EXPECT_FALSE(IsHidden(points, 2));  // a closure: of the first statement
  EXPECT_FALSE(IsHidden(points, 7));
  EXPECT_TRUE(IsHidden(points, 8));
  EXPECT_TRUE(IsHidden(points, 11));
  EXPECT_FALSE(IsHidden(points, 12));
  EXPECT_FALSE(IsHidden({}, 3));
}

TEST(LineLookup, WithoutVisiblePointsThereIsNoLine) {
  EXPECT_EQ(PointAt({}, 8), nullptr);
  EXPECT_EQ(PointAt(std::vector<SequencePoint>{Hidden(0), Hidden(9)}, 8), nullptr);
}

TEST(LineLookup, FromCodeToLine) {
  const IlMap map({{0, -2}, {6, 0}, {40, 14}, {20, 6}, {30, -1}, {50, -3}});
  const std::vector<SequencePoint> points = {Visible(0, 20), Hidden(5), Visible(12, 22)};
  EXPECT_EQ(PointOfCode(map, points, 35, kReturn)->start_line, 20u);  // no IL → IL 6 → hidden
  EXPECT_EQ(PointOfCode(map, points, 40, kReturn)->start_line, 20u);
  EXPECT_EQ(PointOfCode(map, points, 40, kHere)->start_line, 22u);
}

}  // namespace
}  // namespace clrscope::symbols
