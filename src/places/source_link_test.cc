// SPDX-License-Identifier: Apache-2.0
#include "places/source_link.h"

#include <gtest/gtest.h>

namespace clrscope::places {
namespace {

TEST(SourceLink, PatternsBecomeAddresses) {
  const SourceLink links(R"({"documents": {
    "/_/*": "https://raw.example.com/repo/abc/*",
    "/_/src/other/*": "https://raw.example.com/other/*",
    "C:\\work\\*": "https://raw.example.com/win/*",
    "/_/one.cs": "https://raw.example.com/one"}})");
  EXPECT_EQ(links.UrlOf("/_/src/A b.cs"), "https://raw.example.com/repo/abc/src/A%20b.cs");
  EXPECT_EQ(links.UrlOf("/_/src/other/B.cs"), "https://raw.example.com/other/B.cs");
  EXPECT_EQ(links.UrlOf("c:\\Work\\x\\C.cs"), "https://raw.example.com/win/x/C.cs");
  EXPECT_EQ(links.UrlOf("/_/one.cs"), "https://raw.example.com/one");
  EXPECT_EQ(links.UrlOf("/elsewhere/D.cs"), "");
}

TEST(SourceLink, WhatIsNoLinkIsNone) {
  for (const char* json : {"", "[]", "{", R"({"documents": 1})", R"({"documents": {"/_/*": 5}})",
                           R"({"documents": {"/_/*": "javascript:alert(1)//*"}})"})
    EXPECT_EQ(SourceLink(json).UrlOf("/_/A.cs"), "") << json;
}

}  // namespace
}  // namespace clrscope::places
