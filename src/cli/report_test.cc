// SPDX-License-Identifier: Apache-2.0
// The rows of reports in JSON, and their text.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/report_rows.h"
#include "cli/report_text.h"
#include "cli/report_tree.h"
#include "cli/shorten.h"
#include "profile/testing/orders_profile.h"

namespace clrscope::cli {
namespace {

using profile::testing::OrdersProfile;

constexpr View kViews[] = {View::kType, View::kSite,   View::kStack,    View::kMethod,
                           View::kKind, View::kThread, View::kAssembly, View::kProcess,
                           View::kTime, View::kTree,   View::kBottomUp};

Json FirstRow(const profile::Profile& p, View view, const RowOptions& options = {}) {
  const ReportTable table = MakeTable(p, view, options);
  return RowJson(table.rows.at(0), table, p, p.Total());
}

void ExpectMembers(const Json& row, std::initializer_list<const char*> names) {
  for (const char* name : names) EXPECT_TRUE(row.contains(name)) << name << " in " << row.dump();
}

TEST(ReportJsonTest, RowsHaveThePromisedMembers) {
  const profile::Profile p = OrdersProfile();
  const auto figures = {"samples", "bytes",       "bytes_low",   "bytes_high",
                        "objects", "objects_low", "objects_high"};
  ExpectMembers(FirstRow(p, View::kType), figures);
  ExpectMembers(FirstRow(p, View::kType), {"type", "kind", "share", "type_id", "raw"});
  ExpectMembers(FirstRow(p, View::kSite), {"type", "module", "method"});
  ExpectMembers(
      FirstRow(p, View::kMethod),
      {"module", "method", "raw", "samples", "self_bytes", "self_bytes_low", "self_bytes_high",
       "total_bytes", "total_bytes_low", "total_bytes_high", "self_objects", "total_objects"});
  const Json stack = FirstRow(p, View::kStack, {.sort = profile::SortBy::kSamples});
  ExpectMembers(stack, figures);
  ASSERT_EQ(stack["frames"].size(), 5u);
  EXPECT_EQ(stack["frames"][0]["method"], "System.Collections.Generic.List<T>.Grow");  // leaf first
  EXPECT_EQ(stack["frames"][4]["raw"], "Orders.Program.Main()");
}

TEST(ReportJsonTest, FiguresAreIntegersWithinTheirInterval) {
  const Json row = FirstRow(OrdersProfile(), View::kType);
  EXPECT_TRUE(row["bytes"].is_number_integer());
  EXPECT_LE(row["bytes_low"], row["bytes"]);
  EXPECT_GE(row["bytes_high"], row["bytes"]);
}

TEST(ReportJsonTest, UnknownIsNull) {
  profile::Profile p = OrdersProfile();
  p.source = profile::Source::kTick;
  p.objects_known = false;
  const Json row = FirstRow(p, View::kType);
  EXPECT_TRUE(row["bytes"].is_number());
  EXPECT_TRUE(row["bytes_low"].is_null());
  EXPECT_TRUE(row["objects"].is_null());
}

TEST(ReportJsonTest, LimitCutsButCountsAll) {
  const ReportTable table = MakeTable(OrdersProfile(), View::kType, {.limit = 1});
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.all_rows, 4u);
}

TEST(ReportTextTest, FitsEveryWidth) {
  Input input;
  input.profile = OrdersProfile();
  for (const size_t width : {80u, 100u, 140u}) {
    const TextOptions options{.width = width};
    for (const View view : kViews) {
      std::string text = HeadingText(input, options);
      if (view == View::kTree || view == View::kBottomUp)
        text += TreeText(BuildCallTree(input.profile, {.bottom_up = view == View::kBottomUp}),
                         input.profile, false, 60, options);
      else if (view == View::kStack)
        text += StacksText(MakeTable(input.profile, view, {}), input.profile, options);
      else
        text += TableText(MakeTable(input.profile, view, {}), input.profile, options);
      for (size_t from = 0; from < text.size();) {
        const size_t end = text.find('\n', from);
        EXPECT_LE(DisplayWidth(text.substr(from, end - from)), width)
            << text.substr(from, end - from);
        from = end + 1;
      }
    }
  }
}

TEST(ReportTextTest, FewSamplesAndTwinsAreMarked) {
  const profile::Profile p = OrdersProfile();
  const std::string text = TableText(MakeTable(p, View::kType, {}), p, {});
  EXPECT_NE(text.find("\n~ "), std::string::npos) << text;
  EXPECT_NE(text.find("0x7f01"), std::string::npos);  // two types are called Orders.Node[]
  EXPECT_EQ(text.find("0x7f03"), std::string::npos);
}

}  // namespace
}  // namespace clrscope::cli
