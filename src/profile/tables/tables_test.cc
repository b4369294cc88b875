// SPDX-License-Identifier: Apache-2.0
// The tables that events are folded into: size classes, series, stacks and their code epochs,
// slices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/units.h"
#include "profile/stacks/code_map.h"
#include "profile/stacks/stack_tree.h"
#include "profile/tables/series.h"
#include "profile/tables/slice.h"

namespace clrscope::profile {
namespace {

// 32 bits that are not more than that in their type.
struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine()); }
  std::mt19937 engine;
};

// --- Size classes ---

TEST(SizeClass, IsExactUpTo128BytesAndMonotonic) {
  for (uint64_t size = 8; size <= 128; size += 8) EXPECT_EQ(SizeClass(size), size / 8);
  EXPECT_EQ(SizeClass(0), 0);
  uint16_t last = 0;
  for (uint64_t size = 1; size < (1 << 20); ++size) {
    ASSERT_GE(SizeClass(size), last);
    last = SizeClass(size);
  }
  EXPECT_LT(SizeClass(~uint64_t{0}), 1 << 12);  // its bits in SeriesKey
}

// The estimate of a class uses the mean size of its samples. The worst case is a mix of the class's
// smallest and largest size; the best mix for the error is searched.
void WorstErrors(double& bytes, double& objects) {
  bytes = objects = 0;
  for (uint64_t size = 24; size < (64 << 20);) {
    uint64_t last = size;
    while (SizeClass(last + 8) == SizeClass(size)) {
      last += 8;
      if (last - size > 8 && last > 4096) {  // jump: classes are a sixteenth of a power of two
        uint64_t step = 8;
        while (SizeClass(last + step * 2) == SizeClass(size)) step *= 2;
        last += step;
      }
    }
    for (uint64_t a = 1; a < 40; ++a) {  // sampled counts: a of the small, 40 - a of the large
      const uint64_t b = 40 - a;
      Estimate exact = EstimateSampled(a, static_cast<double>(size));
      exact += EstimateSampled(b, static_cast<double>(last));
      const double mean = static_cast<double>(a * size + b * last) / 40;
      const Estimate rough = EstimateSampled(40, mean);
      bytes = std::max(bytes, std::fabs(rough.amount / exact.amount - 1));
      objects = std::max(objects, std::fabs(rough.count / exact.count - 1));
    }
    size = last + 8;
  }
}

TEST(SizeClass, EstimatesAreOffByLessThanAThousandth) {
  double bytes, objects;
  WorstErrors(bytes, objects);
  EXPECT_LT(bytes, 1.2e-4);
  // Objects are worth 1/size each, which is more curved: the worst mix of one class is off by more.
  EXPECT_LT(objects, 1e-3);
  RecordProperty("worst_bytes_error_ppm", static_cast<int>(bytes * 1e6));
  RecordProperty("worst_objects_error_ppm", static_cast<int>(objects * 1e6));
  std::printf("worst error of a class: bytes %.4f %%, objects %.4f %%\n", bytes * 100,
              objects * 100);
}

// --- Series ---

TEST(SeriesTable, SameKeyIsTheSameSeries) {
  SeriesTable table;
  bool capped = false;
  Random random(1);
  std::vector<SeriesKey> keys;
  for (int i = 0; i < 20000; ++i)
    keys.push_back(SeriesKey::Make(
        random() % 500, random() % 50, static_cast<HeapKind>(random() % 4),
        static_cast<Source>(1 + random() % 3), static_cast<uint16_t>(random() % 400)));
  for (const SeriesKey& k : keys) {
    const uint32_t id = table.Find(k, 8, 3, &capped);
    EXPECT_TRUE(table.keys()[id] == k);
    EXPECT_EQ(table.Find(k, 999, 3, &capped), id);
    EXPECT_EQ(table.nominal_sizes()[id], 8u);  // of the first
  }
  EXPECT_FALSE(capped);
}

