// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/activity_path.h"

#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <random>
#include <unordered_set>
#include <vector>

namespace clrscope::analysis {
namespace {

clr::ActivityId IdOf(std::initializer_list<int> bytes) {
  clr::ActivityId id{};
  size_t i = 0;
  for (const int b : bytes) id[i++] = static_cast<std::byte>(b);
  return id;
}
ActivityPath PathOf(std::initializer_list<int> bytes) { return ActivityPath::Of(IdOf(bytes)); }

// The runtime's tracker: activities that get ids as they begin.
class Tracker {
 public:
  struct Activity {
    const Activity* creator = nullptr;
    std::array<uint8_t, 24> nibbles{};
    unsigned used = 0;         // nibbles
    bool is_overflow = false;  // it did not fit
    mutable uint32_t last_child = 0;

    clr::ActivityId id() const {
      clr::ActivityId out{};
      for (size_t i = 0; i < 12; ++i)
        out[i] = static_cast<std::byte>(nibbles[2 * i] << 4 | nibbles[2 * i + 1]);
      out[13] = std::byte{0xEE};  // the checksum is none of the path
      return out;
    }
  };

  // The child that `creator` numbers `number`; null: an outermost one.
  const Activity& Begin(const Activity* creator, uint32_t number) {
    Activity a;
    a.creator = creator;
    if (creator == nullptr) {
      Append(a, 1, false);  // the app domain
    } else {
      a.nibbles = creator->nibbles;
      a.used = creator->used;
      a.is_overflow = creator->is_overflow;
    }
    if (a.is_overflow || !Append(a, number, false)) {
      a.is_overflow = true;
      for (const Activity* up = creator; up != nullptr; up = up->creator) {
        if (up->is_overflow || up->used / 2 > 10) continue;
        a.nibbles = up->nibbles;
        a.used = up->used;
        if (Append(a, ++up->last_child, true)) break;
      }
    }
    return all_.emplace_back(a);
  }
  const Activity& BeginNext(const Activity* creator) {
    return Begin(creator, ++(creator == nullptr ? last_ : creator->last_child));
  }
  const std::deque<Activity>& all() const { return all_; }

