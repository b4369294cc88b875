// SPDX-License-Identifier: Apache-2.0
#include "capture/types/method_table.h"

#include <gtest/gtest.h>

#include "capture/testing/fake_memory.h"

namespace clrscope::capture {
namespace {

constexpr uint64_t kModule = 0x7f0000001000;

// Seven words: flags and size, flags and counts, parent, module, auxiliary data, canonical table,
// element.
std::vector<uint64_t> TableOf(uint32_t flags, uint32_t flags2, uint64_t element = 0) {
  return {flags, flags2, 0x1111, kModule, 0x2222, 0x3333, element};
}

TEST(MethodTable, TellsModuleAndToken) {
  FakeMemory memory;
  memory.PutWords(0x1000, TableOf(0, 0x123456'08));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), (DefinedAt{kModule, 0x02123456}));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 9), (DefinedAt{kModule, 0x02123456}));
  memory.PutWords(0x2000, TableOf(0, 0x0042'0008));
  EXPECT_EQ(ReadDefinition(memory, 0x2000, 8), (DefinedAt{kModule, 0x02000042}));
  EXPECT_EQ(ReadDefinition(memory, 0x2000, 7), std::nullopt);
}

TEST(MethodTable, TellsWhatArraysAreOf) {
  constexpr uint32_t kVector = 0xa0000, kGrid = 0x80000;
  FakeMemory memory;
  memory.PutWords(0x1000, TableOf(kVector, 0, 0x2000));
  memory.PutWords(0x2000, TableOf(kGrid, 0, 0x3000));
  memory.PutWords(0x3000, TableOf(0x40000, 7 << 8));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), (DefinedAt{kModule, 0x02000007}));
}

TEST(MethodTable, WhatCannotBeOneIsNothing) {
  FakeMemory memory;
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), std::nullopt) << "nothing is there";
  EXPECT_EQ(ReadDefinition(memory, 0, 10), std::nullopt);
  memory.PutWords(0x1000, {0, 0x700});
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), std::nullopt) << "cut";
  memory.PutWords(0x1000, TableOf(0, 0));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), std::nullopt) << "no row";
  memory.PutWords(0x1000, TableOf(0, 0xffff'0000));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 8), std::nullopt) << "its row lies elsewhere";
  memory.PutWords(0x1000, TableOf(0xa0000, 0, 0x1000));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), std::nullopt) << "an array of itself";
  memory.PutWords(0x1000, TableOf(0xa0000, 0, 0x2002));
  EXPECT_EQ(ReadDefinition(memory, 0x1000, 10), std::nullopt) << "an array of pointers";
}

}  // namespace
}  // namespace clrscope::capture