TEST(SeriesTable, CapLosesTheStackOnly) {
  SeriesTable table(3);
  bool capped = false;
  for (uint32_t node = 10; node < 13; ++node)
    (void)table.Find(SeriesKey::Make(node, 1, HeapKind::kSoh, Source::kTick, 4), 32, 3, &capped);
  EXPECT_FALSE(capped);
  const uint32_t id =
      table.Find(SeriesKey::Make(99, 7, HeapKind::kLoh, Source::kTick, 5), 40, 3, &capped);
  EXPECT_TRUE(capped);
  const SeriesKey& k = table.keys()[id];
  EXPECT_EQ(k.node, 3u);
  EXPECT_EQ(k.type, 7u);
  EXPECT_EQ(k.kind(), HeapKind::kLoh);
  EXPECT_EQ(k.source(), Source::kTick);
  capped = false;
  (void)table.Find(SeriesKey::Make(11, 1, HeapKind::kSoh, Source::kTick, 4), 32, 3, &capped);
  EXPECT_FALSE(capped) << "a series that was there before the cap stays its own";
}

TEST(SeriesKey, PacksKindSourceAndClass) {
  const SeriesKey k =
      SeriesKey::Make(1, 2, HeapKind::kUnknown, Source::kCounted, SizeClass(~uint64_t{0}));
  EXPECT_EQ(k.kind(), HeapKind::kUnknown);
  EXPECT_EQ(k.source(), Source::kCounted);
}

// --- Stacks ---

uint32_t Fold(StackTree& tree, const std::vector<uint64_t>& ips, int64_t time = 0,
              uint64_t thread = 1) {
  std::string bytes(ips.size() * 8 + 1, '\0');  // unaligned
  std::memcpy(bytes.data() + 1, ips.data(), ips.size() * 8);
  return tree.Fold(reinterpret_cast<const std::byte*>(bytes.data()) + 1,
                   static_cast<uint32_t>(ips.size()), 8, thread, time);
}

std::vector<uint64_t> Path(const StackTree& tree, uint32_t node) {
  std::vector<uint64_t> out;
  for (; node >= StackTree::kFirstReal; node = tree.parent(node))
    out.push_back(tree.addresses()[tree.address_index(node)].address);
  return out;
}

TEST(StackTree, EqualStacksAreOneNodeAndPathsReadBack) {
  StackTree tree;
  Random random(5);
  std::vector<std::pair<std::vector<uint64_t>, uint32_t>> seen;
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint64_t> ips(1 + random() % 12);
    for (uint64_t& ip : ips) ip = 0x7F0000000000 + random() % 6;
    const uint32_t node = Fold(tree, ips, i, random() % 40);
    ASSERT_EQ(Path(tree, node), ips);
    seen.emplace_back(ips, node);
  }
  for (const auto& [ips, node] : seen) ASSERT_EQ(Fold(tree, ips), node);
}

TEST(StackTree, AStackKeepsItsNoteHoweverManyOthersCome) {
  constexpr uint32_t kStacks = 200'000;  // six times what the table of recent ones holds
  StackTree tree;
  std::vector<uint32_t> nodes(kStacks);
  const auto stack = [](uint32_t i) {
    return std::vector<uint64_t>{0x10000 + i % 700, 0x90000 + i / 700, 0x1000};
  };
  const auto fold = [&](uint32_t i, uint32_t* note) {
    const std::vector<uint64_t> ips = stack(i);
    return tree.Fold(reinterpret_cast<const std::byte*>(ips.data()), 3, 8, i % 5, 0,
                     StackTree::kMostFrames, note);
  };
  for (uint32_t i = 0; i < kStacks; ++i) {
    uint32_t note = 7;
    nodes[i] = fold(i, &note);
    ASSERT_EQ(note, 0u);
    tree.SetNote(nodes[i], i + 1);
  }
  for (uint32_t i = kStacks; i-- > 0;) {
    uint32_t note = 0;
    ASSERT_EQ(fold(i, &note), nodes[i]);
    ASSERT_EQ(note, i + 1);
    ASSERT_EQ(Path(tree, nodes[i]), stack(i));
  }
}

TEST(StackTree, PointersOf32BitsFoldLikeWideOnes) {
  StackTree tree;
  const uint32_t narrow[] = {0x1000, 0x2000, 0xF0000000};
  const uint32_t a = tree.Fold(reinterpret_cast<const std::byte*>(narrow), 3, 4, 1, 0);
  EXPECT_EQ(Fold(tree, {0x1000, 0x2000, 0xF0000000}), a);
}

TEST(StackTree, EmptyStackIsNoStack) {
  StackTree tree;
  EXPECT_EQ(tree.Fold(nullptr, 0, 8, 1, 0), StackTree::kNoStack);
}

