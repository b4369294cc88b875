// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/il_body.h"

#include <gtest/gtest.h>

#include <vector>

namespace clrscope::agent {
namespace {

using Raw = std::vector<uint8_t>;

// A body with a fat header, `code` bytes of code and what follows.
Raw Fat(uint8_t flags, uint8_t code, const Raw& sections) {
  Raw b = {static_cast<uint8_t>(3 | flags), 0x30, 8, 0, code, 0, 0, 0, 0, 0, 0, 0};
  b.resize(b.size() + code, 0x2A);
  if (!sections.empty()) b.resize((b.size() + 3) / 4 * 4);
  b.insert(b.end(), sections.begin(), sections.end());
  return b;
}

bool Filters(const Raw& b) { return HasFilter(AsBytes(b.data(), b.size())); }

Raw Small(std::initializer_list<uint8_t> kinds) {
  Raw s = {1, static_cast<uint8_t>(4 + 12 * kinds.size()), 0, 0};
  for (const uint8_t kind : kinds) {
    s.push_back(kind);
    s.resize(s.size() + 11);
  }
  return s;
}

TEST(IlBody, MethodsWithoutClauses) {
  EXPECT_FALSE(Filters({0x06, 0x2A}));
  EXPECT_FALSE(Filters(Fat(0, 5, {})));
}

TEST(IlBody, KindsOfClauses) {
  EXPECT_FALSE(Filters(Fat(8, 5, Small({0}))));        // catch
  EXPECT_FALSE(Filters(Fat(8, 6, Small({2, 4, 0}))));  // finally, fault, catch
  EXPECT_TRUE(Filters(Fat(8, 7, Small({0, 1}))));
}

TEST(IlBody, FatSectionsAndMoreThanOne) {
  Raw fat = {0x41, 4 + 24, 0, 0};
  fat.resize(4 + 24);
  EXPECT_FALSE(Filters(Fat(8, 5, fat)));
  Raw two = fat;
  two[0] |= 0x80;
  const Raw small = Small({1});
  two.insert(two.end(), small.begin(), small.end());
  EXPECT_TRUE(Filters(Fat(8, 5, two)));
  fat[4] = 1;
  EXPECT_TRUE(Filters(Fat(8, 5, fat)));
}

TEST(IlBody, WhatIsCutOffMayHaveOne) {
  EXPECT_TRUE(Filters({}));
  EXPECT_TRUE(Filters({0x00}));
  const Raw whole = Fat(8, 5, Small({0, 0}));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_TRUE(Filters(Raw(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)))) << n;
}

}  // namespace
}  // namespace clrscope::agent