 private:
  static bool Put(Activity& a, uint32_t nibble) {
    if (a.used >= 24) return false;
    a.nibbles[a.used++] = static_cast<uint8_t>(nibble);
    return true;
  }
  static bool Append(Activity& a, uint32_t id, bool overflow) {
    if (a.used >= 24) return false;
    if (id >= 1 && id <= 10 && !overflow) return Put(a, id);
    uint32_t bytes = id > 0xFFFFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1;
    if (overflow) {
      if (a.used / 2 >= 10) return false;
      Put(a, 0xB);
    }
    const bool high = a.used % 2 == 0;
    const bool shared = high && id < 4096;
    if (!Put(a, shared ? 0xC : 0xB + bytes)) return false;
    if (high) Put(a, shared ? id >> 8 : 0);
    if (shared) id &= 0xFF;
    for (; bytes > 0; --bytes, id >>= 8)
      if (!Put(a, id >> 4 & 0xF) || !Put(a, id & 0xF)) return false;
    return true;
  }
  uint32_t last_ = 0;
  std::deque<Activity> all_;
};

bool IsAncestorOf(const Tracker::Activity& a, const Tracker::Activity& b) {
  for (const Tracker::Activity* up = b.creator; up != nullptr; up = up->creator)
    if (up == &a) return true;
  return false;
}

TEST(ActivityPath, NoActivityHasNoElements) {
  const ActivityPath none = ActivityPath::Of({});
  EXPECT_EQ(none.size(), 0u);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none, ActivityPath());
  EXPECT_EQ(none.Parent(), none);
  EXPECT_EQ(none.Prefix(3), none);
}

TEST(ActivityPath, ElementsEndWhereTheRuntimeEndsThem) {
  EXPECT_EQ(PathOf({0x11}).size(), 2u);                          // 1 1
  EXPECT_EQ(PathOf({0x1A, 0x30}).size(), 3u);                    // 1 10 3
  EXPECT_EQ(PathOf({0x1C, 0x0B}).size(), 2u);                    // 1 11
  EXPECT_EQ(PathOf({0x1D, 0x00, 0x01}).size(), 2u);              // 1 256: a zero within a number
  EXPECT_EQ(PathOf({0x1D, 0x00, 0x01, 0x10}).size(), 3u);        // 1 256 1
  EXPECT_EQ(PathOf({0x11, 0xC0, 0x0B, 0x20}).size(), 4u);        // 1 1 11 2
  EXPECT_EQ(PathOf({0x11, 0xC1, 0x00, 0x00, 0x20}).size(), 4u);  // 1 1 256 2
  EXPECT_EQ(PathOf({0x11, 0xD0, 0x00, 0x10, 0x20}).size(), 4u);  // 1 1 4096 2
  EXPECT_EQ(PathOf({0x11, 0xF0, 1, 2, 3, 4, 0x20}).size(), 4u);  // 1 1 0x04030201 2
  EXPECT_EQ(PathOf({0x11, 0xBC, 0x01}).size(), 3u);              // 1 1 overflow 1
  EXPECT_EQ(PathOf({0x1B, 0xC0, 0x01}).size(), 2u);              // 1 overflow 1
  EXPECT_EQ(PathOf({0x1B, 0xC1, 0x01, 0x00}).size(), 2u);        // 1 overflow 257
}

TEST(ActivityPath, TheChecksumIsNoPartOfIt) {
  clr::ActivityId id = IdOf({0x1D, 0x0B, 0x20});
  const ActivityPath plain = ActivityPath::Of(id);
  for (size_t i = 12; i < 16; ++i) id[i] = std::byte{0xA5};
  EXPECT_EQ(ActivityPath::Of(id), plain);
  EXPECT_EQ(ActivityPath::Of(id).Hash(), plain.Hash());
}

TEST(ActivityPath, AMissingTailEndsTheList) {
  EXPECT_EQ(PathOf({0x11, 0xBA}).size(), 2u) << "no code after the prefix";
  EXPECT_EQ(PathOf({0x11, 0xD1, 1, 1}).size(), 2u) << "padding that the runtime does not write";
  clr::ActivityId id{};
  for (size_t i = 0; i < 12; ++i) id[i] = std::byte{0x11};
  EXPECT_EQ(ActivityPath::Of(id).size(), 24u);
  id[11] = std::byte{0x1C};  // no byte follows
  EXPECT_EQ(ActivityPath::Of(id).size(), 23u);
  id[11] = std::byte{0x1B};  // no code
  EXPECT_EQ(ActivityPath::Of(id).size(), 23u);
  id[10] = std::byte{0xF0};  // three bytes are missing
  EXPECT_EQ(ActivityPath::Of(id).size(), 20u);
  EXPECT_EQ(ActivityPath::Of(id), ActivityPath::Of(id).Prefix(20));
  EXPECT_NE(ActivityPath::Of(id), ActivityPath::Of(id).Prefix(19));
}

TEST(ActivityPath, SiblingsAreNeverPrefixesOfOneAnother) {
  constexpr uint32_t kNumbers[] = {0,     1,        10,        11,        12,     16,     0x1B,
                                   0xBC,  0xC1,     0xCC,      255,       256,    257,    0x110,
                                   0x1C0, 0xFFF,    4096,      4097,      0x1100, 0x1C00, 65535,
                                   65536, 0xFFFFFF, 0x1000000, 0xFFFFFFFF};
  Tracker tracker;
  const Tracker::Activity* odd = &tracker.Begin(nullptr, 5);  // what follows is a high nibble
  const Tracker::Activity* even = &tracker.Begin(odd, 7);
  for (const Tracker::Activity* creator : {odd, even}) {
    std::vector<ActivityPath> paths;
    for (const uint32_t n : kNumbers)
      paths.push_back(ActivityPath::Of(tracker.Begin(creator, n).id()));
    for (size_t i = 0; i < paths.size(); ++i)
      for (size_t j = 0; j < paths.size(); ++j)
        EXPECT_EQ(paths[i].IsPrefixOf(paths[j]), i == j) << kNumbers[i] << " " << kNumbers[j];
  }
}

// Numbers of every length, by steps that reach the edges between them.
uint32_t SomeNumber(std::mt19937& random) {
  constexpr uint32_t kEdges[] = {1, 10, 255, 4095, 65'535, 0xFFFFFF, 0xFFFFF000};
  const auto r = static_cast<uint32_t>(random());
  return r % 3 == 0 ? 1 + r / 3 % 10 : kEdges[r / 3 % std::size(kEdges)] + r / 64 % 4;
}

TEST(ActivityPath, APrefixIsAnAncestorsPath) {
  std::mt19937 random(20'261'101);
  size_t overflows = 0;
  for (int round = 0; round < 40; ++round) {
    Tracker tracker;
    for (int i = 0; i < 120; ++i) {
      const size_t have = tracker.all().size();
      const Tracker::Activity* creator = have == 0 || random() % 16 == 0
                                             ? nullptr
                                             : &tracker.all()[have - 1 - random() % 12 % have];
      // Numbers only grow, so no two children are alike.
      if (creator != nullptr && random() % 2 == 0)
        creator->last_child = std::max(creator->last_child, SomeNumber(random));
      tracker.BeginNext(creator);
    }
    std::vector<ActivityPath> paths;
    for (const auto& a : tracker.all()) paths.push_back(ActivityPath::Of(a.id()));
    for (size_t i = 0; i < paths.size(); ++i) {
      const Tracker::Activity& a = tracker.all()[i];
      overflows += a.is_overflow ? 1 : 0;
      size_t prefix = paths[i].size();
      for (const Tracker::Activity* up = a.creator; up != nullptr; up = up->creator) {
        if (a.is_overflow && up->is_overflow) continue;
        const ActivityPath above = ActivityPath::Of(up->id());
        if (!a.is_overflow) {
          EXPECT_EQ(above.size(), --prefix);
          EXPECT_EQ(paths[i].Prefix(prefix), above);
        }
        if (up == a.creator && !a.is_overflow) {
          EXPECT_EQ(paths[i].Parent(), above);
        }
      }
      if (a.is_overflow) {
        bool found = false;  // the ancestor that had room
        for (const Tracker::Activity* up = a.creator; up != nullptr; up = up->creator)
          found = found || (!up->is_overflow && ActivityPath::Of(up->id()) == paths[i].Parent());
        EXPECT_TRUE(found);
      }
      for (size_t j = 0; j < paths.size(); ++j)
        if (i != j && paths[j].IsPrefixOf(paths[i])) {
          EXPECT_TRUE(IsAncestorOf(tracker.all()[j], a)) << i << " " << j;
        }
    }
    std::unordered_set<ActivityPath, ActivityPath::Hasher> unique(paths.begin(), paths.end());
    EXPECT_EQ(unique.size(), paths.size());
  }
  EXPECT_GT(overflows, 100u);  // so that they are tested at all
}

TEST(ActivityPath, AnyBytesGiveAListOfPrefixes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100'000; ++round) {
    clr::ActivityId id;
    for (std::byte& b : id) b = static_cast<std::byte>(random() % 3 == 0 ? 0xBC : random());
    const ActivityPath path = ActivityPath::Of(id);
    ASSERT_LE(path.size(), ActivityPath::kMostElements);
    ActivityPath up = path;
    for (size_t n = path.size(); n > 0; --n) {
      ASSERT_EQ(up.size(), n);
      ASSERT_EQ(up, path.Prefix(n));
      ASSERT_TRUE(up.IsPrefixOf(path));
      const ActivityPath above = up.Parent();
      ASSERT_NE(above, up);
      up = above;
    }
    ASSERT_EQ(up, ActivityPath());
  }
}

TEST(ActivityPath, TheChecksumTellsWhoseItIs) {
  // As the runtime writes it: the sum of the three words before and a constant, and the process.
  clr::ActivityId id = IdOf({0x1D, 0x0B, 0x20, 0x10});
  const uint32_t sum = (0x10200B1Du + 0x599D99ADu) ^ 4711u;
  for (size_t i = 0; i < 4; ++i) id[12 + i] = static_cast<std::byte>(sum >> (8 * i));
  EXPECT_TRUE(IsPathOfProcess(id, 4711));
  EXPECT_FALSE(IsPathOfProcess(id, 4712));
  id[0] = std::byte{0x2D};
  EXPECT_FALSE(IsPathOfProcess(id, 4711));
}

}  // namespace
}  // namespace clrscope::analysis
