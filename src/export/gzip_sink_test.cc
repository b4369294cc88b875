// SPDX-License-Identifier: Apache-2.0
// gzip that zlib itself can read back.
#include "export/gzip_sink.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "export/testing/full_sink.h"

namespace clrscope::exporter {
namespace {

std::string Gunzip(const std::string& in) {
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  std::string out, buffer(1 << 16, '\0'), copy = in;
  z.next_in = reinterpret_cast<Bytef*>(copy.data());
  z.avail_in = static_cast<uInt>(copy.size());
  int state = Z_OK;
  while (state == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&z, Z_NO_FLUSH);
    out.append(buffer, 0, buffer.size() - z.avail_out);
  }
  EXPECT_EQ(state, Z_STREAM_END);
  EXPECT_EQ(z.avail_in, 0u);
  inflateEnd(&z);
  return out;
}

TEST(GzipSinkTest, WhatWentInComesOutAgain) {
  std::string text;
  for (uint32_t i = 0; i < 200'000; ++i) text += std::to_string(i * 2654435761u) + '\n';
  StringSink out;
  GzipSink gzip(out);
  for (size_t at = 0; at < text.size(); at += 7777) {
    ASSERT_TRUE(gzip.Write(std::string_view(text).substr(at, 7777)).ok());
  }
  ASSERT_TRUE(gzip.Finish().ok());
  EXPECT_LT(out.text().size(), text.size());
  EXPECT_EQ(Gunzip(out.text()), text);
}

TEST(GzipSinkTest, NothingIsAValidStreamToo) {
  StringSink out;
  GzipSink gzip(out);
  ASSERT_TRUE(gzip.Finish().ok());
  EXPECT_EQ(Gunzip(out.text()), "");
}

TEST(GzipSinkTest, TheHeaderHoldsNoTime) {
  StringSink out;
  GzipSink gzip(out);
  ASSERT_TRUE(gzip.Finish().ok());
  EXPECT_EQ(out.text().substr(4, 4), std::string(4, '\0'));
}

TEST(GzipSinkTest, AFailureBelowIsReportedAndSticks) {
  testing::FullSink full;
  GzipSink gzip(full);
  (void)gzip.Write("text");
  EXPECT_EQ(gzip.Finish().error().message, "full");
  EXPECT_FALSE(gzip.Write("more").ok());
}

}  // namespace
}  // namespace clrscope::exporter
