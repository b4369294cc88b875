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

// As `record --types` makes it.
profile::Profile CountedProfile(profile::CountMode mode) {
  profile::Profile p = OrdersProfile();
  p.source = profile::Source::kCounted;
  for (profile::Cell& c : p.cells) {
    c.value = profile::EstimateTick(c.value.samples, 1001, 91);  // as counted: no variance
    c.value.seen_bytes = c.value.bytes;
    c.value.seen_objects = c.value.objects;
  }
  profile::Counting& counting = p.processes[0].counting;
  counting.mode = mode;
  counting.ended = true;
  counting.aligned_low = 4100;
  counting.gc_known = true;
  counting.gc_bytes = 5000;
  return p;
}

TEST(ReportJsonTest, CountedRowsTellWhetherTheyAreExact) {
  profile::Profile p = CountedProfile(profile::CountMode::kAll);
  ASSERT_TRUE(p.exact());
  Json row = FirstRow(p, View::kType);
  ExpectMembers(row, {"average_size", "loh_size_objects", "loh_size_bytes", "loh_size_share"});
  EXPECT_EQ(row["exact"], true);
  EXPECT_EQ(row["bytes_low"], row["bytes"]);
  EXPECT_EQ(row["bytes_high"], row["bytes"]);
  p.types[1].partial = p.types[2].partial = true;
  const ReportTable table = MakeTable(p, View::kType, {});
  for (const ReportRow& r : table.rows) {
    const Json json = RowJson(r, table, p, p.Total());
    EXPECT_EQ(json["exact"], json["type_id"] == 0x7f01) << json.dump();
    EXPECT_EQ(json["bytes_high"] == json["bytes"], json["exact"]) << json.dump();
  }
  p = CountedProfile(profile::CountMode::kLow);
  row = FirstRow(p, View::kType);
  EXPECT_EQ(row["exact"], false);
  EXPECT_EQ(row["bytes_low"], row["bytes"]);
  EXPECT_GT(row["bytes_high"], row["bytes"]);
  EXPECT_GT(row["objects_high"], row["objects"]);
  p.whole = false;  // of a span of time the GC's figure says nothing
  EXPECT_TRUE(FirstRow(p, View::kType)["bytes_high"].is_null());
}

TEST(ReportTextTest, CountsSayExactOrAtLeastAndWhy) {
  Input input;
  input.profile = CountedProfile(profile::CountMode::kAll);
  EXPECT_NE(HeadingText(input, {}).find("Exact:"), std::string::npos);
  const std::string table = TableText(MakeTable(input.profile, View::kType, {}), input.profile, {});
  EXPECT_NE(table.find("Average"), std::string::npos) << table;
  EXPECT_EQ(table.find("~"), std::string::npos) << table;
  input.profile.processes[0].dropped = true;
  EXPECT_NE(HeadingText(input, {.width = 1000})
                .find("At least: every object has its event, but "
                      "events were lost."),
            std::string::npos);
  input.profile = CountedProfile(profile::CountMode::kLow);
  EXPECT_NE(HeadingText(input, {}).find("At least: with --types low"), std::string::npos);
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
