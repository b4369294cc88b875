// SPDX-License-Identifier: Apache-2.0
// The decoders of src/clr/gc_events.h against every version, longer and shorter payloads and those
// of 32-bit targets.
#include <gtest/gtest.h>

#include "base/utf.h"
#include "clr/gc_events.h"
#include "clr/gc_names.h"
#include "nettrace/testing/decode_as.h"
#include "nettrace/testing/gc_payloads.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::clr {
namespace {

using namespace nettrace::testing;

TEST(GcPayloads, StartDecodesInEveryVersion) {
  for (uint32_t v = 0; v <= 2; ++v) {
    const std::string payload = GcStartPayload(v, 7, 2, 1, 1, 99);
    GcStart s;
    ASSERT_TRUE(DecodeAs(EventTag::kGcStart, v, payload, s));
    EXPECT_EQ(s.number, 7u);
    EXPECT_EQ(s.generation, v >= 1 ? 2 : -1);
    EXPECT_EQ(s.reason, 1);
    EXPECT_EQ(s.type, v >= 1 ? 1 : -1);
    EXPECT_EQ(s.client_sequence, v >= 2 ? 99u : 0u);
    ExpectTailAndTruncation<GcStart>(EventTag::kGcStart, v, payload, v == 0 ? 8 : 16);
  }
}

TEST(GcPayloads, EndDecodes) {
  for (uint32_t v = 0; v <= 1; ++v) {
    GcEnd e;
    ASSERT_TRUE(DecodeAs(EventTag::kGcEnd, v, GcEndPayload(v, 7, 2), e));
    EXPECT_EQ(e.number, 7u);
    EXPECT_EQ(e.generation, 2u);
    ExpectTailAndTruncation<GcEnd>(EventTag::kGcEnd, v, GcEndPayload(v, 7, 2), v == 0 ? 6 : 8);
  }
}

TEST(GcPayloads, HeapStatsKnowThePinnedHeapFromV2On) {
  for (uint32_t v = 1; v <= 2; ++v) {
    const std::string payload = HeapStatsPayload(v, {10, 20, 30, 40, 50});
    EXPECT_EQ(payload.size(), v == 1 ? 94u : 110u);
    GcHeapStats h;
    ASSERT_TRUE(DecodeAs(EventTag::kGcHeapStats, v, payload, h));
    EXPECT_EQ(h.size[0], 10);
    EXPECT_EQ(h.promoted[3], 41);
    EXPECT_EQ(h.size[4], v == 1 ? -1 : 50);
    EXPECT_EQ(h.promoted[4], v == 1 ? -1 : 51);
    EXPECT_EQ(h.handles, 15u);
    ExpectTailAndTruncation<GcHeapStats>(EventTag::kGcHeapStats, v, payload, 92);
  }
  // A V1 payload that goes on: the bytes there are not the pinned heap's.
  GcHeapStats h;
  ASSERT_TRUE(DecodeAs(EventTag::kGcHeapStats, 1, HeapStatsPayload(2, {10, 20, 30, 40, 50}), h));
  EXPECT_EQ(h.size[4], -1);
}

TEST(GcPayloads, SuspensionAndTriggerDecode) {
  for (uint32_t v = 0; v <= 1; ++v) {
    const std::string payload = SuspendBeginPayload(v, 6, 9);
    GcSuspendBegin s;
    ASSERT_TRUE(DecodeAs(EventTag::kGcSuspendEeBegin, v, payload, s));
    EXPECT_EQ(s.reason, 6u);
    EXPECT_EQ(s.count, v == 0 ? 0u : 9u);
    GcSuspendBegin cut;
    for (size_t n = 0; n < (v == 0 ? 2u : 8u); ++n)
      EXPECT_FALSE(DecodeAs(EventTag::kGcSuspendEeBegin, v, payload.substr(0, n), cut));
  }
  GcTriggered t;
  ASSERT_TRUE(DecodeAs(EventTag::kGcTriggered, 0, GcTriggeredPayload(10), t));
  EXPECT_EQ(t.reason, 10u);
  ExpectTailAndTruncation<GcTriggered>(EventTag::kGcTriggered, 0, GcTriggeredPayload(10), 4);
}

TEST(GcPayloads, GlobalHistoryGrowsWithItsVersion) {
  GlobalHistoryFields f;
  f.heaps = 3;
  f.generation = 2;
  f.mechanisms = 6;
  f.memory_load = 77;
  f.condemn0 = 0x28;
  f.condemn1 = 1;
  f.phases = {0, 1, 2, 3, 4, 5, 6, 7};
  const size_t needed[] = {28, 28, 28, 28, 28};
  for (uint32_t v = 0; v <= 4; ++v) {
    const std::string payload = GlobalHistoryPayload(v, f);
    GcGlobalHeapHistory g;
    ASSERT_TRUE(DecodeAs(EventTag::kGcGlobalHeapHistory, v, payload, g)) << v;
    EXPECT_EQ(g.heaps, 3);
    EXPECT_EQ(g.condemned_generation, 2);
    EXPECT_EQ(g.mechanisms, 6u);
    EXPECT_EQ(g.memory_pressure, v >= 2 ? 77u : 0u);
    EXPECT_EQ(g.condemn_reasons0, v >= 3 ? 0x28u : 0u);
    EXPECT_EQ(g.phase_count, v >= 4 ? 8u : 0u);
    if (v >= 4) {
      EXPECT_EQ(g.phase_us[7], 7u);
    }
    ExpectTailAndTruncation<GcGlobalHeapHistory>(EventTag::kGcGlobalHeapHistory, v, payload,
                                                 needed[v]);
  }
  EXPECT_EQ(GlobalHistoryPayload(4, f).size(), 82u);  // as .NET 10 sends it
  // A count that the payload cannot hold: what is there.
  GcGlobalHeapHistory g;
  f.phases = {1, 2};
  std::string payload = GlobalHistoryPayload(4, f);
  payload[46] = payload[47] = payload[48] = '\x7F';
  ASSERT_TRUE(DecodeAs(EventTag::kGcGlobalHeapHistory, 4, payload, g));
  EXPECT_EQ(g.phase_count, 2u);
}

TEST(GcPayloads, PerHeapHistoryDecodesForBothPointerSizesAndAnyGenerations) {
  for (const uint8_t p : {uint8_t{4}, uint8_t{8}}) {
    for (size_t count = 0; count <= 6; ++count) {  // 4 before there was a pinned heap
      PerHeapHistoryFields f;
      f.heap = 5;
      f.condemn1 = 0x8000;
      f.free_list_allocated = 1234;
      for (size_t g = 0; g < count; ++g)
        f.generations.push_back({100 + g, 1, 2, 50 + g, 3, 4, 5, 6, 7, 8});
      const std::string payload = PerHeapHistoryPayload(f, p);
      if (p == 8 && count == 5) {
        EXPECT_EQ(payload.size(), 486u);  // as .NET 10 sends it
      }
      GcPerHeapHistory h;
      ASSERT_TRUE(DecodeAs(EventTag::kGcPerHeapHistory, 3, payload, h, p));
      EXPECT_EQ(h.heap, 5u);
      EXPECT_EQ(h.condemn_reasons1, 0x8000u);
      EXPECT_EQ(h.free_list_allocated, 1234u);
      ASSERT_EQ(h.generations, std::min<size_t>(count, 5));
      for (uint32_t g = 0; g < h.generations; ++g) {
        EXPECT_EQ(h.generation[g].size_before, 100 + g);
        EXPECT_EQ(h.generation[g].size_after, 50 + g);
        EXPECT_EQ(h.generation[g].budget, 8u);
      }
      ExpectTailAndTruncation<GcPerHeapHistory>(EventTag::kGcPerHeapHistory, 3, payload,
                                                size_t{30} + 7 * p, p);
      EXPECT_FALSE(DecodeAs(EventTag::kGcPerHeapHistory, 2, payload, h, p));
    }
  }
}

TEST(GcPayloads, PerHeapHistoryWithAWildCountGivesWhatIsThere) {
  const std::string history = ByteWriter()
                                  .U16(0)
                                  .Raw(std::string(48, '\1'))
                                  .Raw(std::string(24, '\2'))
                                  .U64(9)
                                  .U32(0x7FFFFFFF)
                                  .Raw(std::string(400, '\3'))
                                  .Take();
  GcPerHeapHistory h;
  ASSERT_TRUE(DecodeAs(EventTag::kGcPerHeapHistory, 3, history, h));
  EXPECT_EQ(h.generations, 5u);
}

TEST(GcPayloads, MarksAndJoinsDecode) {
  GcMarkWithType m;
  const std::string mark = MarkWithTypePayload(3, 6, 4096);
  ASSERT_TRUE(DecodeAs(EventTag::kGcMarkWithType, 0, mark, m));
  EXPECT_EQ(m.heap, 3u);
  EXPECT_EQ(m.root_kind, 6u);
  EXPECT_EQ(m.bytes, 4096u);
  ExpectTailAndTruncation<GcMarkWithType>(EventTag::kGcMarkWithType, 0, mark, mark.size());
  GcJoin j;
  const std::string join = ByteWriter().U32(1).U32(0).U32(2).U16(0).U32(9).Take();
  ASSERT_TRUE(DecodeAs(EventTag::kGcJoin, 2, join, j));
  EXPECT_EQ(j.id, 9u);
  ExpectTailAndTruncation<GcJoin>(EventTag::kGcJoin, 2, join, 12);
}

TEST(GcPayloads, SegmentsDecodeAndAFreedOneHasItsAddressOnly) {
  const std::string created = ByteWriter().U64(0x7F0000000028).U64(4194264).U32(3).U16(0).Take();
  GcSegment s;
  ASSERT_TRUE(DecodeAs(EventTag::kGcCreateSegment, 1, created, s));
  EXPECT_EQ(s.address, 0x7F0000000028u);
  EXPECT_EQ(s.size, 4194264u);
  EXPECT_EQ(s.type, 3u);
  ExpectTailAndTruncation<GcSegment>(EventTag::kGcCreateSegment, 1, created, 20);
  const std::string freed = ByteWriter().U64(0x7F0000000028).U16(0).Take();
  ASSERT_TRUE(DecodeAs(EventTag::kGcFreeSegment, 1, freed, s));
  EXPECT_EQ(s.size, 0u);
  ExpectTailAndTruncation<GcSegment>(EventTag::kGcFreeSegment, 1, freed, 8);
}

TEST(GcPayloads, PinnedAndFinalizedObjectsDecodeForBothPointerSizes) {
  for (const uint8_t p : {uint8_t{4}, uint8_t{8}}) {
    GcPinObject pin;
    const std::string pinned = PinObjectPayload(0x7000, 4096, "System.Byte[]", p);
    ASSERT_TRUE(DecodeAs(EventTag::kGcPinObject, 0, pinned, pin, p));
    EXPECT_EQ(pin.object, 0x7000u);
    EXPECT_EQ(pin.size, 4096u);
    EXPECT_EQ(ToUtf8(pin.type_name), "System.Byte[]");
    ExpectTailAndTruncation<GcPinObject>(EventTag::kGcPinObject, 0, pinned, pinned.size() - 2, p);
    GcFinalizeObject f;
    const std::string finalized = FinalizeObjectPayload(0x1234, 0x5678, p);
    ASSERT_TRUE(DecodeAs(EventTag::kGcFinalizeObject, 0, finalized, f, p));
    EXPECT_EQ(f.type_id, 0x1234u);
    EXPECT_EQ(f.object, 0x5678u);
    ExpectTailAndTruncation<GcFinalizeObject>(EventTag::kGcFinalizeObject, 0, finalized,
                                              finalized.size() - 2, p);
  }
}

TEST(GcPayloads, DynamicEventsAreKnownByTheirNameAndVersion) {
  const auto decode = [](const std::string& payload) {
    GcDynamic d;
    EXPECT_TRUE(DecodeAs(EventTag::kGcDynamic, 0, payload, d));
    return d;
  };
  GcCommittedUsage c;
  const GcDynamic usage = decode(CommittedUsagePayload({1, 2, 3, 4, 5}));
  EXPECT_EQ(usage.data.size(), 42u);  // as .NET 10 sends it
  ASSERT_TRUE(Decode(usage, c));
  EXPECT_EQ(c.in_use, 1u);
  EXPECT_EQ(c.bookkeeping, 5u);
  EXPECT_FALSE(Decode(decode(GcDynamicPayload("CommittedUsage", std::string(41, '\1'))), c));
  EXPECT_FALSE(Decode(decode(GcDynamicPayload("CommittedUsag", std::string(42, '\1'))), c));
  GcHeapCountTuning t;
  EXPECT_FALSE(Decode(usage, t));
  for (const char* name : {"HeapCountTuning", "SizeAdaptationTuning"}) {
    ASSERT_TRUE(Decode(decode(HeapCountTuningPayload(name, 4)), t)) << name;
    EXPECT_EQ(t.heaps, 4u);
  }
  EXPECT_FALSE(Decode(decode(HeapCountTuningPayload("SizeAdaptationSample", 4)), t));
  const std::string whole = CommittedUsagePayload({1, 2, 3, 4, 5});
  ExpectTailAndTruncation<GcDynamic>(EventTag::kGcDynamic, 0, whole, whole.size() - 2);
}

TEST(GcPayloads, SettingsDecode) {
  GcSettings s;
  const std::string payload = GcSettingsPayload(200'000'000, 0x19);
  EXPECT_EQ(payload.size(), 50u);  // as .NET 10 sends it
  ASSERT_TRUE(DecodeAs(EventTag::kGcSettings, 0, payload, s));
  EXPECT_EQ(s.hard_limit, 200'000'000u);
  EXPECT_EQ(s.gen0_max_budget, 5u);
  EXPECT_EQ(s.high_memory_percent, 6u);
  EXPECT_EQ(s.bits, 0x19u);
  ExpectTailAndTruncation<GcSettings>(EventTag::kGcSettings, 0, payload, 48);
}

TEST(GcNames, CondemnedReasonsAreDecodedByBit) {
  // gen1 asked for, gen2 in the end, budget of gen1, time of gen0; low ephemeral and induced.
  const CondemnedReasons c = DecodeCondemned(1 | 2 << 2 | 1 << 4, 1 << 4 | 1 << 0);
  EXPECT_EQ(c.initial, 1u);
  EXPECT_EQ(c.final, 2u);
  EXPECT_EQ(c.by_budget, 1u);
  EXPECT_EQ(c.by_time, 0u);
  EXPECT_EQ(c.conditions, (std::vector<std::string_view>{"induced", "low_ephemeral"}));
  EXPECT_EQ(DecodeCondemned(0, 0xFFFFFFFF).conditions.size(), 31u);
}

TEST(GcNames, InducedAreAllModesOfGcCollect) {
  for (const int32_t reason : {1, 7, 9, 10, 17}) EXPECT_TRUE(IsInduced(reason)) << reason;
  for (const int32_t reason : {0, 2, 4, 5, 12, 14}) EXPECT_FALSE(IsInduced(reason)) << reason;
  EXPECT_EQ(GcReasonName(17), "InducedAggressive");
  EXPECT_EQ(GcReasonName(18), "");
  EXPECT_EQ(GcReasonName(-1), "");
}

}  // namespace
}  // namespace clrscope::clr
