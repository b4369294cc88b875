// SPDX-License-Identifier: Apache-2.0
#include "export/gc_html.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/byte_sink.h"
#include "base/units.h"
#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

using nlohmann::json;
using profile::GcRecord;
using profile::Profile;

constexpr int64_t kMiB = 1 << 20;

// A program whose heap grows and is collected: mostly gen0, each tenth gen1, each fiftieth gen2,
// which runs in the background.
void Fill(testing::ProfileBuilder& b, uint32_t gcs, const std::string& name = "orders") {
  Profile& p = b.profile();
  b.Process(4711, name, name + " --serve");
  (void)b.Frame("", "", "");  // frame 0 is the root's
  const uint32_t leaf =
      b.Stack({b.Frame(name, "Acme.Main", "Main"), b.Frame(name, "Acme.Orders.Load", "Load")});
  const uint32_t type = b.Type(name, name);
  std::mt19937 random(8);
  int64_t gen2 = 60 * kMiB, t = 0;
  for (uint32_t i = 1; i <= gcs; ++i) {
    GcRecord r;
    r.number = i;
    r.generation = i % 50 == 0 ? 2 : i % 10 == 0 ? 1 : 0;
    r.type = r.generation == 2 ? 1 : 0;
    r.reason = i % 97 == 0 ? 1 : 0;
    r.flags = profile::kGcComplete | profile::kGcHasStats;
    r.previous_restart_ns = t;
    t += 20 * kMillisecond + static_cast<int64_t>(random() % 20) * kMillisecond;
    r.pause_start_ns = t;
    r.start_ns = t + kMillisecond / 20;
    r.pause_ns =
        kMillisecond / 2 + static_cast<int64_t>(random() % 4000) * 1000 * (r.generation + 1);
    t += r.pause_ns;
    r.end_ns = r.restart_ns = t;
    r.suspend_ns = r.longest_suspend_ns = kMillisecond / 20;
    gen2 = r.generation == 2 ? 60 * kMiB : gen2 + static_cast<int64_t>(random() % 512) * 1024;
    r.size_after = {kMiB, 2 * kMiB, gen2, 30 * kMiB, 3 * kMiB};
    r.promoted = {kMiB / 4, 0, 0, 0, 0};
    r.generations = 5;
    for (size_t g = 0; g < 5; ++g) {
      r.generation_data[g].size_after = r.size_after[g];
      r.generation_data[g].size_before = r.size_after[g] + (g == 0 ? 6 * kMiB : 0);
      r.generation_data[g].non_pinned_survived = r.size_after[g] / 2;
    }
    r.heap_count = 1;
    r.ticked_bytes = {6 * kMiB, 0, 0};
    r.sampled_bytes = 6 * kMiB;
    r.top_types = {{type, 0, 4 * kMiB}};
    r.top_stacks = {{type, leaf, 4 * kMiB}};
    if (r.reason == 1) r.trigger_node = leaf;
    p.gcs.push_back(r);
  }
  p.processes.back().end_ns = p.duration_ns = t + 50 * kMillisecond;
}

json Page(const Profile& p, const GcHtmlOptions& options = {}) {
  return json::parse(GcPageData(analysis::GcReportOf(p), p, options));
}

double SumOfColumn(const json& column) {
  double sum = 0;
  for (const json& v : column) sum += v.is_null() ? 0 : v.get<double>();
  return sum;
}
double Max(const json& column) {
  double max = 0;
  for (const json& v : column) max = std::max(max, v.is_null() ? 0 : v.get<double>());
  return max;
}

TEST(WriteGcHtml, OlderCollectionsAreMergedWithTheirSumsAndLongestPauses) {
  testing::ProfileBuilder b;
  Fill(b, 1000);
  const json whole = Page(b.profile())["processes"][0], merged = [&] {
    GcHtmlOptions few;
    few.max_single = 100;
    few.max_merged = 40;
    return Page(b.profile(), few)["processes"][0];
  }();
  const json &a = whole["columns"], &c = merged["columns"];
  EXPECT_EQ(a["number"].size(), 1000u);
  EXPECT_EQ(c["number"].size(), 100u + 40);
  EXPECT_EQ(SumOfColumn(c["count"]), 1000);
  EXPECT_NEAR(SumOfColumn(c["pause_ms"]), SumOfColumn(a["pause_ms"]), 1);
  EXPECT_NEAR(SumOfColumn(c["pause_ms"]), whole["pause_total_ms"].get<double>(), 1);
  EXPECT_EQ(Max(c["max_pause_ms"]), Max(a["max_pause_ms"]));
  EXPECT_EQ(Max(c["peak_bytes"]), Max(a["peak_bytes"]));
  EXPECT_EQ(SumOfColumn(c["allocated_bytes"]), SumOfColumn(a["allocated_bytes"]));
  EXPECT_EQ(SumOfColumn(c["promoted_bytes"]), SumOfColumn(a["promoted_bytes"]));
  EXPECT_EQ(c["last_number"][39], 900);
  EXPECT_EQ(c["number"][40], 901);
  // Every column has every row; a heap's size is that after the last one of the row.
  for (const auto& [name, column] : c.items()) EXPECT_EQ(column.size(), 140u) << name;
  EXPECT_EQ(c["gen2_bytes"][39], a["gen2_bytes"][899]);
  EXPECT_EQ(merged["gcs"], 1000);
}

