// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_decoder.h"

#include <gtest/gtest.h>

#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kMs = 1'000'000;

struct NoSlices final : profile::SliceSink {
  void OnSlice(profile::Slice&&) override {}
};

// A sample at each of these times after the session's start, through a decoder that leaves out what
// comes later than `length_ns`.
struct Decoded {
  uint64_t samples, late;
};
Decoded Decode(const std::vector<int64_t>& times_ns, std::optional<int64_t> length_ns) {
  nettrace::testing::SyntheticWriter w;
  w.Metadata({{1, "Microsoft-Windows-DotNETRuntime", 303, 0, "", 0, 4, "", 0}});
  for (const int64_t ns : times_ns) {
    nettrace::testing::EventRowSpec row;
    row.time = w.options().sync_ticks + ns;
    row.payload = nettrace::testing::AllocationSampledPayload({});
    w.Event(row);
  }
  w.SequencePoint(w.options().sync_ticks + 1'000 * kMs, w.Sequences()).End();
  auto ring = std::make_shared<StreamRing>();
  ring->Push(w.bytes());
  ring->Close();
  profile::Recording recording;
  profile::ProcessTables tables;
  NoSlices slices;
  analysis::ProcessFold fold(&recording.strings, &tables, 0, &slices, {});
  RecordingClock clock(&Clock::System());
  StreamDecoder decoder(ring, &fold, &clock, {});
  if (length_ns) decoder.SetLength(*length_ns);
  while (decoder.Pump(16)) {
  }
  EXPECT_TRUE(decoder.complete());
  return {fold.events().allocations, decoder.late()};
}

TEST(StreamDecoder, WhatComesAfterAWindowIsLeftOutAndCounted) {
  const std::vector<int64_t> times = {0, 50 * kMs, 93 * kMs, 93 * kMs + 1, 280 * kMs};
  const Decoded window = Decode(times, 93 * kMs);
  EXPECT_EQ(window.samples, 3u);
  EXPECT_EQ(window.late, 2u);
  const Decoded whole = Decode(times, std::nullopt);
  EXPECT_EQ(whole.samples, 5u);
  EXPECT_EQ(whole.late, 0u);
}

}  // namespace
}  // namespace clrscope::capture
