// SPDX-License-Identifier: Apache-2.0
#include "symbols/lines/il_code.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "symbols/lines/line_lookup.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/pe/cli_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

std::vector<std::byte> BodyOf(std::initializer_list<int> bytes) {
  std::vector<std::byte> out;
  for (const int b : bytes) out.push_back(static_cast<std::byte>(b));
  return out;
}

std::vector<uint32_t> OffsetsOf(const IlCode& code) {
  std::vector<uint32_t> out;
  for (const IlCode::Call& call : code.calls) out.push_back(call.il_offset);
  return out;
}

TEST(IlCode, OperandsAreNoInstructions) {
  // ldc.i4 0x28282828, call, switch of one target, ldstr, newobj, ret
  const auto body =
      BodyOf({33 << 2 | 2, 0x20, 0x28, 0x28, 0x28, 0x28, 0x28, 1,    0,    0,    6, 0x45,
              1,           0,    0,    0,    0x28, 0,    0,    0,    0x72, 0x73, 0, 0,
              0x70,        0x73, 1,    0,    0,    6,    0xFE, 0x09, 0x28, 0x28});
  const auto code = ReadIlCode(body);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(OffsetsOf(*code), (std::vector<uint32_t>{5, 24}));
  EXPECT_EQ(code->helpers, std::vector<uint32_t>{19});
}

TEST(IlCode, ClausesOfATryBlock) {
  // A fat header with more sections, 8 bytes of code: throw, leave.s, rethrow; a small section.
  const auto body = BodyOf({0x1B, 0x30, 8,    0,    8,    0,  0, 0, 0, 0, 0, 0, 0x7A, 0xDE, 0, 0xFE,
                            0x1A, 0,    0xDC, 0x2A, 0x01, 28, 0, 0, 0, 0, 0, 0, 3,    3,    0, 4,
                            1,    0,    0,    1,    2,    0,  0, 0, 4, 7, 0, 1, 0,    0,    0, 0});
  const auto code = ReadIlCode(body);
  ASSERT_TRUE(code.ok()) << code.error().message;
  ASSERT_EQ(code->calls.size(), 2u);
  EXPECT_TRUE(code->calls[0].throws);
  EXPECT_TRUE(code->calls[1].throws);
  EXPECT_EQ(code->leaves, std::vector<uint32_t>{1});
  ASSERT_EQ(code->tries.size(), 2u);
  EXPECT_TRUE(code->tries[0].catches);
  EXPECT_TRUE(code->tries[0].Holds(2));
  EXPECT_FALSE(code->tries[0].Holds(3));
  EXPECT_FALSE(code->tries[1].catches);
  EXPECT_EQ(code->tries[1].handler_begin, 7u);
}

TEST(IlCode, DamageIsAnError) {
  EXPECT_FALSE(ReadIlCode({}).ok());
  EXPECT_FALSE(ReadIlCode(BodyOf({0x06 | 0x20, 0x28})).ok());  // more code than there is
  EXPECT_FALSE(ReadIlCode(BodyOf({0x00})).ok());               // no such header
  EXPECT_FALSE(ReadIlCode(BodyOf({0x03, 0x30, 8, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})).ok());
}

// Of every method of an assembly: all of its calls are read, and of none a part.
TEST(IlCode, MethodsOfAnAssembly) {
  const auto bytes = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(bytes, PeLayout::kFile);
  ASSERT_TRUE(image.ok());
  const auto raw = MetadataBytes(*image);
  ASSERT_TRUE(raw.ok());
  const auto metadata = Metadata::Parse(*raw);
  ASSERT_TRUE(metadata.ok());
  size_t methods = 0, calls = 0;
  for (uint32_t row = 1; row <= metadata->RowCount(Table::kMethodDef); ++row) {
    const auto method = FindMethodDef(*metadata, TokenOf(Table::kMethodDef, row));
    if (!method || method->il_rva == 0) continue;
    const auto code = ReadIlCode(image->FromRva(method->il_rva));
    ASSERT_TRUE(code.ok()) << method->name;
    ++methods;
    calls += code->calls.size();
  }
  EXPECT_GT(methods, 20u);
  EXPECT_GT(calls, methods);
}

