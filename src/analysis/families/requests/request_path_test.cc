// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/request_path.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/utf.h"

namespace clrscope::analysis {
namespace {

std::vector<std::string> SegmentsOf(std::string_view path) {
  const RequestPath p(path);
  std::vector<std::string> out;
  for (size_t i = 0; i < p.size(); ++i) out.emplace_back(p[i]);
  return out;
}

TEST(RequestPath, IsCutAtSlashes) {
  using Segments = std::vector<std::string>;
  EXPECT_EQ(SegmentsOf(""), Segments{});
  EXPECT_EQ(SegmentsOf("/"), Segments{});
  EXPECT_EQ(SegmentsOf("/a"), Segments{"a"});
  EXPECT_EQ(SegmentsOf("/a/"), Segments{"a"});
  EXPECT_EQ(SegmentsOf("/a//"), (Segments{"a", ""}));
  EXPECT_EQ(SegmentsOf("//a"), (Segments{"", "a"}));
  EXPECT_EQ(SegmentsOf("a/b"), (Segments{"a", "b"}));
  EXPECT_EQ(SegmentsOf("/a%20b/%C3%A9%2Fx%2fy/%zz%4"), (Segments{"a b", "é%2Fx%2fy", "%zz%4"}));
  EXPECT_EQ(RequestPath("/a/b/c/").From(1), "b/c/");
  EXPECT_EQ(RequestPath("/a/%62/c").From(1), "b/c");
}

TEST(RequestPath, LongOnesStayWithinBounds) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "/x%20";
  const RequestPath p(deep);
  EXPECT_EQ(p.size(), RequestPath::kMostSegments);
  EXPECT_EQ(p[0], "x%20") << "too long to unescape";
  EXPECT_EQ(p.From(0).size(), deep.size() - 1);
}

TEST(PathShape, ValuesAreLeftOut) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "/"},
      {"/", "/"},
      {"///", "/"},
      {"/items/17/parts", "/items/{}/parts"},
      {"/items/-17/", "/items/{}"},
      {"//a", "/a"},
      {"/users/9ded64a4-414c-5251-dcf7-1e4e20c15e70", "/users/{}"},
      {"/blob/507f1f77bcf86cd799439011", "/blob/{}"},
      {"/deadbeef/decade", "/deadbeef/decade"},
      {"/day/2026-11-01/x", "/day/{}/x"},
      {"/day/2026-11-01T10:20:30Z", "/day/{}"},
      {"/v1.2.3/api", "/v1.2.3/api"},
      {"/api/v2", "/api/v2"},
      {"/t/dGhpc1Rva2Vu0123", "/t/{}"},
      {"/a-fairly-long-but-readable-slug", "/a-fairly-long-but-readable-slug"},
      {"/a-fairly-long-but-readable-slug-and-more", "/{}"},
      {"/%C3%A9%C3%A8", "/{}"},
      {"/caf%C3%A9-au-lait", "/caf%C3%A9-au-lait"},
      {"/1/2/3/4/5/6/7/8", "/{}/{}/{}/{}/{}/{}/{}/{}"},
      {"/a/b/c/d/e/f/g/h/i/j", "/a/b/c/d/e/f/g/h/…"},
      {"/a\x01\x7F\xFF\xC3/é\u202E", "/a\uFFFD\uFFFD\uFFFD\uFFFD/é\uFFFD"},
      {"/wp-login.php", "/wp-login.php"},
  };
  for (const auto& [path, shape] : kCases) EXPECT_EQ(PathShape(path), shape) << path;
}

TEST(PathShape, IsShortAndPrintableForAnyBytes) {
  std::mt19937 random(23);
  for (int round = 0; round < 50'000; ++round) {
    std::string path;
    for (uint64_t n = random() % 300; n > 0; --n)
      path += random() % 4 == 0 ? static_cast<char>(random()) : "/ab0%-é"[random() % 8];
    const std::string shape = PathShape(path);
    ASSERT_LE(shape.size(), 128u);
    ASSERT_TRUE(shape.starts_with('/'));
    ASSERT_EQ(shape, PathShape(path));
    for (const char c : shape) ASSERT_FALSE((c >= 0 && c < 0x20) || c == 0x7F);
    // Well-formed: it comes back as it was.
    const std::u16string units = ToUtf16(shape);
    ASSERT_EQ(ToUtf8({reinterpret_cast<const std::byte*>(units.data()), units.size()}), shape);
  }
}

}  // namespace
}  // namespace clrscope::analysis
