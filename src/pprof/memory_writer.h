// SPDX-License-Identifier: Apache-2.0
// A profile of memory, and of events, in pprof's format: which values, frames and labels it has.
// `convert` and the agent's files come from here, each from its own model.
//   sample types  alloc_objects/count, alloc_space/bytes; inuse_objects/count, inuse_space/bytes
//                 where live objects were followed, and then the default; of events a pair of
//                 columns for each measure (MeasureSpec::count and amount), such as
//                 contentions/count, delay/nanoseconds
//   stacks        leaf first: the type as a synthetic frame where there is one, then methods
//   labels        pprof/words.h
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "pprof/encoder.h"
#include "pprof/words.h"
#include "profile/estimate/estimate.h"
#include "profile/profile.h"
#include "profile/shown_names.h"

namespace clrscope::pprof {

// Which values samples have.
struct MemoryColumns {
  bool allocated = true;
  bool objects = true;  // of what was allocated: how many there were is known
  bool live = false;
  std::vector<profile::Measure> events{};  // measures of events, in the order of their columns
};

struct MemorySample {
  std::span<const uint64_t> stack;  // locations, leaf first
  int64_t objects = 0;
  int64_t bytes = 0;
  profile::HeapKind kind = profile::HeapKind::kUnknown;  // unknown: no label
  std::string_view process;                              // "": no label
  uint64_t thread = 0;                                   // that allocated it; 0: no label
  std::string_view thread_name{};                        // "": no label
  std::string_view endpoint{};                           // the request's route; "": no label
};

struct EventSample {
  std::span<const uint64_t> stack;
  int64_t count = 0, amount = 0;  // as MeasureSpec says
  uint64_t thread = 0;            // 0: no label
  std::string_view process;       // "": no label
  std::string_view thread_name{};
  uint64_t owner = 0;           // of the lock; 0: no label
  bool unfinished = false;      // no label where it is not
  std::string_view holding{};   // the method that the owner was in; "": no label
  std::string_view endpoint{};  // the request's route; "": no label
  std::string_view state{};     // of the thread; "": no label
};

// Mean bytes that one event stands for. `total`: of the events by which the profile was made.
int64_t PeriodOf(profile::Source source, const profile::Estimate& total);

class MemoryWriter {
 public:
  MemoryWriter(const MemoryColumns& columns, ByteSink& sink);

  // period: of bytes; without columns of memory there is none
  void Describe(int64_t start_unix_ns, int64_t duration_ns, int64_t period);
  void Comment(std::string_view text) { out_.Comment(text); }

  // A label of every sample that follows.
  void LabelAll(std::string_view key, std::string_view text) {
    labels_.push_back({out_.String(key), out_.String(text), 0, 0});
    common_labels_ = labels_.size();
  }

  // The module of the program itself: before any location.
  template <class ImageOf>
  void MainModule(std::string_view name, ImageOf&& image_of) {
    if (!name.empty()) (void)out_.Mapping(name, image_of);
  }

  // A new location; callers keep it by method. Texts are as in profile::Frame, and outlive this.
  struct Method {
    std::string_view module, method, raw;
    uint32_t token = 0;
    uint8_t flags = 0;        // profile::FrameFlag
    std::string_view file{};  // of the source; "" when it is not known
    uint32_t line = 0;        // from 1
  };
  template <class ImageOf>
  uint64_t MethodLocation(const Method& m, ImageOf&& image_of) {
    const bool pseudo = (m.flags & profile::kPseudo) != 0 || m.module.empty();
    const std::string_view module = pseudo ? std::string_view() : m.module;
    const std::string_view name = profile::ShownMethod(m.method, m.raw);
    MethodSystemName(module, m.token, m.raw.empty() ? name : m.raw, system_name_);
    return out_.Location(name, system_name_, pseudo ? Synthetic() : out_.Mapping(module, image_of),
                         m.file, m.line);
  }
  uint64_t TypeLocation(std::string_view name, std::string_view raw);

  Status Allocated(const MemorySample& sample);
  // generation: -1 = unknown; age_bucket: index into profile::kAgeStarts
  Status Live(const MemorySample& sample, int8_t generation, uint8_t age_bucket);

  // which: index into MemoryColumns::events
  Status Event(const EventSample& sample, size_t which);

  Status Finish() { return out_.Finish(); }

 private:
  uint64_t Synthetic() {
    return out_.Mapping(kSyntheticModule, [](std::string_view name) { return Image{name, ""}; });
  }
  void LabelEndpoint(std::string_view endpoint);
  void LabelThread(uint64_t thread, std::string_view name);
  void BeginLabels(profile::HeapKind kind, std::string_view process);
  size_t MemoryColumnCount() const;
  Status Write(const MemorySample& sample, bool live);

  const MemoryColumns columns_;
  Encoder out_;
  std::vector<Label> labels_;  // of the sample at hand: those of all come first
  size_t common_labels_ = 0;
  std::vector<int64_t> values_;
  std::string system_name_;
};

// The garbage collector's share of a program's CPU time: two frames. A label is put on both.
struct GcCpu {
  int64_t start_unix_ns = 0, duration_ns = 0;
  int64_t gc_ns = 0, rest_ns = 0;
};
Status WriteGcCpu(const GcCpu& cpu, const std::vector<std::pair<std::string, std::string>>& labels,
                  const std::vector<std::string>& comments, ByteSink& sink);

}  // namespace clrscope::pprof
