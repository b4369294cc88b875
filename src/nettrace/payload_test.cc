// SPDX-License-Identifier: Apache-2.0
// The decoders of src/clr against payloads of every version, longer ones (a newer runtime's fields
// at the end), shorter ones and those of 32-bit targets. Here, because the payload builders are.
#include <gtest/gtest.h>

#include "base/utf.h"
#include "clr/alloc_events.h"
#include "clr/code_events.h"
#include "clr/counter_events.h"
#include "clr/fault_events.h"
#include "clr/thread_sample_events.h"
#include "nettrace/testing/decode_as.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::clr {
namespace {

using namespace nettrace::testing;

TEST(AllocationTickPayload, EveryVersionAndPointerSizeDecodes) {
  TickFields f;
  f.amount = 0x1'0000'1234;  // the 32-bit field of V1 wraps
  f.kind = 1;
  f.type_id = 0x7FFF1234;
  f.type = "App.Node`1";
  f.heap = 3;
  f.address = 0x70001000;
  f.object_size = 4096;
  for (const uint8_t p : {uint8_t{4}, uint8_t{8}}) {
    for (uint32_t v = 1; v <= 4; ++v) {
      const std::string payload = AllocationTickPayload(v, f, p);
      AllocationTick t;
      ASSERT_TRUE(DecodeAs(EventTag::kAllocationTick, v, payload, t, p)) << "V" << v;
      EXPECT_EQ(t.amount, v >= 2 ? f.amount : 0x1234u);
      EXPECT_EQ(t.kind, 1u);
      EXPECT_EQ(t.type_id, v >= 2 ? f.type_id : 0u);
      EXPECT_EQ(ToUtf8(t.type_name), v >= 2 ? f.type : "");
      EXPECT_EQ(t.heap, v >= 2 ? 3u : 0u);
      EXPECT_EQ(t.address, v >= 3 ? f.address : 0u);
      EXPECT_EQ(t.object_size, v >= 4 ? 4096u : 0u);
      ExpectTailAndTruncation<AllocationTick>(EventTag::kAllocationTick, v, payload, payload.size(),
                                              p);
    }
  }
}

TEST(AllocationSampledPayload, Decodes) {
  SampledFields f;
  f.kind = 2;
  f.type = "ü𝄞";
  for (const uint8_t p : {uint8_t{4}, uint8_t{8}}) {
    const std::string payload = AllocationSampledPayload(f, p);
    AllocationSampled s;
    ASSERT_TRUE(DecodeAs(EventTag::kAllocationSampled, 0, payload, s, p));
    EXPECT_EQ(s.kind, 2u);
    EXPECT_EQ(s.type_id, f.type_id);
    EXPECT_EQ(ToUtf8(s.type_name), "ü𝄞");
    EXPECT_EQ(s.object_size, f.object_size);
    EXPECT_EQ(s.sampled_byte_offset, f.offset);
    ExpectTailAndTruncation<AllocationSampled>(EventTag::kAllocationSampled, 0, payload,
                                               payload.size(), p);
  }
  f.object_size = 0;  // no such object; its weight would be infinite
  AllocationSampled s;
  EXPECT_FALSE(DecodeAs(EventTag::kAllocationSampled, 0, AllocationSampledPayload(f), s));
}

TEST(SampledObjectPayload, Decodes) {
  for (const uint8_t p : {uint8_t{4}, uint8_t{8}}) {
    const std::string payload = SampledObjectPayload(0x1000, 0x2000, 17, 999, p);
    SampledObjectAllocation s;
    ASSERT_TRUE(DecodeAs(EventTag::kSampledObjectAllocation, 0, payload, s, p));
    EXPECT_EQ(s.address, 0x1000u);
    EXPECT_EQ(s.type_id, 0x2000u);
    EXPECT_EQ(s.count, 17u);
    EXPECT_EQ(s.total_size, 999u);
    ExpectTailAndTruncation<SampledObjectAllocation>(EventTag::kSampledObjectAllocation, 0, payload,
                                                     payload.size() - 2, p);
  }
}

TEST(BulkTypePayload, WalksAllRecordsAndStopsAtDamage) {
  const std::string payload = BulkTypePayload({{1, "A", {}}, {2, "", {5, 6}}, {3, "C", {}}});
  EventKind kind;
  RawEvent e;
  e.kind = &kind;
  e.payload = AsBytes(payload.data(), payload.size());
  BulkTypeReader all(e);
  TypeRecord r;
  std::vector<std::string> names;
  while (all.Next(r)) names.push_back(ToUtf8(r.name) + "/" + std::to_string(r.parameter_count));
  EXPECT_EQ(names, (std::vector<std::string>{"A/0", "/2", "C/0"}));
  EXPECT_TRUE(all.ok());
  for (size_t n = 0; n < payload.size(); ++n) {
    e.payload = AsBytes(payload.data(), n);
    BulkTypeReader cut(e);
    size_t count = 0;
    while (cut.Next(r)) ++count;
    EXPECT_LT(count, 3u);
    EXPECT_FALSE(cut.ok()) << n;
  }
  std::string wild = ByteWriter()
                         .U32(0xFFFFFFFF)
                         .U16(0)
                         .U64(1)
                         .U64(1)
                         .U32(0)
                         .U32(0)
                         .U8(0)
                         .Z16("x")
                         .U32(0xFFFFFFFF)
                         .Take();
  e.payload = AsBytes(wild.data(), wild.size());
  BulkTypeReader bad(e);
  EXPECT_FALSE(bad.Next(r));
  EXPECT_FALSE(bad.ok());
}

TEST(MethodPayloads, EveryVersionDecodes) {
  MethodFields f;
  f.start = 0x7F0000001000;
  f.rejit_id = 5;
  for (uint32_t v = 0; v <= 2; ++v) {
    MethodRecord m;
    ASSERT_TRUE(DecodeAs(EventTag::kMethodLoadVerbose, v, MethodVerbosePayload(v, f), m));
    EXPECT_EQ(m.start, f.start);
    EXPECT_EQ(m.size, 0x100u);
    EXPECT_EQ(ToUtf8(m.owner), "App.Program");
    EXPECT_EQ(ToUtf8(m.name), "Main");
    EXPECT_EQ(ToUtf8(m.signature), "void  ()");
    EXPECT_EQ(m.rejit_id, v >= 2 ? 5u : 0u);
    ExpectTailAndTruncation<MethodRecord>(EventTag::kMethodLoadVerbose, v,
                                          MethodVerbosePayload(v, f),
                                          MethodVerbosePayload(0, f).size());
    ASSERT_TRUE(DecodeAs(EventTag::kMethodUnload, v, MethodPayload(v, f), m));
    EXPECT_TRUE(m.name.empty());
    ExpectTailAndTruncation<MethodRecord>(EventTag::kMethodUnload, v, MethodPayload(v, f), 36);
  }
}

TEST(ModulePayloads, PdbIsKnownFromV2On) {
  for (uint32_t v = 0; v <= 2; ++v) {
    const std::string payload =
        ModulePayload(v, 7, "/app/App.dll", "0123456789abcdef", "/app/App.so");
    ModuleRecord m;
    ASSERT_TRUE(DecodeAs(EventTag::kModuleLoad, v, payload, m));
    EXPECT_EQ(m.module_id, 7u);
    EXPECT_EQ(ToUtf8(m.il_path), "/app/App.dll");
    EXPECT_EQ(ToUtf8(m.native_path), "/app/App.so");
    EXPECT_EQ(m.pdb_signature.size(), v >= 2 ? 16u : 0u);
    EXPECT_EQ(ToUtf8(m.pdb_path), v >= 2 ? "app.pdb" : "");
    ExpectTailAndTruncation<ModuleRecord>(
        EventTag::kModuleLoad, v, payload,
        ModulePayload(0, 7, "/app/App.dll", "", "/app/App.so").size());
  }
  ModuleRecord m;
  ASSERT_TRUE(
      DecodeAs(EventTag::kDomainModuleLoad, 1, DomainModulePayload(7, 9, "/app/App.dll"), m));
  EXPECT_EQ(m.domain_id, 9u);
  EXPECT_EQ(ToUtf8(m.il_path), "/app/App.dll");
}

TEST(ProcessPayloads, Decode) {
  RuntimeStart r;
  const std::string payload = RuntimeStartPayload(10, 0, 12, "dotnet app.dll");
  ASSERT_TRUE(DecodeAs(EventTag::kRuntimeStart, 0, payload, r));
  EXPECT_EQ(r.clr_version[0], 10);
  EXPECT_EQ(r.clr_version[2], 12);
  EXPECT_EQ(ToUtf8(r.command_line), "dotnet app.dll");
  ExpectTailAndTruncation<RuntimeStart>(EventTag::kRuntimeStart, 0, payload, payload.size());
  ProcessInfoRecord p;
  ASSERT_TRUE(DecodeAs(EventTag::kProcessInfo, 1, ProcessInfoPayload("a b", "Linux", "x64"), p));
  EXPECT_EQ(ToUtf8(p.arch), "x64");
}

TEST(OtherPayloads, Decode) {
  ExceptionThrown x;
  const std::string thrown =
      ByteWriter().Z16("System.Exception").Z16("no").U32(1).U32(0x80131500).U16(4).U16(0).Take();
  ASSERT_TRUE(DecodeAs(EventTag::kException, 1, thrown, x, 4));
  EXPECT_EQ(x.hresult, 0x80131500u);
  EXPECT_EQ(x.flags, 4);
  ContentionStart c;
  ASSERT_TRUE(DecodeAs(EventTag::kContentionStart, 1, ByteWriter().U8(1).U16(0).Take(), c));
  EXPECT_EQ(c.lock, 0u);
  ASSERT_TRUE(DecodeAs(EventTag::kContentionStart, 2,
                       ByteWriter().U8(1).U16(0).U64(5).U64(6).U64(7).Take(), c));
  EXPECT_EQ(c.lock, 5u);
  EXPECT_EQ(c.owner, 7u);
  ContentionStop s;
  ASSERT_TRUE(
      DecodeAs(EventTag::kContentionStop, 1, ByteWriter().U8(0).U16(0).F64(1500).Take(), s));
  EXPECT_EQ(s.duration_ns, 1500);
}

TEST(EventCounterPayload, CountersThatAddUpDecodeAndMeansDoNot) {
  const auto counter = [](double increment, uint32_t interval, std::string_view type) {
    return ByteWriter()
        .Z16("exception-count")
        .Z16("Exception Count")
        .Z16("00:00:01")
        .F64(increment)
        .U32(interval)
        .Z16("")
        .Z16("Interval=1000")
        .Z16(type)
        .Z16("")
        .Take();
  };
  constexpr uint32_t kOne = 0x3F800000, kNan = 0x7FC00000;  // as floats
  SumCounter c;
  const std::string payload = counter(1'234, kOne, "Sum");
  ASSERT_TRUE(DecodeAs(EventTag::kEventCounter, 0, payload, c));
  EXPECT_TRUE(IsCounter(c.name, kExceptionCount));
  EXPECT_FALSE(IsCounter(c.name, u"exception-coun"));
  EXPECT_EQ(c.increment, 1'234);
  EXPECT_EQ(c.interval_s, 1);
  for (size_t n = 0; n + 2 < payload.size(); ++n)
    EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, payload.substr(0, n), c)) << n;
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(1, kOne, "Mean"), c));
  ASSERT_TRUE(DecodeAs(EventTag::kEventCounter, 0, counter(-1, kOne, "Sum"), c));
  EXPECT_EQ(c.increment, -1) << "the program's total went back";
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(1e300, kOne, "Sum"), c));
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(-1e300, kOne, "Sum"), c));
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(1, kNan, "Sum"), c));
}

