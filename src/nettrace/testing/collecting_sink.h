// SPDX-License-Identifier: Apache-2.0
// Keeps a copy of every event that a Reader delivers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nettrace/reader.h"

namespace clrscope::nettrace::testing {

struct SeenEvent {
  std::string provider;
  uint32_t id = 0, version = 0;
  uint32_t process = 0;
  uint64_t thread = 0;
  int64_t time_ns = 0;
  std::string payload;
  clr::StackState stack_state = clr::StackState::kNone;
  std::vector<uint64_t> stack;  // leaf first
  std::string activity, related;
  bool operator==(const SeenEvent&) const = default;
};

class CollectingSink final : public EventSink {
 public:
  void OnStream(const StreamInfo& stream) override {
    info = stream;
    ++streams;
  }
  void OnEvent(const clr::RawEvent& e) override {
    SeenEvent s;
    s.provider = e.kind->provider_name;
    s.id = e.kind->id;
    s.version = e.kind->version;
    s.process = e.process;
    s.thread = e.thread;
    s.time_ns = e.time_ns;
    s.payload.assign(reinterpret_cast<const char*>(e.payload.data()), e.payload.size());
    s.stack_state = e.stack_state;
    for (uint32_t i = 0; i < e.stack.frames; ++i) s.stack.push_back(e.stack[i]);
    const auto guid = [](const clr::ActivityId* id) {
      return id == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(id), 16);
    };
    s.activity = guid(e.activity);
    s.related = guid(e.related_activity);
    events.push_back(std::move(s));
  }

  void OnGap(int64_t after_ns, int64_t before_ns) override {
    gaps.emplace_back(after_ns, before_ns);
  }

  std::vector<std::pair<int64_t, int64_t>> gaps;
  StreamInfo info;
  int streams = 0;
  std::vector<SeenEvent> events;
};

// For tests of what a Reader itself counts.
class IgnoringSink final : public EventSink {
 public:
  void OnEvent(const clr::RawEvent&) override {}
};

// Everything that reading `bytes` in one go gives.
struct ReadResult {
  CollectingSink sink;
  std::optional<Error> error;
  LossCounters losses;
  bool ended = false;
  uint64_t offset = 0;
};
inline ReadResult ReadAll(Bytes bytes, size_t chunk = ~size_t{0}) {
  ReadResult out;
  Reader reader(&out.sink);
  while (!bytes.empty()) {
    const size_t n = std::min(chunk, bytes.size());
    if (Status status = reader.Feed(bytes.first(n)); !status.ok()) {
      out.error = status.error();
      break;
    }
    bytes = bytes.subspan(n);
  }
  reader.Finish();
  out.losses = reader.losses();
  out.ended = reader.ended();
  out.offset = reader.offset();
  return out;
}

}  // namespace clrscope::nettrace::testing
