// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/give_back.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace clrscope::capture {
namespace {

// A line of /proc/self/status, in KB.
size_t StatusKb(const std::string& name) {
  std::FILE* const status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return 0;
  char line[256];
  size_t kb = 0;
  while (std::fgets(line, sizeof(line), status) != nullptr)
    if (std::string(line).starts_with(name + ":"))
      kb = std::stoul(std::string(line).substr(name.size() + 1));
  std::fclose(status);
  return kb;
}

TEST(GiveBackMemory, WhatIsFreeBetweenAllocationsGoesBackAndTheProgramGoesOn) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
  constexpr size_t kPieces = 32 << 10, kPieceBytes = 1 << 10, kKeepEvery = 64;
  std::vector<std::unique_ptr<std::string>> pieces;
  for (size_t i = 0; i < kPieces; ++i)
    pieces.push_back(std::make_unique<std::string>(kPieceBytes, 'x'));
  for (size_t i = 0; i < kPieces; ++i)
    if (i % kKeepEvery != 0) pieces[i].reset();
  const size_t anonymous = StatusKb("RssAnon"), file = StatusKb("RssFile");
  GiveBackMemory();
  EXPECT_LT(StatusKb("RssAnon") + (kPieces * kPieceBytes / 2 >> 10), anonymous);
  EXPECT_LT(StatusKb("RssFile"), file);
  for (size_t i = 0; i < kPieces; i += kKeepEvery)
    ASSERT_EQ(*pieces[i], std::string(kPieceBytes, 'x'));
}

}  // namespace
}  // namespace clrscope::capture
