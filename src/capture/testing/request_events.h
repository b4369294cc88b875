// SPDX-License-Identifier: Apache-2.0
// Events of requests, and of what happens for them, to a process's fold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/process_fold.h"
#include "nettrace/testing/gc_payloads.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture::testing {

// The id of the request `n` (0 = none) and of what began within it: each of `children` in 1..10.
struct TestId {
  uint32_t n = 0;
  std::vector<unsigned> children{};

  clr::ActivityId bytes() const {
    clr::ActivityId id{};
    // The app domain 1, then a number of four bytes.
    id[0] = std::byte{0x1F};
    for (size_t i = 0; i < 4; ++i) id[1 + i] = static_cast<std::byte>(n >> (8 * i));
    for (size_t i = 0; i < children.size(); ++i)
      id[5 + i / 2] |= static_cast<std::byte>(children[i] << (i % 2 == 0 ? 4 : 0));
    return id;
  }
};

using clr::EventTag;
using namespace nettrace::testing;

class RequestEvents {
 public:
  // What the events go to; it must outlive them.
  void Feed(analysis::ProcessFold* fold) { feed_ = fold; }

  void Event(EventTag tag, uint32_t version, int64_t time, const std::string& payload,
             const std::optional<TestId>& id = {}, uint64_t thread = 1,
             std::vector<uint64_t> stack = {0x1008}) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.process = 7;
    e.thread = thread;
    e.time_ns = time;
    e.payload = AsBytes(payload.data(), payload.size());
    e.stack = {reinterpret_cast<const std::byte*>(stack.data()),
               static_cast<uint32_t>(stack.size()), 8, nullptr};
    e.stack_state = clr::StackState::kPresent;
    clr::ActivityId bytes;
    if (id) {
      bytes = id->bytes();
      e.activity = &bytes;
    }
    feed_->OnEvent(e);
  }
  void Start(int64_t time, const TestId& id, std::string_view path,
             std::string_view method = "GET") {
    Event(EventTag::kRequestStart, 0, time, ByteWriter().Z16(method).Z16(path).Take(), id);
  }
  void Stop(int64_t time, const TestId& id) { Event(EventTag::kRequestStop, 0, time, "", id); }
  void Allocate(int64_t time, const std::optional<TestId>& id, uint64_t thread = 1) {
    Event(EventTag::kAllocationSampled, 0, time, AllocationSampledPayload({}), id, thread);
  }
  void Sample(int64_t time, const std::optional<TestId>& id, uint64_t bytes) {
    SampledFields f;
    f.object_size = bytes;
    Event(EventTag::kAllocationSampled, 0, time, AllocationSampledPayload(f), id);
  }
  void Throw(int64_t time, const std::optional<TestId>& id, uint64_t thread = 1) {
    Event(EventTag::kException, 1, time,
          ByteWriter().Z16("Shop.Error").Z16("m").U64(0).U32(0).U16(0x10).U16(0).Take(), id,
          thread);
  }
  void WaitForLock(int64_t time, int64_t ns, const std::optional<TestId>& id, uint64_t thread = 1) {
    Event(EventTag::kContentionStart, 2, time,
          ByteWriter().U8(0).U16(0).U64(5).U64(6).U64(99).Take(), id, thread);
    Event(EventTag::kContentionStop, 1, time + ns,
          ByteWriter().U8(0).U16(0).F64(static_cast<double>(ns)).Take(), id, thread);
  }
  // A thread suspends for a task, and goes on with it.
  void Await(int64_t begin, int64_t end, const TestId& id, uint32_t task, uint64_t thread = 1) {
    Event(EventTag::kTaskWaitBegin, 3, begin,
          ByteWriter().U32(1).U32(0).U32(task).U32(2).U32(0).Take(), id, thread);
    Event(EventTag::kTaskWaitEnd, 0, end, ByteWriter().U32(1).U32(0).U32(task).Take(), {}, thread);
  }
  void Enqueue(int64_t time, uint64_t item) {
    Event(EventTag::kPoolEnqueue, 0, time, ByteWriter().U64(item).Take(), {}, 99);
  }
  void Dequeue(int64_t time, uint64_t item, uint64_t thread = 1) {
    Event(EventTag::kPoolDequeue, 0, time, ByteWriter().U64(item).Take(), {}, thread);
  }
  void Pause(int64_t begin, int64_t end) {
    ++gcs_;
    Event(EventTag::kGcSuspendEeBegin, 1, begin, SuspendBeginPayload(1, 1, gcs_));
    Event(EventTag::kGcStart, 2, begin, GcStartPayload(2, gcs_, 0, 0, 0));
    Event(EventTag::kGcEnd, 1, end, GcEndPayload(1, gcs_, 0));
    Event(EventTag::kGcRestartEeEnd, 1, end, ByteWriter().U16(0).Take());
  }
  void Histogram(int64_t time, const std::string& tags, int32_t count, double seconds = 0.01) {
    Event(EventTag::kHistogramValue, 2, time,
          ByteWriter()
              .Z16("s1")
              .Z16("Microsoft.AspNetCore.Hosting")
              .Z16("")
              .Z16("http.server.request.duration")
              .Z16("s")
              .Z16(tags)
              .Z16("0.5=0.01")
              .Put(count)
              .F64(seconds)
              .U32(7)
              .Take());
  }
  // Routing found the template so often; "": none.
  void Matches(int64_t time, const std::string& route, uint64_t count) {
    const std::string tags = route.empty() ? "aspnetcore.routing.match_status=failure"
                                           : "aspnetcore.routing.is_fallback=False,"
                                             "aspnetcore.routing.match_status=success,http.route=" +
                                                 route;
    Event(EventTag::kCounterRate, 2, time,
          ByteWriter()
              .Z16("s1")
              .Z16("Microsoft.AspNetCore.Routing")
              .Z16("")
              .Z16("aspnetcore.routing.match_attempts")
              .Z16("{match_attempt}")
              .Z16(tags)
              .Z16(std::to_string(count))
              .Z16("1000000")
              .U32(7)
              .Take());
  }
  void Template(int64_t time, const std::string& route, int32_t count = 1,
                const std::string& method = "GET", int status = 200) {
    Histogram(time, Tags(route, method, status), count);
  }
  static std::string Tags(const std::string& route, const std::string& method = "GET",
                          int status = 200) {
    std::string tags =
        "http.request.method=" + method + ",http.response.status_code=" + std::to_string(status);
    if (!route.empty()) tags += ",http.route=" + route;
    return tags + ",network.protocol.version=1.1,url.scheme=http";
  }
  // What a DiagnosticListener tells, with one of its properties.
  void Diagnostic(int64_t time, const TestId& id, std::string_view source, std::string_view name,
                  std::vector<std::pair<std::string, std::string>> arguments) {
    ByteWriter w;
    w.Z16(source).Z16(name).U16(static_cast<uint16_t>(arguments.size()));
    for (const auto& [key, value] : arguments) w.Z16(key).Z16(value);
    Event(EventTag::kDiagnosticEvent, 0, time, w.Take(), id);
  }
  // A template fits a request: "[controller, Home],[action, Index]".
  // `path`: what routing looked for; "": it is not told.
  void Matched(int64_t time, const TestId& id, const std::string& values,
               const std::string& path = "") {
    Diagnostic(time, id, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Routing.EndpointMatched",
               {{"RouteValues", values}, {"Path", path}});
  }
  // What the program tells of its end.
  void Ended(int64_t time, const TestId& id, int status) {
    Diagnostic(time, id, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.EndRequest",
               {{"Status", std::to_string(status)}});
  }
  void Unhandled(int64_t time, const TestId& id) {
    Diagnostic(time, id, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.UnhandledException",
               {{"Time", "1"}});
  }
  void Collecting(int64_t time) { Event(EventTag::kMetricsCollectionStart, 0, time, ""); }
  void Collected(int64_t time) { Event(EventTag::kMetricsCollectionStop, 0, time, ""); }

 private:
  analysis::ProcessFold* feed_ = nullptr;
  uint32_t gcs_ = 0;
};

}  // namespace clrscope::capture::testing
