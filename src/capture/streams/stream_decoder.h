// SPDX-License-Identifier: Apache-2.0
// One session's stream from its ring into its process's fold.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "analysis/process_fold.h"
#include "capture/sessions/clock.h"
#include "capture/streams/stream_keeper.h"
#include "capture/streams/stream_ring.h"
#include "nettrace/reader.h"

namespace clrscope::capture {

class StreamDecoder final : public nettrace::EventSink {
 public:
  // `kept`: where the raw stream goes too; null where it is not kept.
  StreamDecoder(std::shared_ptr<StreamRing> ring, analysis::ProcessFold* fold,
                RecordingClock* clock, const nettrace::Reader::Limits& limits,
                std::shared_ptr<StreamKeeper::File> kept = nullptr)
      : ring_(std::move(ring)),
        fold_(fold),
        clock_(clock),
        kept_(std::move(kept)),
        reader_(this, limits) {}

  // Decodes what the ring holds, at most `limit` pieces. Returns whether there was anything.
  bool Pump(int limit);
  // Every quarter of a second: keeps no more than is needed, and delivers what waits for others'
  // events when nothing came since the last time. The runtime writes ten times a second.
  void Rest() {
    if (!finished_) reader_.Rest(!std::exchange(any_since_rest_, false));
  }
  // The stream is over and everything of it was decoded.
  bool finished() const { return finished_; }
  // It ended with its end tag: the session was stopped, not cut.
  bool complete() const { return reader_.ended(); }
  uint64_t events() const { return reader_.events(); }
  const LossCounters& losses() const { return reader_.losses(); }
  const std::optional<Error>& damage() const { return damage_; }

  // Leaves out events later than that after the session's start.
  void SetLength(int64_t length_ns) { length_ns_ = length_ns; }
  // Allocations and exceptions that were left out.
  uint64_t late() const { return late_; }

  // An event of a provider that the session asked for has come: not that of EventPipe itself, which
  // names the process in every session.
  bool told() const { return told_; }

  // When the session began, on the machine's clock; 0: its head has not been read.
  int64_t start_ns() const { return start_ns_; }

  void OnStream(const nettrace::StreamInfo& info) override { start_ns_ = clock_->StartOf(info); }
  void OnEvent(const clr::RawEvent& event) override {
    told_ |= event.kind->provider != clr::Provider::kEventPipe;
    if (event.time_ns > length_ns_) [[unlikely]] {
      using clr::EventTag;
      const EventTag tag = event.kind->tag;
      late_ += tag == EventTag::kAllocationTick || tag == EventTag::kAllocationSampled ||
               tag == EventTag::kException;
      return;
    }
    fold_->OnEvent(event, clock_->SinceStart(start_ns_));
  }
  void OnGap(int64_t after_ns, int64_t before_ns) override {
    const int64_t offset_ns = clock_->SinceStart(start_ns_);
    fold_->OnGap(after_ns + offset_ns, before_ns + offset_ns);
  }

 private:
  std::shared_ptr<StreamRing> ring_;
  analysis::ProcessFold* fold_;
  RecordingClock* clock_;
  std::shared_ptr<StreamKeeper::File> kept_;
  nettrace::Reader reader_;
  int64_t start_ns_ = 0;  // on our clock
  int64_t length_ns_ = INT64_MAX;
  uint64_t late_ = 0;
  bool finished_ = false, told_ = false;
  bool any_since_rest_ = false;
  std::optional<Error> damage_;
};

}  // namespace clrscope::capture
