// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/target_options.h"

#include "capture/sessions/request_watch.h"

namespace clrscope::capture {

TargetOptions WhatCanBeAsked(TargetOptions options, const ipc::DotnetProcess& process) {
  if (process.event_sources_off) options.requests = options.fold.requests = options.pool = false;
  return options;
}

// The runtime has one filter for what DiagnosticListeners tell: with activities, it is in theirs.
RequestExtras ExtrasOf(const TargetOptions& options) {
  return {.activities = options.activities,
          .routing = options.activities || options.actions,
          .statuses = options.actions};
}

double NsPerRequest(const TargetOptions& options) {
  return RequestWatch::kNsPerRequest + (ExtrasOf(options).routing ? kRoutingNsPerRequest : 0) +
         (options.actions ? kStatusNsPerRequest : 0);
}

}  // namespace clrscope::capture
