// SPDX-License-Identifier: Apache-2.0
// What the reader's tests share: every version and shape of a stream, and short ways to write one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "nettrace/testing/collecting_sink.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::nettrace::testing {

inline const MetadataRow kTick{1, "Microsoft-Windows-DotNETRuntime", 10, 4, "", 1, 5, {}, 0};
inline const MetadataRow kOther{2, "My-Source", 7, 1, "Hello", 3, 2, {}, 2};

inline EventRowSpec At(int64_t time, uint64_t thread = 100, bool sorted = true) {
  EventRowSpec e;
  e.time = time;
  e.thread = thread;
  e.sorted = sorted;
  e.payload = "p" + std::to_string(time);
  return e;
}

inline std::vector<int64_t> Times(const ReadResult& r) {
  std::vector<int64_t> out;
  for (const SeenEvent& e : r.sink.events) out.push_back(e.time_ns);
  return out;
}

struct Shape {
  const char* name;
  uint32_t version;
  bool compressed;
  uint32_t pointer_size;
};
inline constexpr Shape kShapes[] = {
    {"V4Compressed", 4, true, 8},   {"V4Plain", 4, false, 8},       {"V5Compressed", 5, true, 8},
    {"V5Plain", 5, false, 8},       {"V6Compressed", 6, true, 8},   {"V6Plain", 6, false, 8},
    {"V4Compressed32", 4, true, 4}, {"V6Compressed32", 6, true, 4},
};

// Those of which `keep` is true: a test is made for no shape that has nothing to show it.
template <class Keep>
std::vector<Shape> ShapesWhere(Keep keep) {
  std::vector<Shape> out;
  std::copy_if(std::begin(kShapes), std::end(kShapes), std::back_inserter(out), keep);
  return out;
}

class EveryShape : public ::testing::TestWithParam<Shape> {
 protected:
  WriterOptions Options() const {
    WriterOptions o;
    o.version = GetParam().version;
    o.compressed = GetParam().compressed;
    o.pointer_size = GetParam().pointer_size;
    o.sync_ticks = 0;
    return o;
  }
  bool v6() const { return GetParam().version >= 6; }

  // A stream with everything in it: kinds, stacks, several threads, unsorted events, an unknown
  // block, a sequence point in the middle.
  SyntheticWriter Rich() const {
    SyntheticWriter w(Options());
    w.Metadata({kTick, kOther});
    if (v6()) w.Threads({{100, 4711, 9100, "main"}, {200, 4711, 9200, ""}, {300, 4712, 9300, ""}});
    if (v6()) w.Labels(1, {ActivityLabels("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb")});
    w.Stacks(1, {{0x1000, 0x2000, 0x3000}, {}, {0x1004, 0x3000}});
    for (int half = 0; half < 2; ++half) {
      const int64_t base = half * 1000;
      std::vector<EventRowSpec> a, b;
      for (int i = 0; i < 5; ++i) {
        EventRowSpec e = At(base + 10 + 10 * i, 100, i == 0);
        e.stack = static_cast<uint32_t>(i % 4);
        if (i == 2) {
          e.metadata = 2;
          if (v6()) e.labels = 1;
          if (!v6()) e.activity = "aaaaaaaaaaaaaaaa", e.related = "bbbbbbbbbbbbbbbb";
        }
        a.push_back(e);
        EventRowSpec f = At(base + 13 + 10 * i, i < 3 ? 200 : 300, i == 0 || i == 3);
        f.capture_thread = 200;
        b.push_back(f);
      }
      // Thread 200's rows must not be sorted: older ones of thread 100 follow them in the stream.
      for (EventRowSpec& e : b) e.sorted = false;
      for (EventRowSpec& e : a) e.sorted = false;
      w.Events(b).Events(a).Unknown("whatever");
      w.SequencePoint(base + 900, w.Sequences());
      w.Stacks(1, {{0x7000 + static_cast<uint64_t>(half)}, {0x8000, 0x9000}, {0xA000}});
      if (v6()) w.Labels(1, {ActivityLabels("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb")});
    }
    w.Event(At(3000, 100)).End();
    return w;
  }
};
inline std::string ShapeName(const ::testing::TestParamInfo<Shape>& info) {
  return info.param.name;
}

}  // namespace clrscope::nettrace::testing
