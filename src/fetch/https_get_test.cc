// SPDX-License-Identifier: Apache-2.0
#include "fetch/https_get.h"

#include <gtest/gtest.h>

#include "fetch/testing/web_server.h"

namespace clrscope::fetch {
namespace {

using namespace std::chrono_literals;

Status Get(const std::string& url, StringSink& body, const Limits& limits = {}) {
  return HttpsGet(url, limits, body);
}

class HttpsGetTest : public testing::Test {
 protected:
  HttpsGetTest() {
    certificate_.Write(around_.Path("authority.pem"));
    around_.Set("SSL_CERT_FILE", around_.Path("authority.pem"));
  }

  Surroundings around_;
  SelfMadeCertificate certificate_;
};

TEST_F(HttpsGetTest, WhatAServerSends) {
  const std::string large(3'000'000, 'x');
  WebServer server(
      [&](const std::string& target) -> WebServer::Answer {
        if (target == "/a?b=1") return {.status = 200, .body = "text"};
        if (target == "/large") return {.status = 200, .body = large};
        if (target == "/chunks") return {.status = 200, .body = large, .chunked = true};
        if (target == "/empty") return {.status = 200};
        return {.status = 404, .body = "no such thing"};
      },
      &certificate_);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    for (const auto& [target, expected] : {std::pair<const char*, std::string>{"/a?b=1", "text"},
                                           {"/large", large},
                                           {"/chunks", large},
                                           {"/empty", ""}}) {
      StringSink body;
      const Status status = Get(server.Url(target, host), body);
      ASSERT_TRUE(status.ok()) << target << ": " << status.error().message;
      EXPECT_EQ(body.text().size(), expected.size());
      EXPECT_TRUE(body.text() == expected) << target;
    }
  }
  StringSink body;
  const Status missing = Get(server.Url("/none"), body);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(body.text(), "") << "a page of an error is no file";
}

TEST_F(HttpsGetTest, AServerThatNobodyVouchesForIsNotTrusted) {
  WebServer server([](const std::string&) { return WebServer::Answer{.status = 200, .body = "x"}; },
                   &certificate_);
  const SelfMadeCertificate other;
  other.Write(around_.Path("other.pem"));
  around_.Set("SSL_CERT_FILE", around_.Path("other.pem"));
  StringSink body;
  const Status status = Get(server.Url("/"), body);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kRefused);
  EXPECT_NE(status.error().message.find("certificate"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(body.text(), "");
  EXPECT_TRUE(server.asked().empty()) << "the path is a secret too";

  around_.Set("SSL_CERT_FILE", around_.Path("none.pem"));
  EXPECT_NE(Get(server.Url("/"), body).error().message.find("none.pem"), std::string::npos);
}

TEST_F(HttpsGetTest, ACertificateOfAnotherHostIsNotTrusted) {
  const SelfMadeCertificate other("DNS:example.com");
  other.Write(around_.Path("authority.pem"));
  WebServer server([](const std::string&) { return WebServer::Answer{.status = 200, .body = "x"}; },
                   &other);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    StringSink body;
    const Status status = Get(server.Url("/", host), body);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kRefused) << status.error().message;
  }
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(HttpsGetTest, RedirectionsAreFollowedWithinBounds) {
  WebServer plain([](const std::string&) { return WebServer::Answer{.status = 200, .body = "p"}; });
  WebServer server(
      [&](const std::string& target) -> WebServer::Answer {
        if (target == "/end") return {.status = 200, .body = "here"};
        if (target == "/relative/a") return {.status = 302, .location = "b"};
        if (target == "/relative/b") return {.status = 307, .location = "/end"};
        if (target == "/plain") return {.status = 301, .location = plain.Url("/")};
        return {.status = 302, .location = "/again"};
      },
      &certificate_);
  StringSink body;
  const Status followed = Get(server.Url("/relative/a"), body);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_EQ(body.text(), "here");
  StringSink none;
  EXPECT_EQ(Get(server.Url("/plain"), none).error().code, ErrorCode::kRefused);
  EXPECT_TRUE(plain.asked().empty());
  EXPECT_EQ(Get(server.Url("/again"), none).error().code, ErrorCode::kRefused);
  EXPECT_EQ(none.text(), "");
}

TEST_F(HttpsGetTest, HttpOfThisMachine) {
  WebServer server(
      [](const std::string&) { return WebServer::Answer{.status = 200, .body = "x"}; });
  StringSink body;
  ASSERT_TRUE(Get(server.Url("/"), body).ok());
  EXPECT_EQ(body.text(), "x");
}

TEST_F(HttpsGetTest, WaitsAndSizesHaveLimits) {
  WebServer server([](const std::string& target) -> WebServer::Answer {
    if (target == "/never") return {.never = true};
    if (target == "/broken") return {.status = 200, .body = "half", .broken = true};
    if (target == "/busy") return {.status = 503};
    return {.status = 200, .body = std::string(100'000, 'x'), .chunked = target == "/chunks"};
  });
  StringSink body;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(Get(server.Url("/never"), body, {.silence = 200ms}).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(Get(server.Url("/never"), body, {.whole = 200ms}).error().code, ErrorCode::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  EXPECT_EQ(Get(server.Url("/whole"), body, {.bytes = 1000}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(Get(server.Url("/chunks"), body, {.bytes = 1000}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(Get(server.Url("/busy"), body).error().code, ErrorCode::kRefused);
  EXPECT_LT(body.text().size(), 1000u);
  StringSink part;
  EXPECT_EQ(Get(server.Url("/broken"), part).error().code, ErrorCode::kTruncated);
}

TEST_F(HttpsGetTest, NobodyThere) {
  std::string url;
  {
    WebServer gone([](const std::string&) { return WebServer::Answer{}; });
    url = gone.Url("/");
  }
  StringSink body;
  EXPECT_EQ(Get(url, body).error().code, ErrorCode::kIo);
  EXPECT_EQ(Get("http://example.com/", body).error().code, ErrorCode::kUsage);
}

TEST_F(HttpsGetTest, AFullDiskEndsIt) {
  WebServer server([](const std::string&) {
    return WebServer::Answer{.status = 200, .body = std::string(1'000'000, 'x')};
  });
  class Full final : public ByteSink {
   public:
    Status Write(std::string_view) override { return Error{ErrorCode::kIo, "no space left"}; }
  } full;
  EXPECT_EQ(HttpsGet(server.Url("/"), {}, full).error().message, "no space left");
}

}  // namespace
}  // namespace clrscope::fetch