TEST(CounterPayload, MeansAreOfTheOtherKind) {
  const auto counter = [](double mean, std::string_view kind) {
    return ByteWriter()
        .Z16("threadpool-queue-length")
        .Z16("ThreadPool Queue Length")
        .F64(mean)
        .F64(0)
        .U32(1)
        .F64(mean)
        .F64(mean)
        .U32(0x3F800000)
        .Z16("Interval=1000")
        .Z16(kind)
        .Z16("")
        .Z16("")
        .Take();
  };
  MeanCounter c;
  const std::string payload = counter(12, "Mean");
  ASSERT_TRUE(DecodeAs(EventTag::kEventCounter, 0, payload, c));
  EXPECT_TRUE(IsCounter(c.name, kPoolQueue));
  EXPECT_FALSE(IsCounter(c.name, kPoolThreads));
  EXPECT_EQ(c.mean, 12);
  for (size_t n = 0; n + 4 < payload.size(); ++n)
    EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, payload.substr(0, n), c)) << n;
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(1, "Sum"), c));
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, counter(-1, "Mean"), c));
  SumCounter sum;
  EXPECT_FALSE(DecodeAs(EventTag::kEventCounter, 0, payload, sum));
}

TEST(ThreadSamplePayload, TellsTheMode) {
  ThreadSample s;
  for (uint32_t type = 0; type <= 2; ++type) {
    ASSERT_TRUE(DecodeAs(EventTag::kThreadSample, 0, ByteWriter().U32(type).Take(), s));
    EXPECT_EQ(s.type, type);
  }
  EXPECT_FALSE(DecodeAs(EventTag::kThreadSample, 0, ByteWriter().U32(3).Take(), s));
  EXPECT_FALSE(DecodeAs(EventTag::kThreadSample, 0, std::string("\2\0", 2), s));
}

}  // namespace
}  // namespace clrscope::clr
