// SPDX-License-Identifier: Apache-2.0
// A frame with something in each of its parts.
#pragma once

#include "profile/interval/interval_frame.h"

namespace clrscope::profile::testing {

inline IntervalFrame FullFrame() {
  IntervalFrame f;
  f.sequence = 7;
  f.start_unix_ns = 1'790'000'000'123'456'789;
  f.start_ns = 60'000'000'000;
  f.end_ns = 120'000'000'001;
  f.pid = 4321;
  f.runtime = ".NET 10.0.14";
  f.live = true;
  f.last = true;
  f.first_method = 3;
  f.first_type = 2;
  f.first_node = 5;
  f.methods = {
      {"Orders", "0123456789abcdef0123456789abcdef", "Orders.Cache.Add", "Add", 0x06000001, 0},
      {"", "", "[native]", "", 0, 8}};
  f.types = {{0x7f0000001000, "Orders.Order[]", "Order[]"}};
  f.nodes = {{4, 3, 12}, {5, 4, 13}, {0, 0}};
  f.first_place = 12;
  f.places = {{0x7f12'3456'789a, 119'000'000'000}, {0x7f00'0000'1234, -5}};
  f.flows = {{6, 2, HeapKind::kLoh, EstimateSampled(12, 100'000)},
             {5, 0, HeapKind::kSoh, EstimateSampled(1, 24)}};
  const Estimate& flow = f.flows[0].value;
  f.parts = {{6,
              2,
              HeapKind::kLoh,
              77,
              {.samples = 9, .amount = 0.7 * flow.amount, .count = 0.8 * flow.count}},
             {6,
              2,
              HeapKind::kLoh,
              1u << 20,
              {.samples = 3, .amount = 0.3 * flow.amount, .count = 0.2 * flow.count}},
             {5, 0, HeapKind::kSoh, 78, EstimateSampled(1, 24)}};
  f.lives = {{6, 2, HeapKind::kLoh, 3, false, 9, 7, 1, 4, 1, 2, EstimateSampled(3, 1e5, 204800)},
             {6, 2, HeapKind::kSoh, -1, true, 0, 0, 0, 0, 0, 0, EstimateSampled(1, 32)}};
  f.turnover = {{6, 2, 7, EstimateSampled(2, 1e5), EstimateSampled(1, 1e5), 61.5}};
  f.gcs = {{41, 2, 1, 4, 61'000'000'000, 62'000'000'000, 1'500'000, {1, 2, 3, 4, 5}}};
  f.cpu = {9'000'000'000, 1'000'000'000, 200'000'000, -1};
  f.meter = {1000, 900'000, 3, 5'000'000, 12'000'000, 512, 80'000, 204800};
  f.losses = {{"stack_too_deep", 3}, {"queue_full", 1}};
  f.measures = 1u << static_cast<uint32_t>(Measure::kExceptions);
  f.events = {{Source::kException, 6, 2, 4711, 0, false, {3, 1, 2}},
              {Source::kContention, 5, 0, 4712, 4711, true, {1, 2'500'000'000, 1}}};
  f.requests = true;
  f.activities = {{9, 59'500'000'000, {std::byte{0x11}, std::byte{0xC1}, std::byte{2}}},
                  {4, -1, {std::byte{0xFF}}}};
  f.ended_activities = {3, 1};
  f.lives[0].request = 9;
  f.turnover[0].request = 4;
  f.dictionary = 2;
  f.trouble = "the runtime gives no events";
  f.trouble_since_ns = 59'000'000'000;
  return f;
}

}  // namespace clrscope::profile::testing