TEST(WriteGcHtml, UnknownStaysUnknown) {
  testing::ProfileBuilder b;
  b.Process(1, "old");
  GcRecord r;
  r.number = 3;
  r.start_ns = r.end_ns = 5 * kMillisecond;
  r.size_after = {1, 2, 3, 4, -1};  // before there was a POH
  b.profile().gcs.push_back(r);
  const json c = Page(b.profile())["processes"][0]["columns"];
  EXPECT_TRUE(c["poh_bytes"][0].is_null());
  EXPECT_EQ(c["loh_bytes"][0], 4);
  EXPECT_TRUE(c["pause_ms"][0].is_null());
  EXPECT_TRUE(c["allocated_bytes"][0].is_null());
}

TEST(WriteGcHtml, TheLongestPausesKeepWhatWasAllocatedBeforeThem) {
  testing::ProfileBuilder b;
  Fill(b, 500);
  GcHtmlOptions options;
  options.max_detailed = 10;
  const json page = Page(b.profile(), options);
  const json& details = page["processes"][0]["details"];
  EXPECT_EQ(details.size(), 10u);
  const json& c = page["processes"][0]["columns"];
  double shortest = 1e9;
  for (const auto& [row, detail] : details.items()) {
    shortest = std::min(shortest, c["pause_ms"][std::stoul(row)].get<double>());
    EXPECT_EQ(page["names"][detail["sites"][0][1].get<size_t>()], "Acme.Orders.Load");
    EXPECT_EQ(detail["sites"][0][2], 4 * kMiB);
  }
  size_t longer = 0;
  for (const json& v : c["pause_ms"]) longer += v.get<double>() > shortest ? 1u : 0u;
  EXPECT_LE(longer, 10u);
}

std::string GcHtml(const Profile& p) {
  StringSink sink;
  const Status status = WriteGcHtml(analysis::GcReportOf(p), p, {}, sink);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return sink.text();
}

// Skipped in a build without the page (-DCLRSCOPE_WEB=off).
class WriteGcHtmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StringSink sink;
    const Profile none;
    const Status status = WriteGcHtml(analysis::GcReportOf(none), none, {}, sink);
    if (status.ok()) return;
    EXPECT_NE(status.error().message.find("built without its web page"), std::string::npos);
    GTEST_SKIP() << status.error().message;
  }
};

TEST_F(WriteGcHtmlTest, AHundredThousandCollectionsAreUnderTenMegabytes) {
  testing::ProfileBuilder b;
  Fill(b, 100'000);
  EXPECT_LT(GcHtml(b.profile()).size(), 10'000'000u);
}

// Pages for the browser test (web/test/gc.browser.test.mjs) and for people to look at, kept where
// CLRSCOPE_HTML_OUT names a directory.
TEST_F(WriteGcHtmlTest, WritesPagesForTheBrowserTest) {
  const char* directory = std::getenv("CLRSCOPE_HTML_OUT");
  const auto write = [&](const char* name, const Profile& p) {
    const std::string page = GcHtml(p);
    EXPECT_TRUE(page.ends_with("</html>\n")) << name;
    if (directory != nullptr)
      std::ofstream(std::string(directory) + "/" + name, std::ios::binary) << page;
  };
  testing::ProfileBuilder shop, many, hostile, empty;
  Fill(shop, 400);
  write("gc.html", shop.profile());
  Fill(many, 100'000);
  write("gc-many.html", many.profile());
  Fill(hostile, 60, "</script><img src=x onerror=alert(1)>\xe2\x80\xa8\xe2\x80\xae\x01");
  write("gc-hostile.html", hostile.profile());
  empty.Process(1, "idle");
  write("gc-empty.html", empty.profile());
}

}  // namespace
}  // namespace clrscope::exporter