TEST(StackTree, StacksOfTheirWritersLimitHangUnderTruncated) {
  StackTree tree;
  const auto root_of = [&](size_t frames, uint32_t limit) {
    std::vector<uint64_t> ips(frames);
    for (size_t i = 0; i < ips.size(); ++i) ips[i] = 0x1000 + i;
    uint32_t node = tree.Fold(reinterpret_cast<const std::byte*>(ips.data()),
                              static_cast<uint32_t>(frames), 8, 1, 0, limit);
    EXPECT_EQ(Path(tree, node).size(), std::min<size_t>(frames, 1024));
    EXPECT_EQ(Path(tree, node)[0], 0x1000u) << "the root's end is lost";
    while (node >= StackTree::kFirstReal) node = tree.parent(node);
    return node;
  };
  EXPECT_EQ(root_of(99, StackTree::kRuntimeLimit), StackTree::kRoot);
  EXPECT_EQ(root_of(100, StackTree::kRuntimeLimit), StackTree::kTruncated);
  EXPECT_EQ(root_of(101, StackTree::kRuntimeLimit), StackTree::kRoot) << "the runtime writes none";
  EXPECT_EQ(root_of(100, StackTree::kMostFrames), StackTree::kRoot);
  EXPECT_EQ(root_of(1023, StackTree::kMostFrames), StackTree::kRoot);
  EXPECT_EQ(root_of(1024, StackTree::kMostFrames), StackTree::kTruncated);
  EXPECT_EQ(root_of(5000, StackTree::kRuntimeLimit), StackTree::kTruncated);
}

TEST(StackTree, CapTurnsNewStacksIntoOther) {
  StackTree tree(10);
  uint32_t last = 0;
  for (uint64_t i = 0; i < 20; ++i) last = Fold(tree, {0x1000 + i});
  EXPECT_EQ(last, StackTree::kOther);
  EXPECT_TRUE(tree.capped());
  EXPECT_EQ(tree.size(), 10u);
  EXPECT_EQ(Path(tree, Fold(tree, {0x1000})), (std::vector<uint64_t>{0x1000}));
  // A stack that begins like a known one and goes on is other too, and spoils nothing after it.
  EXPECT_EQ(Fold(tree, {0x7777, 0x1001}), StackTree::kOther);
  EXPECT_EQ(Path(tree, Fold(tree, {0x1001})), (std::vector<uint64_t>{0x1001}));
}

TEST(StackTree, RetiredCodeGetsAnEpochOfItsOwn) {
  StackTree tree;
  const uint32_t before = Fold(tree, {0x1010, 0x9000}, 10);
  EXPECT_FALSE(tree.Retire(0x5000, 0x100)) << "nobody saw that code";
  EXPECT_TRUE(tree.Retire(0x1000, 0x100));
  const uint32_t after = Fold(tree, {0x1010, 0x9000}, 20);
  EXPECT_NE(before, after);
  EXPECT_EQ(tree.parent(before), tree.parent(after)) << "the caller is the same code";
  EXPECT_EQ(tree.addresses()[tree.address_index(after)].first_ns, 20);
  EXPECT_EQ(tree.addresses()[tree.address_index(after)].address, 0x1010u);
  EXPECT_EQ(Fold(tree, {0x1010, 0x9000}, 30), after);
  EXPECT_TRUE(tree.Retire(0x1000, 0x100));
  EXPECT_NE(Fold(tree, {0x1010, 0x9000}, 40), after);
}

TEST(StackTree, RetiringAcrossPagesAndWildSizes) {
  StackTree tree;
  const uint32_t a = Fold(tree, {0x1FF0}), b = Fold(tree, {0x2010});
  EXPECT_TRUE(tree.Retire(0x1F00, 0x400));
  EXPECT_NE(Fold(tree, {0x1FF0}), a);
  EXPECT_NE(Fold(tree, {0x2010}), b);
  EXPECT_FALSE(tree.Retire(0, ~uint64_t{0}));
  EXPECT_FALSE(tree.Retire(~uint64_t{0}, 1));
  EXPECT_FALSE(tree.Retire(0x1000, 0));
  for (int i = 0; i < 70000; ++i) {  // more epochs than there are numbers for
    (void)Fold(tree, {0x2010});
    (void)tree.Retire(0x2000, 0x100);
  }
  EXPECT_EQ(Path(tree, Fold(tree, {0x2010})), (std::vector<uint64_t>{0x2010}));
}

