// SPDX-License-Identifier: Apache-2.0
// An interval's sections: each one's writer, and its reader, which gives up at the first value that
// cannot be (In::ok()). Ids are checked against the sections before.
#pragma once

#include <cstdint>

#include "profile/interval/interval_coder.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::profile::interval {

// dictionary_sections.cc
void Head(const IntervalFrame& f, Out& o);
void Head(In& in, IntervalFrame& f);
void Methods(const IntervalFrame& f, Out& o);
void Methods(In& in, IntervalFrame& f);
void Types(const IntervalFrame& f, Out& o);
void Types(In& in, IntervalFrame& f);
void Nodes(const IntervalFrame& f, Out& o);
void Nodes(In& in, IntervalFrame& f);
// Of the nodes that have one; after them.
void Places(const IntervalFrame& f, Out& o);
void Places(In& in, IntervalFrame& f);

// object_sections.cc
void Flows(const IntervalFrame& f, Out& o);
void Flows(In& in, IntervalFrame& f);
void Parts(const IntervalFrame& f, Out& o);
void Parts(In& in, IntervalFrame& f);
void Lives(const IntervalFrame& f, Out& o);
void Lives(In& in, IntervalFrame& f);
void Turnover(const IntervalFrame& f, Out& o);
void Turnover(In& in, IntervalFrame& f);
void Requests(const IntervalFrame& f, Out& o);
void Requests(In& in, IntervalFrame& f);

// event_sections.cc: what happened, and how the agent fares
void Gcs(const IntervalFrame& f, Out& o);
void Gcs(In& in, IntervalFrame& f);
void Events(const IntervalFrame& f, Out& o);
void Events(In& in, IntervalFrame& f);
void Cpu(const IntervalFrame& f, Out& o);
void Cpu(In& in, IntervalFrame& f);
void Meter(const IntervalFrame& f, Out& o);
void Meter(In& in, IntervalFrame& f);
void Losses(const IntervalFrame& f, Out& o);
void Losses(In& in, IntervalFrame& f);
void Trouble(const IntervalFrame& f, Out& o);
void Trouble(In& in, IntervalFrame& f);

// limit_sections.cc: what it may take, and what was sampled in windows for that
void Limit(const IntervalFrame& f, Out& o);
void Limit(In& in, IntervalFrame& f);

// How far node and type ids may go.
struct IdLimits {
  explicit IdLimits(const IntervalFrame& f)
      : nodes(uint64_t{f.first_node} + f.nodes.size()),
        types(uint64_t{f.first_type} + f.types.size()) {}
  uint64_t nodes, types;
};

}  // namespace clrscope::profile::interval
