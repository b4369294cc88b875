// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/open_requests.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace clrscope::analysis {
namespace {

// A path of one number.
ActivityPath NumberedPath(uint32_t n) {
  clr::ActivityId id{};
  id[0] = std::byte{0xF0};
  for (size_t i = 0; i < 4; ++i) id[1 + i] = static_cast<std::byte>(n >> (8 * i));
  return ActivityPath::Of(id);
}

TEST(PathIndex, KnowsWhatAMapKnows) {
  for (const uint32_t keys : {40u, 700u, 50'000u}) {
    auto random = [engine = std::mt19937(keys)]() mutable {
      return static_cast<uint32_t>(engine());
    };
    PathIndex index;
    std::unordered_map<ActivityPath, uint32_t, ActivityPath::Hasher> map;
    for (int i = 0; i < 300'000; ++i) {
      const ActivityPath path = NumberedPath(random() % keys);
      const auto known = map.find(path);
      ASSERT_EQ(index.Find(path), known == map.end() ? PathIndex::kNone : known->second);
      if (random() % 2 == 0) {
        index.Erase(path);  // also what is not there
        map.erase(path);
      } else if (known == map.end()) {
        const uint32_t value = random() % 1'000'000;
        index.Add(path, value);
        map[path] = value;
      }
      ASSERT_EQ(index.size(), map.size());
    }
    for (uint32_t n = 0; n < keys; ++n) {
      const auto known = map.find(NumberedPath(n));
      ASSERT_EQ(index.Find(NumberedPath(n)), known == map.end() ? PathIndex::kNone : known->second);
    }
    for (const auto& [path, value] : map) index.Erase(path);
    EXPECT_EQ(index.size(), 0u);
    for (uint32_t n = 0; n < keys; ++n) ASSERT_EQ(index.Find(NumberedPath(n)), PathIndex::kNone);
  }
}

}  // namespace
}  // namespace clrscope::analysis
