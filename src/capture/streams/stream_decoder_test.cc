// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_decoder.h"

#include <gtest/gtest.h>

#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kDecoderMs = 1'000'000;

struct NoDecodedSlices final : profile::SliceSink {
  void OnSlice(profile::Slice&&) override {}
};

// A sample at each of these times after the session's start, through a decoder that leaves out what
// comes later than `length_ns`.
struct DecodedWindow {
  uint64_t samples, late;
};
DecodedWindow DecodeWindow(const std::vector<int64_t>& times_ns, std::optional<int64_t> length_ns) {
  nettrace::testing::SyntheticWriter w;
  w.Metadata({{1, "Microsoft-Windows-DotNETRuntime", 303, 0, "", 0, 4, "", 0}});
  for (const int64_t ns : times_ns) {
    nettrace::testing::EventRowSpec row;
    row.time = w.options().sync_ticks + ns;
    row.payload = nettrace::testing::AllocationSampledPayload({});
    w.Event(row);
  }
  w.SequencePoint(w.options().sync_ticks + 1'000 * kDecoderMs, w.Sequences()).End();
  auto ring = std::make_shared<StreamRing>();
  ring->Push(w.bytes());
  ring->Close();
  profile::Recording recording;
  profile::ProcessTables tables;
  NoDecodedSlices slices;
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
  const std::vector<int64_t> times = {0, 50 * kDecoderMs, 93 * kDecoderMs, 93 * kDecoderMs + 1,
                                      280 * kDecoderMs};
  const DecodedWindow window = DecodeWindow(times, 93 * kDecoderMs);
  EXPECT_EQ(window.samples, 3u);
  EXPECT_EQ(window.late, 2u);
  const DecodedWindow whole = DecodeWindow(times, std::nullopt);
  EXPECT_EQ(whole.samples, 5u);
  EXPECT_EQ(whole.late, 0u);
}

}  // namespace
}  // namespace clrscope::capture
