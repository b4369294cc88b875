// SPDX-License-Identifier: Apache-2.0
// Routes and the slowest requests, into a capture.
#include <cmath>

#include "store/capture_writer.h"

namespace clrscope::store {

Status CaptureWriter::WriteRequests(uint32_t index) {
  const profile::RequestTables& requests = recording_->processes[index]->requests;
  if (requests.changes == progress_[index].requests) return OkStatus();
  progress_[index].requests = requests.changes;
  const auto text = [this](StringId id) { return recording_->strings.Get(id); };
  for (size_t i = 0; i < requests.routes.size(); ++i) {
    const profile::RequestRoute& r = requests.routes[i];
    insert_route_.Bind(0, int64_t{index})
        .Bind(1, static_cast<int64_t>(i))
        .Bind(2, static_cast<int64_t>(r.kind))
        .Bind(3, text(r.method))
        .Bind(4, text(r.text))
        .Bind(5, r.max_ns)
        .Bind(6, int64_t{r.of});
    RETURN_IF_ERROR(insert_route_.Run());
  }
  for (size_t i = 0; i < requests.operations.size(); ++i) {
    insert_operation_.Bind(0, int64_t{index})
        .Bind(1, static_cast<int64_t>(i))
        .Bind(2, text(requests.operations[i]));
    RETURN_IF_ERROR(insert_operation_.Run());
  }
  // The slowest so far take the place of those before.
  RETURN_IF_ERROR(delete_slow_.Bind(0, int64_t{index}).Run());
  for (const profile::SlowRequest& r : requests.slowest) {
    insert_slow_.Bind(0, int64_t{index}).Bind(1, r.start_ns).Bind(2, r.duration_ns);
    insert_slow_.Bind(3, int64_t{r.route}).Bind(4, r.path).Bind(5, int64_t{r.finished});
    insert_slow_.Bind(6, static_cast<int64_t>(r.samples))
        .Bind(7, int64_t{std::llround(r.bytes)})
        .Bind(8, int64_t{std::llround(r.objects)});
    insert_slow_.Bind(9, static_cast<int64_t>(r.exceptions))
        .Bind(10, r.lock_wait_ns)
        .Bind(11, r.gc_waited_ns)
        .Bind(12, r.queued_ns)
        .Bind(13, r.awaiting_ns);
    RETURN_IF_ERROR(insert_slow_.Run());
  }
  return OkStatus();
}

}  // namespace clrscope::store
