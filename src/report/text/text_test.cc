// SPDX-License-Identifier: Apache-2.0
// Tables, names and numbers as they are shown.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "report/json.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"
#include "report/text/style.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TextTableTest, FitsTheWidthAndAlignsNumbers) {
  TextTable table({{"Bytes", Align::kRight},
                   {"Type", Align::kLeft, TextColumn::Fit::kName},
                   {"Method", Align::kLeft, TextColumn::Fit::kName}});
  table.Add(
      {"1", "System.Collections.Generic.Dictionary<System.String, System.Int32>.Entry[]",
       "Acme.Orders.Services.Implementation.OrderService.LoadAllOrdersOfCustomerAsync [async]"});
  table.Add({"123456", "byte[]", "Main"});
  for (const size_t width : {60u, 80u, 120u, 300u})
    for (const std::string& line : Lines(table.Render(width, Style(false))))
      EXPECT_LE(DisplayWidth(line), width) << line;
  const auto lines = Lines(table.Render(80, Style(false)));
  EXPECT_EQ(lines[1].substr(0, 8), "     1  ");
  EXPECT_EQ(lines[2].substr(0, 8), "123456  ");
}

TEST(TextTableTest, EmptyColumnsAreLeftOut) {
  TextTable table({{"A", Align::kLeft}, {"95 %", Align::kRight}, {"B", Align::kLeft}});
  table.Add({"x", "", "y"});
  EXPECT_EQ(table.Render(80, Style(false)), "A  B\nx  y\n");
}

TEST(TextTableTest, NamesCannotSteerTheTerminal) {
  TextTable table({{"A", Align::kLeft}});
  table.Add({"evil\x1b[2J\n"});
  EXPECT_EQ(table.Render(80, Style(false)), "A\nevil?[2J?\n");
}

TEST(ShortenTest, KeepsWhatTellsMost) {
  EXPECT_EQ(ShortenName("byte[]", 10), "byte[]");
  EXPECT_EQ(ShortenName("System.Collections.Generic.Dictionary<System.String, System.Int32>", 55),
            "System.Collections.Generic.Dictionary<String, Int32>");
  EXPECT_EQ(ShortenName("System.Collections.Generic.Dictionary<System.String, System.Int32>", 36),
            "…Generic.Dictionary<String, Int32>");
  EXPECT_EQ(ShortenName("Acme.Cli.DotIgnore.IgnoreRule..ctor", 20), "…IgnoreRule..ctor");
  EXPECT_EQ(ShortenName("Acme.Program.Main.λ0", 12), "…Main.λ0");
  for (size_t width = 0; width < 70; ++width)
    EXPECT_LE(DisplayWidth(ShortenName(
                  "Acme.A<System.Collections.Generic.List<int>>.Load<T>.λ0 [async]", width)),
              width);
}

TEST(ShortenTest, OfNativeCodeTheFunction) {
  EXPECT_EQ(ShortenName("msort_with_tmp.part.0", 20), "msort_w…h_tmp.part.0");
  EXPECT_EQ(ShortenName("msort_with_tmp.part.0", 21), "msort_with_tmp.part.0");
  const char* const mark = "SVR::gc_heap::mark_object_simple(unsigned char**)";
  EXPECT_EQ(ShortenName(mark, 40), "SVR::gc_heap::mark_object_simple");
  EXPECT_EQ(ShortenName(mark, 30), "…gc_heap::mark_object_simple");
  EXPECT_EQ(ShortenName("void std::vector<int, std::allocator<int> >::push_back(int&&)", 30),
            "void std::vector<…>::push_back");
  EXPECT_EQ(ShortenName("(anonymous namespace)::Reader::operator()(int) const", 41),
            "(anonymous namespace)::Reader::operator()");
  for (size_t width = 0; width < 70; ++width)
    EXPECT_LE(DisplayWidth(ShortenName("bool operator< <int>(ns::A<int>::B const&, int)", width)),
              width);
}

TEST(ShortenTest, MiddleKeepsBothEnds) {
  EXPECT_EQ(ShortenMiddle("abcdefghij", 7), "ab…ghij");
  EXPECT_EQ(ShortenMiddle("λλλλλλ", 4), "λ…λλ");
  EXPECT_EQ(ShortenMiddle("abc", 0), "");
}

TEST(HumanizeTest, BytesHaveThreeDigits) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1023), "1.00 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(172.4 * 1048576), "172 MiB");
  EXPECT_EQ(HumanBytes(1023.0 * 1048576), "1.00 GiB");
}

TEST(HumanizeTest, IntervalsAreShortWhenNarrow) {
  EXPECT_EQ(HumanBytesInterval(1000, {950, 1052}), "±5 %");
  EXPECT_EQ(HumanBytesInterval(1e9, {1e9 - 100, 1e9 + 100}), "±<1 %");
  EXPECT_EQ(HumanBytesInterval(2 * 1048576.0, {1048576, 5.5 * 1048576}), "1.0–5.5 MiB");
  EXPECT_EQ(HumanCountInterval(5, {1, 12}), "1–12");
  EXPECT_EQ(HumanCountInterval(57, {37.4, 15'800}), "37–16 k");
  EXPECT_EQ(HumanCountInterval(57, {0, 15'800}), "0.0–16 k");
}

TEST(HumanizeTest, AnIntervalWithoutAnUpperBoundIsALowerBound) {
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_EQ(HumanBytesInterval(133 * 1048576.0, {462 * 1024.0, none}), "≥462 KiB");
  EXPECT_EQ(HumanCountInterval(833'000, {667, none}), "≥667");
}

TEST(HumanizeTest, OtherNumbers) {
  EXPECT_EQ(HumanCount(9999), "9999");
  EXPECT_EQ(HumanCount(12345), "12.3 k");
  EXPECT_EQ(HumanDuration(0.25), "250 ms");
  EXPECT_EQ(HumanDuration(30.2), "30.2 s");
  EXPECT_EQ(HumanDuration(312), "5m 12s");
  EXPECT_EQ(HumanDuration(5400), "1h 30m");
  EXPECT_EQ(HumanShare(1, 3), "33.3 %");
  EXPECT_EQ(HumanShare(1, 1e6), "<0.1 %");
  EXPECT_EQ(HumanShare(1, 0), "-");
  EXPECT_EQ(Thousands(1234567), "1,234,567");
  EXPECT_EQ(Thousands(12), "12");
}

TEST(WrapTest, BreaksAtBlanks) { EXPECT_EQ(Wrap("aa bb cc dd", 2, 2, 8), "aa bb\n  cc dd\n"); }

TEST(WrapTest, KeepsAFigureWithItsUnit) {
  EXPECT_EQ(Wrap("has " + Unbroken("12 MiB") + " now", 0, 0, 8), "has\n12 MiB\nnow\n");
  EXPECT_EQ(Wrap("has " + Unbroken("12 MiB") + " now", 0, 0, 80), "has 12 MiB now\n");
  EXPECT_EQ(Wrap("it has 66 %, now", 0, 0, 10), "it has\n66 %, now\n");
  EXPECT_EQ(Wrap("gen 2 (1.5 ms) of 3 GCs", 0, 0, 12), "gen 2\n(1.5 ms) of\n3 GCs\n");
}

TEST(CsvTest, QuotesWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "b,c", "d\"e", ""}), "a,\"b,c\",\"d\"\"e\",\n");
}

TEST(StyleTest, OffMeansPlain) {
  EXPECT_EQ(Style(false).Bold("x"), "x");
  EXPECT_EQ(Style(true).Bold("x"), "\x1b[1mx\x1b[0m");
}

}  // namespace
}  // namespace clrscope::report
