// SPDX-License-Identifier: Apache-2.0
#include "fetch/url.h"

#include <gtest/gtest.h>

namespace clrscope::fetch {
namespace {

TEST(Url, Parts) {
  const auto url = ParseUrl("HTTPS://Symbols.Example.com/Download/symbols?a=B#part");
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "symbols.example.com");
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->target, "/Download/symbols?a=B");
  EXPECT_EQ(url->text(), "https://symbols.example.com/Download/symbols?a=B");
  const auto v6 = ParseUrl("https://[2001:DB8::1]:8443");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "2001:db8::1");
  EXPECT_EQ(v6->authority(), "[2001:db8::1]:8443");
  EXPECT_EQ(v6->target, "/");
}

TEST(Url, WhatIsRefused) {
  for (const char* text :
       {"", "example.com", "ftp://example.com/", "https://", "https:///path", "https://a b/",
        "https://a:0/", "https://a:70000/", "https://a:x/", "https://user:secret@host/",
        "https://[::1/", "https://[example]/", "https://a/\r\nHost: b", "https://exa\"mple/",
        "http://example.com/", "http://127.0.0.1.example.com/", "http://10.0.0.1/"})
    EXPECT_FALSE(ParseUrl(text).ok()) << text;
  for (const char* text : {"http://localhost:8080/x", "http://127.1.2.3/", "http://[::1]:80/"})
    EXPECT_TRUE(ParseUrl(text).ok()) << text;
}

TEST(Url, Redirections) {
  const auto from = ParseUrl("https://a.example/x/y?z");
  const auto to = [&](const char* location) {
    const auto url = Redirect(*from, location);
    return url.ok() ? url->text() : "refused";
  };
  EXPECT_EQ(to("https://b.example/w"), "https://b.example/w");
  EXPECT_EQ(to("//b.example/w"), "https://b.example/w");
  EXPECT_EQ(to("/w"), "https://a.example/w");
  EXPECT_EQ(to("w"), "https://a.example/x/w");
  EXPECT_EQ(to("http://b.example/w"), "refused");
  EXPECT_EQ(to("http://127.0.0.1/w"), "refused") << "encrypted stays encrypted";
  EXPECT_EQ(to("file:///etc/passwd"), "refused");
}

TEST(Url, PartsOfPaths) {
  EXPECT_EQ(EncodePathPart("System.Private.CoreLib.pdb"), "System.Private.CoreLib.pdb");
  EXPECT_EQ(EncodePathPart("a b/c%?é"), "a%20b%2Fc%25%3F%C3%A9");
}

}  // namespace
}  // namespace clrscope::fetch
