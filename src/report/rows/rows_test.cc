// SPDX-License-Identifier: Apache-2.0
// The rows of reports in JSON, and their text.
#include "report/rows/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profile/tables/thread_state.h"
#include "profile/testing/orders_profile.h"
#include "report/rows/views.h"
#include "report/text/shorten.h"
#include "report/text/table.h"
#include "report/text/tree.h"

namespace clrscope::report {
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

TEST(ReportJsonTest, WallTimeHasStates) {
  profile::Profile p = OrdersProfile();
  profile::Figure wall;
  wall.measure = profile::Measure::kWall;
  wall.source = profile::Source::kThreadWall;
  wall.clock_samples = 40;
  wall.clock_amount = 40e6;
  for (const auto& [state, samples] :
       {std::pair{profile::ThreadState::kRunning, 10}, {profile::ThreadState::kLock, 30}}) {
    profile::Estimate e;
    e.samples = static_cast<uint64_t>(samples);
    e.count = samples;
    e.amount = samples * 1e6;
    wall.cells.push_back(
        {1, 0, 0, profile::HeapKind::kUnknown, e, static_cast<uint32_t>(p.labels.size())});
    p.labels.push_back(
        profile::LabelSet().With(profile::LabelKey::kState, static_cast<uint64_t>(state)));
  }
  p.figures.push_back(wall);
  p.shown_index = p.figures.size() - 1;
  const Json row = FirstRow(p, View::kState);
  EXPECT_EQ(row["state"], "lock");
  EXPECT_EQ(row["samples"], 30);
  EXPECT_EQ(row["wall_ns"], 30'000'000);
  EXPECT_LT(row["wall_ns_low"], 30'000'000);
  EXPECT_GT(row["wall_ns_high"], 30'000'000);
  EXPECT_EQ(row["share"], 0.75);
  EXPECT_FALSE(CheckView(OrdersProfile(), View::kState, {}).ok());
  EXPECT_TRUE(CheckView(p, View::kState, {}).ok());
  EXPECT_FALSE(CheckView(OrdersProfile(), View::kSite, {.state = "lock"}).ok());
  EXPECT_EQ(CheckView(p, View::kMethod, {.type = "Order"}).error().message,
            "--type: wall time has no types");
  EXPECT_EQ(CheckView(p, std::nullopt, {.request = "GET"}).error().message,
            "--request: which request wall time belongs to is not kept");
  EXPECT_EQ(CheckView(p, View::kRequest, {}).error().message,
            "--by request: which request wall time belongs to is not kept");
  EXPECT_TRUE(CheckView(p, View::kMethod, {.method = "Order"}).ok());
}

TEST(ReportJsonTest, FiguresAreIntegersWithinTheirInterval) {
  const Json row = FirstRow(OrdersProfile(), View::kType);
  EXPECT_TRUE(row["bytes"].is_number_integer());
  EXPECT_LE(row["bytes_low"], row["bytes"]);
  EXPECT_GE(row["bytes_high"], row["bytes"]);
}

TEST(ReportJsonTest, UnknownIsNull) {
  profile::Profile p = OrdersProfile();
  p.shown().source = profile::Source::kTick;
  p.shown().counts_known = false;
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
  p.shown().source = profile::Source::kCounted;
  for (profile::Cell& c : p.shown().cells) {
    c.value = profile::EstimateTick(c.value.samples, 1001, 91);  // as counted: no variance
    c.value.seen_amount = c.value.amount;
    c.value.seen_count = c.value.count;
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

// Three waits for thread 77 in `Orders.Program.Main`, two elsewhere, one untold.
profile::Profile LocksProfile() {
  profile::Profile p = OrdersProfile();
  profile::Figure& figure = p.At(profile::Measure::kLocks);
  figure.source = profile::Source::kContention;
  const auto frame_of = [&p](std::string_view raw) {
    for (uint64_t i = 0; i < p.frames.size(); ++i)
      if (p.str(p.frames[i].raw) == raw) return i + 1;
    return uint64_t{0};
  };
  const auto add = [&](uint64_t owner, uint64_t holding, double count) {
    profile::Cell c;
    c.node = 1;
    c.labels = static_cast<uint32_t>(p.labels.size());
    p.labels.push_back(profile::LabelSet()
                           .With(profile::LabelKey::kOwner, owner)
                           .With(profile::LabelKey::kHolding, holding));
    c.value.samples = static_cast<uint64_t>(count);
    c.value.count = count;
    c.value.amount = count * 1e6;
    figure.cells.push_back(c);
  };
  const uint64_t main = frame_of("Orders.Program.Main()");
  add(77, main, 1);
  add(77, main, 2);
  add(77, main + 1, 2);
  add(77, 0, 1);
  add(78, 0, 1);
  p.shown_index = static_cast<size_t>(&figure - p.figures.data());
  return p;
}

TEST(ReportJsonTest, OwnersTellWhatTheyDidMeanwhile) {
  const profile::Profile p = LocksProfile();
  const ReportTable table = MakeTable(p, View::kOwner, {});
  ASSERT_EQ(table.rows.size(), 2u);
  const Json held = RowJson(table.rows[0], table, p, p.Total());
  EXPECT_EQ(held["owner"], 77);
  EXPECT_EQ(held["count"], 6);
  ASSERT_EQ(held["holding"].size(), 2u);
  EXPECT_EQ(held["holding"][0], (Json{{"method", "Orders.Program.Main"}, {"count", 3}}));
  EXPECT_EQ(held["holding"][1]["count"], 2);
  EXPECT_TRUE(RowJson(table.rows[1], table, p, p.Total())["holding"].is_null());
  const std::string text = TableText(table, p, {});
  EXPECT_NE(text.find("3  Orders.Program.Main\n"), std::string::npos) << text;
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
}  // namespace clrscope::report
