// SPDX-License-Identifier: Apache-2.0
// Any bytes as a nettrace stream, gzipped or not, in pieces of any size, through the whole
// pipeline: Reader, TraceFold, Aggregate, Bind. It lies in the lowest module that may link all of
// them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/trace_fold.h"
#include "import/testing/gzip.h"
#include "nettrace/reader.h"

namespace {

using namespace clrscope;

constexpr size_t kMostUnpacked = size_t{4} << 20;

struct FoldAndTouch final : nettrace::EventSink {
  explicit FoldAndTouch(analysis::TraceFold* f) : fold(f) {}
  void OnStream(const nettrace::StreamInfo& info) override {
    fold->OnStream(info.pid, info.pointer_size, info.sync_unix_ns);
  }
  void OnEvent(const clr::RawEvent& e) override {
    for (const std::byte b : e.payload) sum += static_cast<uint64_t>(b);
    for (uint32_t i = 0; i < e.stack.frames; ++i) sum += e.stack[i];
    if (e.activity != nullptr) sum += static_cast<uint64_t>((*e.activity)[15]);
    if (e.related_activity != nullptr) sum += static_cast<uint64_t>((*e.related_activity)[15]);
    fold->OnEvent(e);
  }
  analysis::TraceFold* fold;
  uint64_t sum = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The last byte decides how the stream is cut.
  const size_t chunk = data[size - 1] <= 1 ? size : data[size - 1];
  profile::Recording recording;
  // Every other one with what a filter by thread or request needs.
  const bool all = size % 2 == 0;
  analysis::Aggregate aggregate(&recording, {}, {.threads = all, .times = all, .requests = all});
  analysis::FoldOptions options;
  options.max_nodes = 1000;  // so that the caps are reached
  options.max_series = 500;
  options.messages = true;
  analysis::TraceFold fold(&recording, &aggregate, options);
  FoldAndTouch sink(&fold);
  nettrace::Reader reader(&sink);
  import::MaybeGzipped bytes(import::testing::SourceOf(AsBytes(data, size), chunk));
  std::vector<std::byte> room(64 << 10);
  for (size_t fed = 0; fed < kMostUnpacked;) {
    const Result<size_t> n = bytes.Read(room);
    if (!n.ok() || *n == 0 || !reader.Feed(Bytes(room).first(*n)).ok()) break;
    fed += *n;
  }
  reader.Finish();
  fold.Finish(reader.ended());
  const profile::Profile p = analysis::Bind(recording, aggregate);
  volatile double keep = p.Total().amount + static_cast<double>(sink.sum);
  (void)keep;
  return 0;
}
