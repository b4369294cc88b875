// SPDX-License-Identifier: Apache-2.0
// Formats are found by name and by the ends of file names.
#include "export/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

std::string_view ByPath(std::string_view path) {
  const auto format = FormatByPath(path);
  return format.ok() ? (*format)->name : "";
}

TEST(RegistryTest, TheLongestEndingDecides) {
  EXPECT_EQ(ByPath("shop.pb.gz"), "pprof");
  EXPECT_EQ(ByPath("shop.pb"), "pprof-raw");
  EXPECT_EQ(ByPath("dir.pb/shop.pprof"), "pprof");
  EXPECT_EQ(ByPath("shop.speedscope.json"), "speedscope");
  EXPECT_EQ(ByPath("shop.FOLDED"), "folded");
  EXPECT_EQ(ByPath("shop.html"), "html");
}

TEST(RegistryTest, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(FormatByPath("shop.xml").error().code, ErrorCode::kUsage);
  EXPECT_NE(FormatByPath("shop.xml").error().message.find(".speedscope.json"), std::string::npos);
  EXPECT_EQ(FormatByName("xml").error().code, ErrorCode::kUsage);
  EXPECT_NE(FormatByName("xml").error().message.find("folded"), std::string::npos);
}

TEST(RegistryTest, NamesAndExtensionsAreDistinctAndFound) {
  std::set<std::string_view> seen;
  for (const Format& format : Formats()) {
    EXPECT_TRUE(seen.insert(format.name).second) << format.name;
    EXPECT_EQ(FormatByName(format.name).value(), &format);
    for (const std::string_view extension : format.extensions) {
      EXPECT_TRUE(seen.insert(extension).second) << extension;
      EXPECT_EQ(ByPath("x" + std::string(extension)), format.name);
    }
  }
}

class CountingSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    size += bytes.size();
    return OkStatus();
  }
  Status Finish() override {
    ++finished;
    return OkStatus();
  }
  size_t size = 0;
  int finished = 0;
};

TEST(RegistryTest, EveryFormatWritesAndLeavesTheSinkOpen) {
  const profile::Profile p = testing::ShopProfile();
  for (const Format& format : Formats()) {
    CountingSink sink;
    const Status status = format.write(p, {}, sink);
    if (format.name == "html" && !status.ok()) {
      // A build without the viewer (-DCLRSCOPE_WEB=off) says so and does nothing else.
      EXPECT_EQ(status.error().code, ErrorCode::kFailed);
      EXPECT_EQ(sink.size, 0u);
      continue;
    }
    EXPECT_TRUE(status.ok()) << format.name << ": " << (status.ok() ? "" : status.error().message);
    EXPECT_GT(sink.size, 100u) << format.name;
    EXPECT_EQ(sink.finished, 0) << format.name;
  }
}

}  // namespace
}  // namespace clrscope::exporter
