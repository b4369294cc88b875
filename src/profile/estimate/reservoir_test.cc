// SPDX-License-Identifier: Apache-2.0
#include "profile/estimate/reservoir.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/units.h"

namespace clrscope::profile {
namespace {

LiveObject Object(uint64_t handle, uint64_t size, uint32_t type = 1) {
  LiveObject o;
  o.handle = handle;
  o.size = size;
  o.type = type;
  return o;
}

struct Handles {
  std::multiset<uint64_t> released;
  static void Release(void* self, uint64_t handle) {
    static_cast<Handles*>(self)->released.insert(handle);
  }
};

LiveSample Make(size_t cap, Handles* handles, uint64_t seed = 1, Source source = Source::kSampled) {
  LiveSample::Options o;
  o.cap = cap;
  o.source = source;
  o.seed = seed;
  o.release = Handles::Release;
  o.context = handles;
  return LiveSample(o);
}

const auto kAllLive = [](uint64_t, int8_t* generation) {
  *generation = 2;
  return true;
};
const GcPass kFullGc{1000, 2, false};

TEST(LiveSample, HoldsItsCapAndReleasesEachHandleOnce) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  std::set<uint64_t> refused;
  for (uint64_t h = 1; h <= 20'000; ++h) {
    if (!sample.Add(Object(h, 24 + h % 100'000))) refused.insert(h);
    ASSERT_LE(sample.size(), 512u);
  }
  EXPECT_GT(sample.size(), 100u);
  for (const LiveObject& o : sample.objects()) EXPECT_EQ(handles.released.count(o.handle), 0u);
  EXPECT_EQ(handles.released.size() + refused.size() + sample.size(), 20'000u);
  sample.Clear();
  EXPECT_EQ(sample.size(), 0u);
  EXPECT_EQ(handles.released.size() + refused.size(), 20'000u);
  EXPECT_EQ(std::set<uint64_t>(handles.released.begin(), handles.released.end()).size(),
            handles.released.size());
}

TEST(LiveSample, LargeObjectsSurviveThinningAndEveryObjectStandsForItsWeight) {
  // 40 objects of 3 MB among 20,000 of 32 bytes, all sampled at the first mean, 200 runs.
  double small = 0, large = 0, large_kept = 0;
  constexpr int kRuns = 200;
  for (uint64_t run = 0; run < kRuns; ++run) {
    Handles handles;
    LiveSample sample = Make(512, &handles, run);
    for (uint64_t h = 1; h <= 20'000; ++h) {
      sample.Add(Object(h, 32, 1));
      if (h % 500 == 0) sample.Add(Object(1'000'000 + h, 3'000'000, 2));
    }
    sample.AfterGcs({&kFullGc, 1}, kSecond, kAllLive);
    std::vector<IntervalLive> lives;
    sample.TakeLives(kSecond, lives);
    ASSERT_EQ(lives.size(), 2u);
    small += lives[0].value.count;
    large += lives[1].value.count;
    large_kept += static_cast<double>(lives[1].value.samples);
  }
  // About 500 of 20,000 are left, so that a run's relative error is some 1/sqrt(400).
  EXPECT_NEAR(small / kRuns / (20'000 / HitProbability(32)), 1, 3 / std::sqrt(400.0 * kRuns));
  EXPECT_NEAR(large / kRuns, 40, 0.5);
  EXPECT_GT(large_kept / kRuns, 12);  // of the small ones one in 64 is left
}

TEST(LiveSample, ABurstOfGarbageLeavesWhatSurvivedAlone) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  for (uint64_t h = 1; h <= 200; ++h) sample.Add(Object(h, 64));
  sample.AfterGcs({&kFullGc, 1}, kSecond, kAllLive);
  for (uint64_t h = 1000; h < 100'000; ++h) {
    LiveObject o = Object(h, 64);
    o.alloc_gc = 1001;
    sample.Add(o);
  }
  EXPECT_EQ(sample.size() - sample.young(), 200u);
  EXPECT_EQ(sample.live_mean_bytes(), kSamplingMeanBytes);
  EXPECT_GT(sample.young_mean_bytes(), 64 * kSamplingMeanBytes);
}

TEST(LiveSample, TheMeanComesDownAgainWhenThereIsRoom) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  for (uint64_t h = 1; h <= 5'000; ++h) sample.Add(Object(h, 64));
  const double high = sample.young_mean_bytes();
  EXPECT_GT(high, kSamplingMeanBytes);
  for (uint32_t gc = 0; gc < 10; ++gc) {
    const GcPass pass{2000 + gc, 2, false};
    sample.AfterGcs({&pass, 1}, kSecond, [](uint64_t, int8_t*) { return false; });
  }
  EXPECT_EQ(sample.size(), 0u);
  EXPECT_EQ(sample.young_mean_bytes(), kSamplingMeanBytes);
}

TEST(LiveSample, ObjectsAreJudgedOnlyByGcsOfTheirGenerationThatBeganAfterThem) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  LiveObject soh = Object(1, 64, 1), loh = Object(2, 100'000, 2), late = Object(3, 64, 3);
  loh.kind = HeapKind::kLoh;
  late.alloc_gc = 5;  // GC 4 had begun
  sample.Add(soh);
  sample.Add(loh);
  sample.Add(late);
  std::set<uint64_t> asked;
  const auto probe = [&](uint64_t handle, int8_t* generation) {
    asked.insert(handle);
    if (*generation < 3) *generation = 1;
    return true;
  };
  const GcPass gen0{4, 0, false};
  sample.AfterGcs({&gen0, 1}, kSecond, probe);
  EXPECT_EQ(asked, (std::set<uint64_t>{1}));
  EXPECT_EQ(sample.young(), 2u);
  // Now in generation 1: another GC of generation 0 says nothing about it.
  asked.clear();
  const GcPass again{5, 0, false};
  sample.AfterGcs({&again, 1}, kSecond, probe);
  EXPECT_EQ(asked, (std::set<uint64_t>{3}));
  // A background GC frees of generation 2, LOH and POH only.
  asked.clear();
  const GcPass background{6, 2, true};
  sample.AfterGcs({&background, 1}, kSecond, probe);
  EXPECT_EQ(asked, (std::set<uint64_t>{2}));
  EXPECT_EQ(sample.young(), 0u);
  std::vector<IntervalLive> lives;
  sample.TakeLives(61 * kSecond, lives);
  ASSERT_EQ(lives.size(), 3u);
  EXPECT_EQ(lives[1].generation, 3);
  EXPECT_EQ(lives[1].gen2_survived_min, 1u);
  EXPECT_EQ(lives[0].gcs_survived_max, 1u);
  EXPECT_EQ(kAgeStarts[lives[0].age_bucket], 60u);
}

TEST(LiveSample, AGenerationThatCannotBeToldIsDerivedUntilItCan) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  for (uint64_t h = 1; h <= 3; ++h) sample.Add(Object(h, 64));
  const GcPass passes[] = {{1, 0, false}, {2, 1, false}};
  sample.AfterGcs(passes, kSecond, [](uint64_t h, int8_t* generation) {
    *generation = h == 1 ? int8_t{1} : int8_t{-1};  // the first was not promoted twice
    return true;
  });
  EXPECT_EQ(sample.derived(), 2u);
  EXPECT_EQ(sample.objects()[0].generation, 1);
  EXPECT_EQ(sample.objects()[1].generation, 2);
  sample.Regrade([](uint64_t h, int8_t* generation) {
    EXPECT_NE(h, 1u);
    if (h == 2) *generation = 0;
    return h == 2;
  });
  EXPECT_EQ(sample.derived(), 1u);
  EXPECT_EQ(sample.objects()[1].generation, 0);
  // What is really in generation 0 is asked for after the next GC; what was thought to be in 2 not.
  std::set<uint64_t> asked;
  const GcPass next{3, 0, false};
  sample.AfterGcs({&next, 1}, kSecond, [&](uint64_t h, int8_t*) {
    asked.insert(h);
    return false;
  });
  EXPECT_EQ(asked, (std::set<uint64_t>{2}));
  EXPECT_EQ(sample.derived(), 1u);
  sample.Clear();
  EXPECT_EQ(sample.derived(), 0u);
}

TEST(LiveSample, BirthsAndDeathsAreCountedOnceTheObjectHasSurvived) {
  Handles handles;
  LiveSample sample = Make(512, &handles);
  for (uint64_t h = 1; h <= 10; ++h) sample.Add(Object(h, 64));
  GcPass pass{1, 0, false};
  // Six die young: neither born nor dead.
  sample.AfterGcs({&pass, 1}, 10 * kSecond, [](uint64_t h, int8_t* generation) {
    *generation = 1;
    return h > 6;
  });
  std::vector<IntervalTurnover> turnover;
  sample.TakeTurnover(turnover);
  ASSERT_EQ(turnover.size(), 1u);
  EXPECT_EQ(turnover[0].births.samples, 4u);
  EXPECT_EQ(turnover[0].deaths.samples, 0u);
  EXPECT_EQ(kBirthStarts[turnover[0].birth_bucket], 10u);
  turnover.clear();
  pass = {2, 1, false};
  sample.AfterGcs({&pass, 1}, 40 * kSecond, [](uint64_t h, int8_t*) { return h > 7; });
  sample.TakeTurnover(turnover);
  ASSERT_EQ(turnover.size(), 1u);
  EXPECT_EQ(turnover[0].births.samples, 0u);
  EXPECT_EQ(turnover[0].deaths.samples, 1u);
  EXPECT_EQ(kBirthStarts[turnover[0].birth_bucket], 10u);
  EXPECT_NEAR(turnover[0].deaths_age_s / turnover[0].deaths.count, 40, 1e-9);
  turnover.clear();
  sample.TakeTurnover(turnover);
  EXPECT_TRUE(turnover.empty());
  EXPECT_EQ(sample.size(), 3u);
  EXPECT_EQ(handles.released.size(), 7u);
}

TEST(LiveSample, TickObjectsStayWithAHalfAndDoubleTheirWeight) {
  double bytes = 0;
  constexpr int kRuns = 100;
  for (uint64_t run = 0; run < kRuns; ++run) {
    Handles handles;
    LiveSample sample = Make(256, &handles, run, Source::kTick);
    for (uint64_t h = 1; h <= 2'000; ++h) {
      LiveObject o = Object(h, 64);
      o.amount = 102'400;
      sample.Add(o);
    }
    ASSERT_LE(sample.size(), 256u);
    std::vector<IntervalLive> lives;
    sample.TakeLives(0, lives);
    EXPECT_TRUE(lives[0].value.biased);
    EXPECT_EQ(lives[0].value.var_amount, 0);
    bytes += lives[0].value.amount;
  }
  EXPECT_NEAR(bytes / kRuns / (2'000 * 102'400.0), 1, 3 / std::sqrt(125.0 * kRuns));
}

}  // namespace
}  // namespace clrscope::profile
