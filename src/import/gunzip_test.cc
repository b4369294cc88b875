// SPDX-License-Identifier: Apache-2.0
#include "import/gunzip.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/testing/source_dir.h"
#include "import/testing/gzip.h"

namespace clrscope::import {
namespace {

using testing::Gzip;
using testing::SourceOf;

// Hard to compress, so that a stream of it has more than one piece.
std::string Noise(size_t size) {
  std::string text(size, '\0');
  uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  return text;
}

struct Unpacked {
  std::string text;
  std::optional<Error> error;
};

Unpacked Unpack(const std::string& packed, size_t piece, size_t room) {
  MaybeGzipped bytes(SourceOf(AsBytes(packed.data(), packed.size()), piece));
  Unpacked out;
  std::vector<std::byte> to(room);
  for (;;) {
    const Result<size_t> n = bytes.Read(to);
    if (!n.ok()) out.error = n.error();
    if (!n.ok() || *n == 0) return out;
    out.text.append(reinterpret_cast<const char*>(to.data()), *n);
  }
}

TEST(Gunzip, OtherBytesAreLeftAsTheyAre) {
  for (const std::string& text :
       {std::string(), std::string("\x1f"), std::string("\x1f\x8a"), Noise(200'000)})
    for (const size_t piece : {1u, 70'000u}) {
      const Unpacked out = Unpack(text, piece, 50'000);
      EXPECT_EQ(out.text, text);
      EXPECT_FALSE(out.error);
    }
}

TEST(Gunzip, MembersFollowEachOtherInPiecesOfAnySize) {
  const std::string text = Noise(200'000);
  const std::string packed = Gzip(text) + Gzip("") + Gzip("tail");
  for (const size_t piece : {17u, 65'536u, 1u << 20})
    for (const size_t room : {1u, 300u, 1u << 20}) {
      const Unpacked out = Unpack(packed, piece, room);
      EXPECT_EQ(out.text, text + "tail");
      EXPECT_FALSE(out.error);
    }
}

TEST(Gunzip, WhatComesBeforeTheEndOfACutStreamIsThere) {
  const std::string text = Noise(200'000);
  const std::string packed = Gzip(text);
  for (const size_t size : {size_t{2}, size_t{100'000}, packed.size() - 1}) {
    const Unpacked out = Unpack(packed.substr(0, size), 65'536, 4'096);
    EXPECT_EQ(out.text, text.substr(0, out.text.size()));
    EXPECT_GE(out.text.size() + 20'000, std::min(size, text.size()));
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->code, ErrorCode::kTruncated);
    EXPECT_EQ(out.error->offset, size);
  }
}

TEST(Gunzip, DamageIsToldWhereItIs) {
  const std::string text(300'000, 'x');
  const std::string good = Gzip(text);
  std::string bad = good;
  bad[20] = static_cast<char>(~bad[20]);
  bad[21] = static_cast<char>(~bad[21]);
  std::string sum = good;
  sum[sum.size() - 5] ^= 1;  // of the checksum before the size
  for (const std::string& packed : {bad, sum, good + "something else"}) {
    const Unpacked out = Unpack(packed, 65'536, 4'096);
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->code, ErrorCode::kCorrupt);
    EXPECT_LE(out.error->offset, packed.size());
  }
  const Unpacked followed = Unpack(good + "something else", 65'536, 4'096);
  EXPECT_EQ(followed.text, text);
  EXPECT_EQ(followed.error->message, "the gzip stream is followed by something else");
  EXPECT_EQ(followed.error->offset, good.size() + 2);
}

TEST(Gunzip, NoMoreThanAsked) {
  const std::string packed = Gzip(std::string(300'000, 'x'));
  const auto source = [&] { return SourceOf(AsBytes(packed.data(), packed.size()), 1'000); };
  MaybeGzipped whole(source()), head(source()), part(source());
  EXPECT_EQ(ReadAll(whole)->size(), 300'000u);
  EXPECT_EQ(ReadHead(head, 8), "xxxxxxxx");
  EXPECT_EQ(ReadAll(part, 1'000).error().code, ErrorCode::kFailed);
}

// Writes the fuzzer's seed when asked to: CLRSCOPE_CORPUS=1.
TEST(Gunzip, TheSeedOfTheFuzzerUnpacksToATrace) {
  const std::string folder = SourceDir() + "/fuzz/corpus/nettrace/";
  const auto read = [&](const char* name) {
    std::ifstream in(folder + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string trace = read("v6_compressed_64");
  if (std::getenv("CLRSCOPE_CORPUS") != nullptr)
    std::ofstream(folder + "v6_gz", std::ios::binary)
        << Gzip(trace.substr(0, 100)) << Gzip(trace.substr(100));
  const Unpacked out = Unpack(read("v6_gz"), 65'536, 4'096);
  EXPECT_EQ(out.text, trace);
  EXPECT_FALSE(out.error);
}

}  // namespace
}  // namespace clrscope::import
