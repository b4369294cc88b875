// SPDX-License-Identifier: Apache-2.0
#include "export/html_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "export/testing/line_profiles.h"
#include "export/testing/page_profiles.h"

namespace clrscope::exporter {
namespace {

using testing::FillLines;
using testing::FillShop;
using testing::PageBuilder;
using testing::TextOfLines;

struct PackedLines {
  nlohmann::json json = nlohmann::json::object();
  Columns columns;
};

PackedLines Pack(const profile::Profile& p, const SourceTextOf& texts, uint64_t room = 1'000'000,
                 uint32_t nodes = 1'000) {
  PackedLines out;
  PageTexts read(texts, room);
  PackLines(p, PrunePage(p, nodes), read, out.columns, out.json);
  return out;
}

std::vector<std::string> NamesOf(const PackedLines& packed, const char* key) {
  std::vector<std::string> out;
  for (const auto& file : packed.json["sources"])
    out.push_back(file.contains(key) ? file[key].get<std::string>() : "-");
  return out;
}

TEST(HtmlLinesTest, APageWithoutLinesIsWhatItWas) {
  PageBuilder b;
  FillShop(b, profile::Source::kSampled);
  bool asked = false;
  const PackedLines packed = Pack(b.profile(), [&](uint32_t) {
    asked = true;
    return SourceText{};
  });
  EXPECT_TRUE(packed.json.empty());
  EXPECT_TRUE(packed.columns.index().empty());
  EXPECT_FALSE(asked);
}

TEST(HtmlLinesTest, FilesComeByWeightWithTextAndHttpsAlone) {
  PageBuilder b;
  FillLines(b);
  const PackedLines packed = Pack(b.profile(), TextOfLines);
  EXPECT_EQ(NamesOf(packed, "path"),
            (std::vector<std::string>{"/src/shop/Load.cs", "C:\\src\\shop\\Price.cs",
                                      "/src/shop/Audit.cs"}));
  EXPECT_EQ(NamesOf(packed, "url"),
            (std::vector<std::string>{
                "https://raw.githubusercontent.com/acme/shop/0123abcd/Load.cs", "", ""}));
  EXPECT_EQ(NamesOf(packed, "without"), (std::vector<std::string>{"-", "absent", "another"}));
  const auto& load = packed.json["sources"][0];
  EXPECT_EQ(load["checked"], true);
  EXPECT_NE(load["text"].get<std::string>().find(testing::kHostileLine), std::string::npos)
      << "the text is whole";
  // Lines 12, 20, 21, 24 of the first file, one of each other; a node that has none is 0.
  std::vector<std::pair<std::string, size_t>> counts;
  for (const auto& column : packed.columns.index())
    counts.emplace_back(column["name"], column["count"]);
  EXPECT_EQ(counts, (std::vector<std::pair<std::string, size_t>>{
                        {"node_line", 8}, {"line_file", 6}, {"line_number", 6}, {"line_sure", 6}}));
}

TEST(HtmlLinesTest, TextThatDoesNotFitIsLeftOutAndSaid) {
  PageBuilder b;
  FillLines(b);
  const PackedLines packed = Pack(b.profile(), TextOfLines, 100);
  EXPECT_EQ(NamesOf(packed, "without"), (std::vector<std::string>{"size", "absent", "another"}));
  EXPECT_EQ(packed.json.dump().find("new Order"), std::string::npos);
}

TEST(HtmlLinesTest, FilesOfFoldedNodesStayOut) {
  PageBuilder b;
  FillLines(b);
  const PackedLines packed = Pack(b.profile(), TextOfLines, 1'000'000, 5);
  EXPECT_EQ(NamesOf(packed, "path"), std::vector<std::string>{"/src/shop/Load.cs"});
}

TEST(HtmlLinesTest, TextsAreAskedForOnce) {
  PageBuilder b;
  FillLines(b);
  int asked = 0;
  PageTexts texts(
      [&](uint32_t file) {
        ++asked;
        return TextOfLines(file);
      },
      1'000'000);
  for (const uint32_t nodes : {1'000u, 5u}) {
    nlohmann::json head;
    Columns columns;
    PackLines(b.profile(), PrunePage(b.profile(), nodes), texts, columns, head);
  }
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace clrscope::exporter
