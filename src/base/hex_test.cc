// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <gtest/gtest.h>

namespace clrscope {
namespace {

TEST(Hex, NumbersAndBytes) {
  EXPECT_EQ(HexNumber(0), "0x0");
  EXPECT_EQ(HexNumber(0x2a), "0x2a");
  EXPECT_EQ(HexNumber(~uint64_t{0}), "0xffffffffffffffff");
  const unsigned char bytes[] = {0x00, 0xf1, 0x2a};
  EXPECT_EQ(HexText(AsBytes(bytes, sizeof bytes)), "00f12a");
}

}  // namespace
}  // namespace clrscope
