// SPDX-License-Identifier: Apache-2.0
#include "export/html.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "export/html_data.h"
#include "export/testing/events.h"
#include "export/testing/full_sink.h"
#include "export/testing/line_profiles.h"
#include "export/testing/page_profiles.h"

namespace clrscope::exporter {
namespace {

using profile::Estimate;
using profile::HeapKind;
using profile::Profile;
using profile::Source;
using testing::ExpectSameSum;
using testing::FillMany;
using testing::FillShop;
using testing::PageBuilder;

std::string Html(const Profile& p, const HtmlOptions& options = {}) {
  StringSink sink;
  const Status status = WriteHtml(p, options, sink);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return sink.text();
}

// What the page's script reads: base64, zlib, container.
std::string Unpack(const std::string& html) {
  const std::string open = "type=\"application/octet-stream\">";
  const size_t begin = html.find(open) + open.size();
  const std::string base64 = html.substr(begin, html.find("</script>", begin) - begin);
  std::string packed;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : base64) {
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) {
      ADD_FAILURE() << "not base64: " << c;
      return {};
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((have += 6) >= 8) packed += static_cast<char>(bits >> (have -= 8) & 0xFF);
  }
  std::string out(256 << 20, '\0');
  uLongf size = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  out.resize(size);
  return out;
}

nlohmann::json JsonOf(const std::string& container) {
  EXPECT_EQ(container.substr(0, 4), "CLRP");
  uint32_t length = 0;
  std::memcpy(&length, container.data() + 8, 4);
  return nlohmann::json::parse(container.substr(12, length));
}

// A column of the container, its planes joined again.
template <class T>
std::vector<T> ColumnOf(const std::string& container, std::string_view name) {
  uint32_t length = 0;
  std::memcpy(&length, container.data() + 8, 4);
  const std::map<std::string, size_t> widths = {{"u8", 1}, {"u32", 4}, {"f32", 4}, {"f64", 8}};
  size_t at = 12 + length;
  const nlohmann::json page = JsonOf(container);
  for (const auto& column : page["columns"]) {
    const size_t n = column["count"], width = widths.at(column["type"]);
    if (column["name"] == name) {
      std::vector<T> out(n);
      for (size_t i = 0; i < n; ++i) {
        char raw[sizeof(T)] = {};
        for (size_t b = 0; b < width; ++b) raw[b] = container[at + b * n + i];
        std::memcpy(&out[i], raw, sizeof(T));
      }
      return out;
    }
    at += n * width;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

double SumOfCells(const std::string& container, const std::string& field) {
  const auto values = ColumnOf<double>(container, "cell_of_" + field);
  double sum = 0;
  for (const uint32_t row : ColumnOf<uint32_t>(container, "cell_value")) sum += values[row];
  return sum;
}

// Skipped in a build without the page (-DCLRSCOPE_WEB=off), where WriteHtml has to say so.
class WriteHtmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StringSink sink;
    const Status status = WriteHtml(Profile{}, {}, sink);
    if (status.ok()) return;
    EXPECT_NE(status.error().message.find("built without its web page"), std::string::npos);
    EXPECT_EQ(sink.text(), "");
    GTEST_SKIP() << status.error().message;
  }
};

TEST_F(WriteHtmlTest, IsOneDocumentWithAStrictPolicyAndNoAddress) {
  PageBuilder b;
  FillShop(b, Source::kSampled);
  const std::string html = Html(b.profile());
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(html.find("<title>orders (4711) - clrscope</title>"), std::string::npos);
  EXPECT_EQ(html.find("<!--clrscope:"), std::string::npos) << "a mark was not filled in";
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST_F(WriteHtmlTest, PageKnowsWhichTypesHaveManySizes) {
  PageBuilder b;
  const uint32_t stack = b.Stack({b.Frame("App", "App.Main", 0)});
  b.Add(stack, b.Type("byte[]"), profile::EstimateSampled(2, 70'000), profile::HeapKind::kSoh);
  b.Add(stack, b.Type("Order"), profile::EstimateSampled(2, 70'000), profile::HeapKind::kSoh);
  b.profile().shown().cells[0].value.many_sizes = true;
  const std::string data = Unpack(Html(b.profile()));
  const auto many = ColumnOf<uint8_t>(data, "cell_of_many_sizes");
  const auto value = ColumnOf<uint32_t>(data, "cell_value");
  ASSERT_EQ(value.size(), 2u);
  EXPECT_EQ(many[value[0]] + many[value[1]], 1) << "of two cells with the same figures";
}

TEST_F(WriteHtmlTest, PageAddsUpToTheProfile) {
  PageBuilder b;
  FillMany(b, 20'000);
  const Estimate total = b.profile().Total();
  HtmlOptions options;
  options.max_nodes = 4'000;
  const std::string data = Unpack(Html(b.profile(), options));
  ExpectSameSum(SumOfCells(data, "samples"), static_cast<double>(total.samples));
  ExpectSameSum(SumOfCells(data, "bytes"), total.amount);
  ExpectSameSum(SumOfCells(data, "objects"), total.count);
  const auto page = JsonOf(data);
  ExpectSameSum(page["views"][0]["total"]["bytes"], total.amount);
  EXPECT_GT(page["foldedNodes"], 0);
  EXPECT_LE(ColumnOf<uint32_t>(data, "node_back").size(), 4'000u);
}

TEST_F(WriteHtmlTest, HostileNamesStayData) {
  PageBuilder b;
  const std::string evil =
      "</script><script>alert(1)</script><!-- \xe2\x80\xa8 \x01 \xe2\x80\xae & \"";
  const std::string broken = "Broken\xff\xc3";
  b.AddProcess(1, evil, evil);
  b.Add(b.Stack({b.Frame(evil, evil), b.Frame(broken, broken)}), b.Type(evil),
        profile::EstimateSampled(9, 100));
  const std::string html = Html(b.profile());
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u) << "the data and the viewer";
  const auto strings = JsonOf(Unpack(html))["strings"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(strings.begin(), strings.end(), evil), strings.end()) << "names stay whole";
}

TEST_F(WriteHtmlTest, EmptyProfileIsAPage) {
  const Profile empty;
  const std::string data = Unpack(Html(empty));
  EXPECT_EQ(ColumnOf<uint32_t>(data, "cell_value").size(), 0u);
  EXPECT_EQ(ColumnOf<uint32_t>(data, "node_back").size(), 1u);
}

TEST_F(WriteHtmlTest, TypesOfOneNameMeetAcrossProcessesButNotWithinOne) {
  PageBuilder b;
  b.AddProcess(1, "a", "");
  b.AddProcess(2, "b", "");
  const uint32_t node = b.Stack({b.Frame("A", "A.Run")});
  b.Add(node, b.Type("T", 0), profile::EstimateSampled(1, 24));
  b.Add(node, b.Type("T", 1), profile::EstimateSampled(1, 24), HeapKind::kSoh, 1);
  Profile& p = b.profile();
  p.types.push_back({p.types[0].name, p.types[0].raw, 77, 0});
  b.Add(node, static_cast<uint32_t>(p.types.size() - 1), profile::EstimateSampled(1, 24));
  const std::string data = Unpack(Html(p));
  EXPECT_EQ(ColumnOf<uint32_t>(data, "type_name").size(), 2u);
  EXPECT_EQ(ColumnOf<uint32_t>(data, "type_dup"), (std::vector<uint32_t>{0, 1}));
}

TEST_F(WriteHtmlTest, ManyStacksStaySmallAndQuick) {
  PageBuilder b;
  FillMany(b, 100'000);
  const auto begin = std::chrono::steady_clock::now();
  const std::string html = Html(b.profile());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(html.size(), 10'000'000u);
  // Measured: under 1 s; the bound leaves room for sanitizers and busy machines.
  EXPECT_LT(took.count(), 30.0);
  RecordProperty("bytes", std::to_string(html.size()));
  std::printf("%zu nodes: %zu bytes of HTML in %.2f s\n", b.profile().nodes.size(), html.size(),
              took.count());
}

TEST_F(WriteHtmlTest, PrunesUntilThePageFits) {
  PageBuilder b;
  FillMany(b, 50'000);
  HtmlOptions options;
  options.max_bytes = 600'000;
  const std::string html = Html(b.profile(), options);
  EXPECT_LE(html.size(), 600'000u);
  ExpectSameSum(SumOfCells(Unpack(html), "bytes"), b.profile().Total().amount);
}

// What lives and the collector's CPU time ride along; what is not there is no view.
TEST_F(WriteHtmlTest, ViewsAreWhatTheRecordingHolds) {
  PageBuilder b;
  FillShop(b, Source::kSampled);
  Profile& p = b.profile();
  const auto shows = [](const nlohmann::json& page) {
    std::vector<std::string> names;
    for (const auto& view : page["views"]) names.push_back(view["shows"]);
    return names;
  };
  EXPECT_EQ(shows(JsonOf(Unpack(Html(p)))), (std::vector<std::string>{"allocated"}));

  p.processes[0].followed = true;
  p.processes[0].live_at_ns = 50'000'000'000;
  for (uint8_t age = 0; age < 6; ++age) {
    profile::LiveCell c;
    c.node = p.shown().cells[age].node;
    c.type = p.shown().cells[age].type;
    c.age_bucket = age;
    c.value = profile::EstimateSampled(1, 1'000);
    p.At(profile::Measure::kLive).lives.push_back(c);
    p.At(profile::Measure::kLive)
        .live_ages.push_back({age * 10'000'000'000, 0, HeapKind::kSoh, age, c.value});
  }
  profile::GcCpuRow cpu;
  cpu.end_ns = 60'000'000'000;
  cpu.process_ns = 8'000'000'000;
  cpu.server_gc_ns = 2'000'000'000;
  p.At(profile::Measure::kGcCpu).gc_cpu = {cpu};
  const std::string data = Unpack(Html(p));
  const auto page = JsonOf(data);
  EXPECT_EQ(shows(page), (std::vector<std::string>{"allocated", "live", "gc-cpu"}));
  EXPECT_EQ(page["views"][1]["at"], 50.0);
  EXPECT_EQ(page["views"][1]["total"]["samples"], 6);
  ExpectSameSum(page["views"][0]["total"]["bytes"], p.Total().amount);
  auto ages = ColumnOf<uint8_t>(data, "live_age");
  std::sort(ages.begin(), ages.end());
  EXPECT_EQ(ages, (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ColumnOf<double>(data, "age_at"), (std::vector<double>{0, 10, 20, 30, 40, 50}));
  EXPECT_EQ(ColumnOf<double>(data, "cpu_whole"), std::vector<double>{8});
  EXPECT_EQ(ColumnOf<double>(data, "cpu_workstation"), std::vector<double>{-1});

  p.At(profile::Measure::kLive).live_ages.clear();
  for (int64_t i = 0; i < 5'000; ++i)
    p.At(profile::Measure::kLive)
        .live_ages.push_back(
            {i * 1'000'000'000, 0, HeapKind::kSoh, 2, profile::EstimateSampled(1, 9)});
  const auto moments = ColumnOf<double>(Unpack(Html(p)), "age_at");
  EXPECT_LE(moments.size(), 1'001u);
  EXPECT_EQ(moments.back(), 4'999);
}

// A shop that throws and waits.
void AddEventsTo(Profile& p) {
  const std::vector<profile::Cell> cells = p.figures[0].cells;
  p.types.push_back({p.strings.Intern("Acme.Orders.OutOfStock"),
                     p.strings.Intern("Acme.Orders.OutOfStock"), 4711, 0});
  const auto type = static_cast<uint32_t>(p.types.size() - 1);
  testing::AddEvents(p, profile::Measure::kExceptions, cells[1].node, type, 1'200, 300, 41);
  testing::AddEvents(p, profile::Measure::kExceptions, cells[5].node, type, 40, 0, 42);
  testing::AddEvents(p, profile::Measure::kLocks, cells[5].node, type, 70, 2.5e9, 41);
  testing::AddEvents(p, profile::Measure::kLocks, cells[1].node, type, 900, 4e6, 42);
  profile::Figure& waits = p.figures.emplace_back();  // recorded, and there were none
  waits.measure = profile::Measure::kWaits;
  waits.source = Source::kWait;
}

TEST_F(WriteHtmlTest, EventsAreViewsThatSayWhatTheirNumbersAre) {
  PageBuilder b;
  FillShop(b, Source::kSampled);
  Profile& p = b.profile();
  AddEventsTo(p);
  const std::string data = Unpack(Html(p));
  const auto views = JsonOf(data)["views"];
  ASSERT_EQ(views.size(), 4u);
  EXPECT_EQ(views[0]["shows"], "allocated");
  EXPECT_EQ(views[0]["quantity"]["bytes"]["unit"], "bytes");
  EXPECT_EQ(views[1]["shows"], "exceptions");
  EXPECT_EQ(views[1]["quantity"]["objects"]["heading"], "Thrown");
  EXPECT_EQ(views[1]["total"]["objects"], 1'240);
  EXPECT_EQ(views[1]["amountFirst"], false);
  EXPECT_EQ(views[2]["shows"], "locks");
  EXPECT_EQ(views[2]["typed"], false);
  EXPECT_EQ(views[2]["quantity"]["bytes"]["unit"], "ns");
  EXPECT_EQ(views[2]["total"]["bytes"], 2.504e9);
  EXPECT_EQ(views[3]["total"]["objects"], 0);
  EXPECT_EQ(ColumnOf<uint32_t>(data, "exceptions_value").size(), 2u);
  EXPECT_EQ(ColumnOf<double>(data, "locks_time_bytes"), std::vector<double>{2.504e9});
  EXPECT_EQ(ColumnOf<double>(data, "time_bytes").size(), 60u);

  p.shown_index = 2;
  EXPECT_EQ(JsonOf(Unpack(Html(p)))["views"][0]["shows"], "locks") << "what is shown comes first";
  HtmlOptions alone;
  alone.only_shown = true;
  EXPECT_EQ(JsonOf(Unpack(Html(p, alone)))["views"].size(), 1u);
}

TEST_F(WriteHtmlTest, ReportsWhatTheSinkSays) {
  testing::FullSink sink;
  const Status status = WriteHtml(Profile{}, {}, sink);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "full");
}

// Pages for the browser test (web/test/report.browser.test.mjs) and for people to look at, kept
// where CLRSCOPE_HTML_OUT names a directory.
TEST_F(WriteHtmlTest, WritesPagesForTheBrowserTest) {
  const char* directory = std::getenv("CLRSCOPE_HTML_OUT");
  const auto write = [&](const char* name, const Profile& p, const HtmlOptions& options = {}) {
    const std::string page = Html(p, options);
    EXPECT_TRUE(page.ends_with("</html>\n")) << name;
    if (directory != nullptr)
      std::ofstream(std::string(directory) + "/" + name, std::ios::binary) << page;
  };
  PageBuilder shop, tick, many, hostile;
  FillShop(shop, Source::kSampled);
  write("shop.html", shop.profile());
  AddEventsTo(shop.profile());
  write("events.html", shop.profile());
  shop.profile().losses = {};
  write("events-whole.html", shop.profile());
  FillShop(tick, Source::kTick);
  tick.profile().shown().counts_known = false;
  write("tick.html", tick.profile());
  FillMany(many, 100'000);
  write("many.html", many.profile());
  const std::string evil = "</script><img src=x onerror=alert(1)>\xe2\x80\xa8\xe2\x80\xae\x01";
  hostile.AddProcess(1, evil, evil);
  hostile.Add(hostile.Stack({hostile.Frame(evil, evil)}), hostile.Type(evil),
              profile::EstimateSampled(9, 100));
  write("hostile.html", hostile.profile());
  write("empty.html", Profile{});
  PageBuilder lines;
  testing::FillLines(lines);
  HtmlOptions with_text;
  with_text.source_text = testing::TextOfLines;
  write("lines.html", lines.profile(), with_text);
}

}  // namespace
}  // namespace clrscope::exporter