// --- Code over time ---

MethodCode Code(uint64_t start, uint32_t size, uint64_t id, int64_t load = kAlways) {
  MethodCode m;
  m.start = start;
  m.size = size;
  m.method_id = id;
  m.load_ns = load;
  return m;
}

TEST(CodeMap, FindsTheOwnerByRange) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1));
  map.Add(Code(0x1100, 0x100, 2));
  EXPECT_FALSE(map.Find(0x0FFF, 0).method);
  EXPECT_EQ(map.Find(0x1000, 0).method->method_id, 1u);
  EXPECT_EQ(map.Find(0x10FF, 0).method->method_id, 1u);
  EXPECT_EQ(map.Find(0x1100, 0).method->method_id, 2u);
  EXPECT_FALSE(map.Find(0x1200, 0).method);
  EXPECT_FALSE(map.Find(0x1000, 0).ambiguous);
}

TEST(CodeMap, ReusedRangeIsResolvedByTime) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1, 10 * kSecond));
  map.Unload(0x1000, 1, 20 * kSecond);
  map.Add(Code(0x1000, 0x80, 2, 30 * kSecond));
  EXPECT_EQ(map.Find(0x1010, 15 * kSecond).method->method_id, 1u);
  EXPECT_FALSE(map.Find(0x1010, 15 * kSecond).ambiguous);
  EXPECT_EQ(map.Find(0x1010, 35 * kSecond).method->method_id, 2u);
  EXPECT_EQ(map.Find(0x1090, 15 * kSecond).method->method_id, 1u);
  EXPECT_EQ(map.Owners(0x1010).size(), 2u);
  // Neither lived at 25 s: the nearer one, and it is said to be uncertain.
  EXPECT_TRUE(map.Find(0x1010, 25 * kSecond).ambiguous);
  EXPECT_EQ(map.Find(0x1010, 22 * kSecond).method->method_id, 1u);
}

TEST(CodeMap, SampleShortlyBeforeTheLoadEventBelongsToTheNewCode) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1, 0));
  map.Unload(0x1000, 1, 10 * kSecond);
  map.Add(Code(0x1000, 0x100, 2, 20 * kSecond));
  const MethodMatch m = map.Find(0x1010, 20 * kSecond - 5'000'000);
  EXPECT_EQ(m.method->method_id, 2u);
  EXPECT_FALSE(m.ambiguous);
}

TEST(CodeMap, LoadEndsWhatWasThereWithoutAnUnload) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1, 0));
  map.Add(Code(0x1000, 0x100, 2, 10 * kSecond));
  EXPECT_EQ(map.Find(0x1010, 5 * kSecond).method->method_id, 1u);
  EXPECT_EQ(map.Find(0x1010, 15 * kSecond).method->method_id, 2u);
}

TEST(CodeMap, RundownMethodsWereAlwaysThere) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1));
  EXPECT_TRUE(map.Knows(0x1000, 0x100, 1));
  EXPECT_FALSE(map.Knows(0x1000, 0x80, 1));
  EXPECT_FALSE(map.Find(0x1010, -5).ambiguous);
  EXPECT_EQ(map.Find(0x1010, INT64_MAX).method->method_id, 1u);
  map.Unload(0x1000, 1, 10);
  EXPECT_FALSE(map.Knows(0x1000, 0x100, 1)) << "it must be added again when it comes back";
}

TEST(CodeMap, TwoOwnersAtOnceAreAmbiguous) {
  CodeMap map;
  map.Add(Code(0x1000, 0x100, 1));
  map.Add(Code(0x1080, 0x100, 2));
  EXPECT_TRUE(map.Find(0x1090, 5).ambiguous);
  EXPECT_FALSE(map.Find(0x1010, 5).ambiguous);
  EXPECT_FALSE(map.Find(0x1170, 5).ambiguous);
}

TEST(CodeMap, WildTimesDoNotOverflow) {
  CodeMap map;
  MethodCode m = Code(0x1000, 0x100, 1, INT64_MAX);
  m.unload_ns = INT64_MIN;
  map.Add(m);
  EXPECT_EQ(map.Find(0x1010, INT64_MIN).method->method_id, 1u);
  EXPECT_EQ(map.Find(0x1010, INT64_MAX).method->method_id, 1u);
}