SequencePoint Line(uint32_t il, uint32_t line) { return {il, 1, line, line, 1, 9}; }

constexpr MapOf kPlain = MapOf::kPlainCode, kOptimised = MapOf::kOptimisedCode;

// Line 10: no call; line 11 calls at 6; line 12 at 14 and 18; line 13 at 25.
class PointOfCallTest : public testing::Test {
 protected:
  PointOfCallTest() {
    for (const uint32_t at : {6u, 14u, 18u, 25u}) code_.calls.push_back({at, false});
  }
  CallPoint At(uint32_t il, uint32_t next, MapOf map = kOptimised) const {
    return PointOfCall(points_, code_, il, next, map);
  }
  std::vector<SequencePoint> points_ = {Line(0, 10), Line(4, 11), Line(12, 12), Line(22, 13)};
  IlCode code_;
};

TEST_F(PointOfCallTest, TheStatementOfTheMap) {
  EXPECT_EQ(At(12, 22).point->start_line, 12u);
  EXPECT_TRUE(At(12, 22).certain);
}

TEST_F(PointOfCallTest, AStatementWithoutCallsIsNotThatOfOne) {
  EXPECT_EQ(At(0, 12).point->start_line, 11u);
  EXPECT_TRUE(At(0, 12).certain);
}

TEST_F(PointOfCallTest, OfSeveralMergedStatementsItIsAny) {
  EXPECT_EQ(At(4, 22).point->start_line, 11u);
  EXPECT_FALSE(At(4, 22).certain);
}

TEST_F(PointOfCallTest, TheMapMayMeanWhatFollowsTheCall) {
  EXPECT_EQ(At(8, 12).point->start_line, 11u);
  EXPECT_EQ(At(8, 12, kPlain).point->start_line, 11u);
  EXPECT_TRUE(At(8, 12).certain);
}

TEST_F(PointOfCallTest, WhereNothingCallsItIsNotCertain) {
  EXPECT_EQ(At(0, 4).point->start_line, 10u);
  EXPECT_FALSE(At(0, 4).certain);
  code_.helpers = {2};  // the runtime may have been called
  EXPECT_TRUE(At(0, 4).certain);
}

TEST_F(PointOfCallTest, WithoutTheIlItIsTheMaps) {
  EXPECT_EQ(PointOfCall(points_, {}, 4, 12, kOptimised).point->start_line, 11u);
  EXPECT_EQ(PointOfCall({}, code_, 4, 12, kOptimised).point, nullptr);
}

TEST_F(PointOfCallTest, AThrowThatIsCaughtHere) {
  code_.calls[1].throws = true;
  code_.tries.push_back({12, 22, 22, 30, true});
  EXPECT_TRUE(At(12, 18).after_throw);
  EXPECT_FALSE(At(18, 22, kPlain).after_throw);
  code_.tries[0].catches = false;
  EXPECT_FALSE(At(12, 18).after_throw);
}

TEST_F(PointOfCallTest, WhatIsHiddenBelongsToTheStatementBeforeButIsTold) {
  points_ = {Line(0, 10), Line(4, 11), Line(12, 0), Line(22, 13)};
  EXPECT_EQ(At(12, 18).point->start_line, 11u);
  EXPECT_TRUE(At(12, 18).hidden);
  EXPECT_TRUE(At(4, 22).hidden);  // one of its calls is
  EXPECT_FALSE(At(4, 12).hidden);
  EXPECT_FALSE(At(22, ~0u).hidden);
}

TEST_F(PointOfCallTest, WhoLeavesATryBlockCallsItsFinally) {
  code_.leaves = {9};
  code_.tries.push_back({4, 11, 22, 30, false});
  EXPECT_EQ(At(8, 12, kPlain).point->start_line, 13u);
  EXPECT_TRUE(At(8, 12, kPlain).certain);
  // Of optimised code it may be either.
  EXPECT_FALSE(At(8, 12).certain);
}

}  // namespace
}  // namespace clrscope::symbols
