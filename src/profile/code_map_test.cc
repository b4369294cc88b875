// SPDX-License-Identifier: Apache-2.0
#include "profile/code_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace clrscope::profile {
namespace {

MethodCode Method(uint64_t start, uint32_t size, uint64_t id) {
  MethodCode m;
  m.start = start;
  m.size = size;
  m.method_id = id;
  return m;
}

std::vector<MethodCode> ByIndex(const CodeMap& map) {
  std::vector<MethodCode> methods(map.size());
  map.ForEach([&](uint32_t index, const MethodCode& m) { methods[index] = m; });
  return methods;
}

std::vector<uint32_t> OwnersOf(const CodeMap& map, uint64_t address) {
  std::vector<uint32_t> owners;
  for (const CodeMap::Owner& owner : map.Owners(address)) owners.push_back(owner.index);
  std::sort(owners.begin(), owners.end());
  return owners;
}

TEST(CodeMap, TellsBackWhatWasAdded) {
  CodeMap map;
  MethodCode m = Method(0x7FFF'FFFF'F000, 0xFFFF'0000, 0x7F12'3456'789A);
  m.module_id = 0x7FAA'0000'0008;
  m.token = 0x06000123;
  m.flags = 7;
  m.load_ns = -5;
  m.owner = StringId{3};
  m.name = StringId{4};
  m.signature = StringId{5};
  map.Add(Method(0x1000, 16, 1));
  map.Add(m);
  map.Unload(m.start, m.method_id, 99);
  const MethodCode told = ByIndex(map)[1];
  EXPECT_EQ(told.start, m.start);
  EXPECT_EQ(told.size, m.size);
  EXPECT_EQ(told.method_id, m.method_id);
  EXPECT_EQ(told.module_id, m.module_id);
  EXPECT_EQ(told.token, m.token);
  EXPECT_EQ(told.flags, m.flags);
  EXPECT_EQ(told.load_ns, -5);
  EXPECT_EQ(told.unload_ns, 99);
  EXPECT_EQ(told.owner.value, 3u);
  EXPECT_EQ(told.name.value, 4u);
  EXPECT_EQ(told.signature.value, 5u);
  EXPECT_EQ(ByIndex(map)[0].load_ns, kAlways);
  EXPECT_EQ(ByIndex(map)[0].unload_ns, kNever);
}

TEST(CodeMap, KnowsMoreModulesThanSixteenBitsCount) {
  CodeMap map;
  constexpr uint32_t kModules = 70'000;
  for (uint32_t i = 0; i < kModules; ++i) {
    MethodCode m = Method(0x10000 + 16 * i, 16, i + 1);
    m.module_id = 0x5000 + 8 * uint64_t{i};
    map.Add(m);
  }
  const std::vector<MethodCode> methods = ByIndex(map);
  for (const uint32_t i : {0u, 1u, 65'535u, 65'536u, kModules - 1})
    EXPECT_EQ(methods[i].module_id, 0x5000 + 8 * uint64_t{i}) << i;
}

TEST(CodeMap, OwnersAreAllWhoseCodeReachesTheAddress) {
  CodeMap map;
  for (uint32_t i = 0; i < 10; ++i) map.Add(Method(0x1000 + 0x100 * i, 0x100, i + 1));
  EXPECT_EQ(OwnersOf(map, 0x1234), (std::vector<uint32_t>{2}));
  EXPECT_EQ(OwnersOf(map, 0x0FFF), (std::vector<uint32_t>{}));
  EXPECT_EQ(OwnersOf(map, 0x1A00), (std::vector<uint32_t>{}));
  // One that reaches over those that begin after it, which the map was without until now.
  map.Add(Method(0x1080, 0x900, 20));
  EXPECT_EQ(OwnersOf(map, 0x1234), (std::vector<uint32_t>{2, 10}));
  EXPECT_EQ(OwnersOf(map, 0x1040), (std::vector<uint32_t>{0}));
  EXPECT_EQ(OwnersOf(map, 0x1981), (std::vector<uint32_t>{9}));
}

}  // namespace
}  // namespace clrscope::profile