TEST(CodeMap, RandomIntervalsAgreeWithAPlainSearch) {
  Random random(9);
  for (int run = 0; run < 20; ++run) {
    CodeMap map;
    std::vector<MethodCode> all;
    for (uint64_t i = 0; i < 200; ++i) {
      all.push_back(Code(random() % 5000, 1 + random() % 300, i));
      map.Add(all.back());
    }
    for (int probe = 0; probe < 500; ++probe) {
      const uint64_t at = random() % 5500;
      std::vector<uint64_t> want, got;
      for (const MethodCode& m : all)
        if (at >= m.start && at < m.start + m.size) want.push_back(m.method_id);
      for (const CodeMap::Owner& owner : map.Owners(at)) got.push_back(owner.method.method_id);
      std::sort(got.begin(), got.end());
      ASSERT_EQ(got, want);
    }
  }
}

TEST(CodeMap, ProcessesShareWhatIsTheSameOfTheirMethods) {
  const auto pool = std::make_shared<MethodPool>();
  CodeMap a(pool), b(pool);
  MethodCode m = Code(0x1000, 0x100, 1);
  m.owner = StringId{1};
  m.name = StringId{2};
  m.token = 7;
  a.Add(m);
  m.start = 0x5000;
  m.method_id = 99;
  m.module_id = 12;
  b.Add(m);
  EXPECT_EQ(pool->size(), 1u);
  m.token = 8;
  m.start = 0x6000;
  b.Add(m);
  EXPECT_EQ(pool->size(), 2u);
  EXPECT_EQ(a.Find(0x1000, 0).method->token, 7u);
  EXPECT_EQ(b.Find(0x5000, 0).method->method_id, 99u);
  EXPECT_EQ(b.Find(0x5000, 0).method->module_id, 12u);
  EXPECT_EQ(b.Find(0x6000, 0).method->token, 8u);
}

// --- Slices ---

TEST(SliceBuilder, CountsBySeriesAndThreadAndStartsOver) {
  const SeriesKey soh = SeriesKey::Make(4, 1, HeapKind::kSoh, Source::kCounted, 2);
  SliceBuilder b;
  EXPECT_TRUE(b.empty());
  for (uint64_t i = 0; i < 3000; ++i) {
    b.Add(static_cast<uint32_t>(i % 7 * 100), {1, 10, 100});
    b.AddThread(i % 1000, static_cast<uint32_t>(i % 7 * 100), soh, {1, 10, 100});
  }
  b.AddThread(0xF000000000000001u, 0, soh, {1, 1, 1});  // same key as thread 1
  b.AddThread(1, 0, soh, {1, 10, 100});
  b.AddThread(0xF000000000000001u, 0, soh, {1, 1, 1});
  b.SetNote(100, 77);
  const Slice s = b.Take(2, 10, 20);
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(b.note(100), 77u) << "notes outlive a slice";
  b.ForgetNotes();
  EXPECT_EQ(b.note(100), 0u);
  EXPECT_EQ(s.process, 2u);
  ASSERT_EQ(s.rows.size(), 7u);
  uint64_t samples = 0;
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(s.rows[i].series, i * 100);
    samples += s.rows[i].sums.samples;
  }
  EXPECT_EQ(samples, 3000u);
  ASSERT_EQ(s.threads.size(), 1001u);
  EXPECT_EQ(s.threads[1].value.samples, 4u);
  EXPECT_EQ(s.threads.back().value.samples, 2u);
  EXPECT_TRUE(b.empty());
  b.Add(3, {1, 1, 1});
  b.AddThread(5, 3, SeriesKey::Make(4, 1, HeapKind::kLoh, Source::kCounted, 0), {1, 24, 3});
  const Slice next = b.Take(0, 20, 30);
  EXPECT_EQ(next.rows.size(), 1u);
  EXPECT_EQ(next.threads.size(), 1u);
}

