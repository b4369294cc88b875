// SPDX-License-Identifier: Apache-2.0
// speedscope JSON, checked against the facts of its schema.
#include "export/speedscope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "export/testing/events.h"
#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

using nlohmann::json;
using testing::ProfileBuilder;

json Write(const profile::Profile& p, const SpeedscopeOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(WriteSpeedscope(p, options, sink).ok());
  return json::parse(sink.text());
}

void ExpectOnly(const json& object, const std::set<std::string>& required,
                const std::set<std::string>& optional) {
  ASSERT_TRUE(object.is_object());
  for (const std::string& key : required) EXPECT_TRUE(object.contains(key)) << key;
  for (const auto& [key, value] : object.items()) {
    EXPECT_TRUE(required.count(key) + optional.count(key) > 0) << key;
  }
}

// The rules of speedscope's file-format-schema.json for sampled profiles, and those that its
// importer adds: as many weights as samples, endValue - startValue = their sum.
void ExpectValid(const json& file) {
  ExpectOnly(file, {"$schema", "profiles", "shared"}, {"activeProfileIndex", "exporter", "name"});
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  ExpectOnly(file["shared"], {"frames"}, {});
  const json& frames = file["shared"]["frames"];
  for (const json& frame : frames) {
    ExpectOnly(frame, {"name"}, {"file", "line", "col"});
    EXPECT_TRUE(frame["name"].is_string());
  }
  ASSERT_FALSE(file["profiles"].empty());
  for (const json& p : file["profiles"]) {
    ExpectOnly(p, {"endValue", "name", "samples", "startValue", "type", "unit", "weights"}, {});
    EXPECT_EQ(p["type"], "sampled");
    EXPECT_TRUE(p["unit"] == "bytes" || p["unit"] == "none" || p["unit"] == "nanoseconds");
    ASSERT_EQ(p["samples"].size(), p["weights"].size());
    int64_t sum = 0;
    for (const json& w : p["weights"]) sum += w.get<int64_t>();
    EXPECT_EQ(sum, p["endValue"].get<int64_t>() - p["startValue"].get<int64_t>());
    for (const json& stack : p["samples"]) {
      for (const json& index : stack) EXPECT_LT(index.get<size_t>(), frames.size());
    }
  }
}

TEST(SpeedscopeTest, OneProcessGivesBytesAndObjects) {
  const json file = Write(testing::ShopProfile());
  ExpectValid(file);
  ASSERT_EQ(file["profiles"].size(), 2u);
  EXPECT_EQ(file["profiles"][0]["unit"], "bytes");
  EXPECT_EQ(file["profiles"][0]["endValue"], 1000001);
  EXPECT_EQ(file["profiles"][1]["unit"], "none");
  EXPECT_EQ(file["profiles"][1]["endValue"], 5003);
  EXPECT_EQ(file["exporter"].get<std::string>().rfind("clrscope@", 0), 0u);
}

TEST(SpeedscopeTest, StacksAreRootFirstAndEndWithTheType) {
  const json file = Write(testing::ShopProfile());
  std::string names;
  for (const json& index : file["profiles"][0]["samples"][0]) {
    names += file["shared"]["frames"][index.get<size_t>()]["name"].get<std::string>() + "|";
  }
  EXPECT_EQ(names, "Acme.Shop.Program.Main|Acme.Shop.Repo<System.String>.Load|byte[]|");
}

TEST(SpeedscopeTest, EveryProcessHasItsOwnProfiles) {
  ProfileBuilder b;
  b.Process(1, "a");
  b.Process(2, "b \"quoted\"");
  const uint32_t node = b.Stack({b.Frame("m", "F\n\x01", "")}), type = b.Type("T", "T");
  b.Cell(node, type, 10, 1, 1, profile::HeapKind::kSoh, 0);
  b.Cell(node, type, 20, 1, 1, profile::HeapKind::kSoh, 1);
  const json file = Write(b.Build());
  ExpectValid(file);
  ASSERT_EQ(file["profiles"].size(), 4u);
  EXPECT_EQ(file["profiles"][2]["name"], "allocated bytes – b \"quoted\" (2)");
  EXPECT_EQ(file["profiles"][2]["endValue"], 20);
}

TEST(SpeedscopeTest, EveryMeasureIsAProfileOfEachQuantity) {
  profile::Profile p = testing::ShopProfile();
  const profile::Cell c = p.figures[0].cells.front();
  testing::AddEvents(p, profile::Measure::kExceptions, c.node, c.type, 12, 0);
  testing::AddEvents(p, profile::Measure::kLocks, c.node, c.type, 2, 5'000);
  testing::AddEvents(p, profile::Measure::kLocks, 0, c.type, 1, 70);
  p.figures.emplace_back().measure = profile::Measure::kWaits;  // recorded, and there were none
  p.figures.back().source = profile::Source::kWait;
  const auto names = [](const json& file) {
    std::vector<std::string> out;
    for (const json& x : file["profiles"])
      out.push_back(x["name"].get<std::string>() + " " + x["unit"].get<std::string>() + " " +
                    std::to_string(x["endValue"].get<int64_t>()));
    return out;
  };
  const json file = Write(p);
  ExpectValid(file);
  EXPECT_EQ(names(file),
            (std::vector<std::string>{"allocated bytes – Acme.Shop (1234) bytes 1000001",
                                      "allocated objects – Acme.Shop (1234) none 5003",
                                      "exceptions: thrown – Acme.Shop (1234) none 12",
                                      "locks: waited – Acme.Shop (1234) nanoseconds 5070",
                                      "locks: waits – Acme.Shop (1234) none 3"}));
  p.shown_index = 2;
  const json locks = Write(p, {.only_shown = true});
  ExpectValid(locks);
  EXPECT_EQ(locks["profiles"].size(), 2u);
  EXPECT_EQ(locks["name"], "waits for locks of Acme.Shop (1234)");
  EXPECT_EQ(locks["shared"]["frames"].size(), 3u) << "two methods and [plumbing], no type";
}

TEST(SpeedscopeTest, AnEmptyProfileIsStillAFileThatOpens) {
  ProfileBuilder b;
  ExpectValid(Write(b.Build()));
}

TEST(SpeedscopeTest, IllFormedTextIsReplacedNotFatal) {
  ProfileBuilder b;
  b.Process(1, "a");
  b.Cell(b.Stack({b.Frame("m", "bad\xff", "")}), b.Type("T", "T"), 10, 1);
  ExpectValid(Write(b.Build()));
}

TEST(SpeedscopeTest, UnknownObjectsAreLeftOut) {
  profile::Profile p = testing::ShopProfile();
  p.shown().counts_known = false;
  EXPECT_EQ(Write(p)["profiles"].size(), 1u);
}

TEST(SpeedscopeTest, TheSameProfileGivesTheSameBytes) {
  StringSink a, b;
  ASSERT_TRUE(WriteSpeedscope(testing::ShopProfile(), {}, a).ok());
  ASSERT_TRUE(WriteSpeedscope(testing::ShopProfile(), {}, b).ok());
  EXPECT_EQ(a.text(), b.text());
}

}  // namespace
}  // namespace clrscope::exporter
