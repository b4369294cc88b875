// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/small_regex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace clrscope::analysis {
namespace {

TEST(SmallRegex, MatchesAsRegularExpressionsDo) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Case kCases[] = {
      {"^\\d{4}$", "2026", true},
      {"^\\d{4}$", "202", false},
      {"^\\d{4}$", "20266", false},
      {"^\\d{3}-\\d{2}-\\d{4}$", "123-45-6789", true},
      {"^\\d{3}-\\d{2}-\\d{4}$", "123-45-678", false},
      {"^(en|fr|de)$", "FR", true},
      {"^(en|fr|de)$", "it", false},
      {"^(?:v)?[1-9]\\d*$", "v10", true},
      {"^(?:v)?[1-9]\\d*$", "v01", false},
      {"[a-z]+", "12b34", true},
      {"[a-z]+", "1234", false},
      {"^[a-z0-9-]+$", "some-slug-7", true},
      {"^[a-z0-9-]+$", "some_slug", false},
      {"^[^.]+\\.(jpg|png)$", "a.PNG", true},
      {"^[^.]+\\.(jpg|png)$", "a.b.png", false},
      {"^a{2,3}$", "a", false},
      {"^a{2,3}$", "aaa", true},
      {"^a{2,3}$", "aaaa", false},
      {"^a{2,}$", "aaaaa", true},
      {"^a{2,}$", "a", false},
      {"^(ab){0,2}$", "abab", true},
      {"^(ab){0,2}$", "", true},
      {"^(ab){0,2}$", "ababab", false},
      {"^\\w+\\s?\\S$", "ab c", true},
      {"", "x", true},
      {"^$", "", true},
      {"^$", "x", false},
      {"a|b", "xxb", true},
      {"x$", "xy", false},
      {"^x", "yx", false},
      {"^[]a]+$", "]a", true},
      {"^[a-]+$", "-a", true},
  };
  for (const Case& c : kCases) {
    const auto regex = SmallRegex::Compile(c.pattern);
    ASSERT_TRUE(regex) << c.pattern;
    EXPECT_EQ(regex->Matches(c.text), c.matches) << c.pattern << " " << c.text;
  }
}

TEST(SmallRegex, WhatItDoesNotKnowDoesNotCompile) {
  for (const char* pattern : {"(?!x)a",
                              "(?<n>a)",
                              "a++",
                              "\\bx",
                              "\\p{L}",
                              "[a-z-[aeiou]]",
                              "^a|b$",
                              "(a",
                              "a)",
                              "[a",
                              "*a",
                              "a{3,2}",
                              "a{1000}",
                              "\\",
                              "é",
                              "a^b",
                              "[\\d-z",
                              "x{",
                              "((((((((((a))))))))))",
                              "(a{9}){9}",
                              "((((((((){64}){64}){64}){64}){64}){64}){64}){64}"})
    EXPECT_FALSE(SmallRegex::Compile(pattern)) << pattern;
}

// An expression, and where it may end in a text that it begins in: by trying everything.
struct Expression {
  std::string pattern;
  std::function<std::set<size_t>(std::string_view text, size_t from)> ends;
};

Expression SomeExpression(std::mt19937& random, int depth) {
  using Ends = std::set<size_t>;
  switch (random() % (depth > 3 ? 3 : 8)) {
    case 0:
    case 1: {
      const char c = "abc"[random() % 3];
      return {std::string(1, c), [c](std::string_view text, size_t from) {
                return from < text.size() && text[from] == c ? Ends{from + 1} : Ends{};
              }};
    }
    case 2:
      return {"[^a]", [](std::string_view text, size_t from) {
                return from < text.size() && text[from] != 'a' ? Ends{from + 1} : Ends{};
              }};
    case 3:
    case 4: {
      const Expression a = SomeExpression(random, depth + 1), b = SomeExpression(random, depth + 1);
      return {a.pattern + b.pattern, [a, b](std::string_view text, size_t from) {
                Ends all;
                for (const size_t end : a.ends(text, from)) all.merge(b.ends(text, end));
                return all;
              }};
    }
    case 5: {
      const Expression a = SomeExpression(random, depth + 1), b = SomeExpression(random, depth + 1);
      return {"(" + a.pattern + "|" + b.pattern + ")", [a, b](std::string_view text, size_t from) {
                Ends all = a.ends(text, from);
                all.merge(b.ends(text, from));
                return all;
              }};
    }
    default: {
      struct Repetition {
        const char* sign;
        size_t least, most;
      };
      constexpr Repetition kKinds[] = {{"?", 0, 1},    {"*", 0, 99},    {"+", 1, 99},
                                       {"{2}", 2, 2},  {"{1,3}", 1, 3}, {"{2,}", 2, 99},
                                       {"{0,2}", 0, 2}};
      const Repetition r = kKinds[random() % std::size(kKinds)];
      const Expression a = SomeExpression(random, depth + 1);
      return {"(" + a.pattern + ")" + r.sign, [a, r](std::string_view text, size_t from) {
                Ends all, now{from};
                if (r.least == 0) all = now;
                for (size_t i = 1; i <= std::min(r.most, text.size() + 3) && !now.empty(); ++i) {
                  Ends next;
                  for (const size_t end : now) next.merge(a.ends(text, end));
                  now = next;
                  if (i >= r.least) all.insert(now.begin(), now.end());
                }
                return all;
              }};
    }
  }
}

TEST(SmallRegex, AgreesWithTryingEverything) {
  std::mt19937 random(11);
  size_t compared = 0, matched = 0;
  for (int round = 0; round < 3000; ++round) {
    const Expression e = SomeExpression(random, 0);
    const bool from_start = random() % 2 == 0, to_end = random() % 2 == 0;
    const std::string pattern = (from_start ? "^(" : "(") + e.pattern + (to_end ? ")$" : ")");
    const auto regex = SmallRegex::Compile(pattern);
    if (!regex) continue;  // too many states
    for (int i = 0; i < 6; ++i) {
      std::string text;
      for (uint64_t n = random() % 6; n > 0; --n) text += "abc"[random() % 3];
      bool matches = false;
      for (size_t from = 0; from <= (from_start ? 0 : text.size()); ++from)
        for (const size_t end : e.ends(text, from)) matches |= !to_end || end == text.size();
      ++compared;
      matched += matches ? 1u : 0u;
      EXPECT_EQ(regex->Matches(text), matches) << pattern << " " << text;
    }
  }
  EXPECT_GT(compared, 10'000u);
  EXPECT_GT(matched, 3000u);
  EXPECT_LT(matched, compared - 3000);
}

TEST(SmallRegex, AnyBytesAreTaken) {
  std::mt19937 random(5);
  constexpr std::string_view kSigns = "ab09()[]{}|^$*+?.\\-,:dws";
  for (int round = 0; round < 20'000; ++round) {
    std::string pattern;
    for (uint64_t n = random() % 20; n > 0; --n)
      pattern +=
          random() % 10 == 0 ? static_cast<char>(random()) : kSigns[random() % kSigns.size()];
    const auto regex = SmallRegex::Compile(pattern);
    if (regex) (void)regex->Matches(pattern);
  }
}

}  // namespace
}  // namespace clrscope::analysis