TEST(SliceBuilder, KeepsSamplesBySeriesAndThread) {
  const SeriesKey soh = SeriesKey::Make(4, 1, HeapKind::kSoh, Source::kSampled, 2);
  SliceBuilder b;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> expected;
  for (uint32_t round = 0; round < 2; ++round) {
    expected.clear();
    for (uint64_t i = 0; i < 5000; ++i) {
      const auto series = static_cast<uint32_t>(i * 7 % 11 * 10);
      const uint64_t thread = 9000 - i * i % 137;  // more than a row's list is looked through for
      b.Add(series, {1, i, 0});
      b.AddThread(thread, series, soh, {1, i, 0});
      expected[{series, thread}] += i;
    }
    const Slice s = b.Take(0, 0, 1);
    EXPECT_TRUE(s.threads.empty());
    EXPECT_TRUE(std::is_sorted(s.thread_ids.begin(), s.thread_ids.end()));
    ASSERT_EQ(s.parts.size(), expected.size());
    auto want = expected.begin();
    for (const ThreadPart& part : s.parts) {
      EXPECT_EQ(part.series, want->first.first);
      EXPECT_EQ(s.thread_ids[part.thread], want->first.second);
      EXPECT_EQ(part.sums.amount, want->second);
      ++want;
    }
  }
}

TEST(MergeSlice, MergesThreadsOfRows) {
  Slice a, b;
  a.rows = {{1, {3, 30, 0}}};
  a.thread_ids = {5, 9};
  a.parts = {{1, 0, {1, 10, 0}}, {1, 1, {2, 20, 0}}};
  b.rows = {{1, {2, 20, 0}}, {2, {1, 7, 0}}};
  b.thread_ids = {7, 9};
  b.parts = {{1, 0, {1, 10, 0}}, {1, 1, {1, 10, 0}}, {2, 0, {1, 7, 0}}};
  MergeSlice(a, b);
  EXPECT_EQ(a.thread_ids, (std::vector<uint64_t>{5, 7, 9}));
  ASSERT_EQ(a.parts.size(), 4u);
  EXPECT_EQ(a.parts[2].thread, 2u);
  EXPECT_EQ(a.parts[2].sums.samples, 3u);
  EXPECT_EQ(a.parts[3].series, 2u);
  EXPECT_EQ(a.parts[3].thread, 1u);
}

TEST(MergeSlice, BoundsItsThreadsAndKeepsTheirSums) {
  Slice a, b;
  const auto thread_of = [](uint32_t i) { return uint64_t{i} * 3; };
  for (Slice* s : {&a, &b}) {
    const uint32_t first = s == &a ? 0 : 3000;
    s->rows = {{4, {0, 0, 0}}};
    for (uint32_t i = 0; i < 3000; ++i) {
      s->thread_ids.push_back(thread_of(first + i));
      const uint64_t n = i == 5 ? 100 : 1;
      s->parts.push_back({4, i, {n, n * 10, 0}});
      s->rows[0].sums += {n, n * 10, 0};
    }
  }
  MergeSlice(a, b);
  ASSERT_EQ(a.thread_ids.size(), kMostSliceThreads);
  EXPECT_EQ(a.thread_ids.back(), kOtherThreads);
  EXPECT_TRUE(std::binary_search(a.thread_ids.begin(), a.thread_ids.end(), thread_of(3005)));
  Sums sum;
  for (const ThreadPart& part : a.parts) sum += part.sums;
  EXPECT_EQ(sum.samples, a.rows[0].sums.samples);
  EXPECT_EQ(sum.amount, a.rows[0].sums.amount);
  EXPECT_EQ(a.parts.back().sums.samples, 6000 - (kMostSliceThreads - 1));
}

TEST(MergeSlice, AddsWhatIsEqualAndKeepsWhatIsNot) {
  Slice a, b;
  a.start_ns = 10, a.end_ns = 20, b.start_ns = 5, b.end_ns = 15;
  a.rows = {{1, {1, 2, 3}}, {5, {1, 1, 1}}};
  b.rows = {{0, {7, 7, 7}}, {5, {2, 2, 2}}, {9, {1, 0, 0}}};
  a.threads = {{4, HeapKind::kSoh, Source::kTick, EstimateTick(1, 10, 1)}};
  b.threads = {{4, HeapKind::kSoh, Source::kTick, EstimateTick(2, 20, 1)},
               {4, HeapKind::kLoh, Source::kTick, {}}};
  MergeSlice(a, b);
  EXPECT_EQ(a.start_ns, 5);
  EXPECT_EQ(a.end_ns, 20);
  ASSERT_EQ(a.rows.size(), 4u);
  EXPECT_EQ(a.rows[2].series, 5u);
  EXPECT_EQ(a.rows[2].sums.samples, 3u);
  ASSERT_EQ(a.threads.size(), 2u);
  EXPECT_EQ(a.threads[0].value.amount, 30);
}

}  // namespace
}  // namespace clrscope::profile
