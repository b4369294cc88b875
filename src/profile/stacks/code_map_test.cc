// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/code_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
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

void ExpectSameMethod(const MethodCode& got, const MethodCode& want) {
  ASSERT_EQ(got.start, want.start);
  ASSERT_EQ(got.size, want.size);
  ASSERT_EQ(got.method_id, want.method_id);
  ASSERT_EQ(got.module_id, want.module_id);
  ASSERT_EQ(got.token, want.token);
  ASSERT_EQ(got.flags, want.flags);
  ASSERT_EQ(got.load_ns, want.load_ns);
  ASSERT_EQ(got.unload_ns, want.unload_ns);
  ASSERT_EQ(got.owner.value, want.owner.value);
  ASSERT_EQ(got.name.value, want.name.value);
  ASSERT_EQ(got.signature.value, want.signature.value);
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
  m.unload_ns = 99;
  ExpectSameMethod(ByIndex(map)[1], m);
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

// What the map is to say, from a plain list.
class PlainMap {
 public:
  static constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;

  void Add(MethodCode m) {
    m.start &= kMask;
    m.method_id &= kMask;
    if (MethodCode* before = Newest(m.start, m.size == 0); before != nullptr) {
      if (m.size == 0) return;
      if (m.load_ns != kAlways && before->unload_ns == kNever) before->unload_ns = m.load_ns;
    }
    all_.push_back(m);
  }
  void Unload(uint64_t start, uint64_t id, int64_t time_ns) {
    MethodCode* m = Newest(start & kMask, false);
    if (m != nullptr && m->method_id == (id & kMask) && m->unload_ns == kNever)
      m->unload_ns = time_ns;
  }
  bool Knows(uint64_t start, uint32_t size, uint64_t id) {
    const MethodCode* m = Newest(start & kMask, false);
    return m != nullptr && m->size == size && m->method_id == (id & kMask) &&
           m->unload_ns == kNever;
  }
  // By start and arrival, the last one first.
  std::vector<uint32_t> Owners(uint64_t address) const {
    std::vector<uint32_t> owners;
    const MethodCode *entry = nullptr, *sized = nullptr;
    for (const MethodCode& m : all_) {
      if (address - m.start < m.size) owners.push_back(Index(m));
      if (m.start > address) continue;
      const MethodCode*& last = m.size == 0 ? entry : sized;
      if (last == nullptr || m.start >= last->start) last = &m;
    }
    std::stable_sort(owners.begin(), owners.end(), [this](uint32_t a, uint32_t b) {
      return all_[a].start != all_[b].start ? all_[a].start > all_[b].start : a > b;
    });
    if (owners.empty() && entry != nullptr && address - entry->start <= 256 << 10 &&
        (sized == nullptr || sized->start < entry->start))
      owners.push_back(Index(*entry));
    return owners;
  }
  const std::vector<MethodCode>& all() const { return all_; }

 private:
  MethodCode* Newest(uint64_t start, bool entry) {
    for (auto m = all_.rbegin(); m != all_.rend(); ++m)
      if (m->start == start && (m->size == 0) == entry) return &*m;
    return nullptr;
  }
  uint32_t Index(const MethodCode& m) const { return static_cast<uint32_t>(&m - all_.data()); }

  std::vector<MethodCode> all_;
};

struct CodePattern {
  const char* name;
  uint64_t places;  // where code begins, so many different ones
  uint64_t alignment;
  uint32_t longest;
  unsigned look_ups;  // after each method
  bool wild;          // any numbers at all
};

class CodeMapAgrees : public ::testing::TestWithParam<CodePattern> {};

TEST_P(CodeMapAgrees, WithAPlainList) {
  const CodePattern kind = GetParam();
  std::mt19937_64 random(7);
  CodeMap map;
  PlainMap plain;
  const auto address = [&] {
    if (kind.wild && random() % 4 == 0) return static_cast<uint64_t>(random());
    return 0x7F00'0000'0000 + random() % kind.places * kind.alignment;
  };
  const auto time = [&] {
    if (kind.wild && random() % 8 == 0) return random() % 2 == 0 ? kNever - 1 : int64_t{-5};
    return static_cast<int64_t>(random() % 60'000'000'000);
  };
  for (uint32_t i = 0; i < 3000; ++i) {
    MethodCode m;
    m.start = address();
    m.size = random() % 8 == 0 ? 0 : 1 + static_cast<uint32_t>(random()) % kind.longest;
    if (kind.wild && random() % 8 == 0) m.size = 0xFFFF'FFFF;
    m.method_id = kind.wild ? random() : 0x7E00'0000'0000 + random() % 64 * 8;
    m.module_id = random() % 5 * 0x1000;
    if (random() % 3 == 0) m.load_ns = time();
    m.name = StringId{static_cast<uint32_t>(random() % 1000)};
    ASSERT_EQ(map.Knows(m.start, m.size, m.method_id), plain.Knows(m.start, m.size, m.method_id));
    if (m.size == 0)
      map.AddEntry(m);
    else
      map.Add(m);
    plain.Add(m);
    if (random() % 4 == 0) {
      const MethodCode& gone = plain.all()[random() % plain.all().size()];
      const int64_t at = time();
      const uint64_t start = gone.start, id = gone.method_id;
      map.Unload(start, id, at);
      plain.Unload(start, id, at);
    }
    for (unsigned n = 0; n < kind.look_ups; ++n) {
      const uint64_t at = address() + random() % 300;
      std::vector<uint32_t> got;
      for (const CodeMap::Owner& owner : map.Owners(at)) {
        got.push_back(owner.index);
        ExpectSameMethod(owner.method, plain.all()[owner.index]);
      }
      ASSERT_EQ(got, plain.Owners(at)) << i;
    }
  }
  const std::vector<MethodCode> all = ByIndex(map);
  ASSERT_EQ(all.size(), plain.all().size());
  for (size_t i = 0; i < all.size(); ++i) ExpectSameMethod(all[i], plain.all()[i]);
  for (unsigned n = 0; n < 1000; ++n) {
    const uint64_t at = address() + random() % 300;
    std::vector<uint32_t> got;
    for (const CodeMap::Owner& owner : map.Owners(at)) got.push_back(owner.index);
    ASSERT_EQ(got, plain.Owners(at));
  }
}

INSTANTIATE_TEST_SUITE_P(Code, CodeMapAgrees,
                         ::testing::Values(CodePattern{"Sparse", 1'000'000, 16, 16, 0, false},
                                           CodePattern{"LookedUpBetween", 1'000'000, 16, 64, 1,
                                                       false},
                                           CodePattern{"Overlapping", 5000, 7, 3000, 1, false},
                                           CodePattern{"OftenAtOnePlace", 12, 16, 40, 1, false},
                                           CodePattern{"AllAtOnePlace", 1, 16, 40, 0, false},
                                           CodePattern{"Wild", 5000, 16, 100'000, 1, true}),
                         [](const auto& pattern) { return std::string(pattern.param.name); });

}  // namespace
}  // namespace clrscope::profile
