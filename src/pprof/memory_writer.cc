// SPDX-License-Identifier: Apache-2.0
#include "pprof/memory_writer.h"

#include <algorithm>

#include "profile/interval/interval_frame.h"

namespace clrscope::pprof {

int64_t PeriodOf(profile::Source source, const profile::Estimate& total) {
  double mean = profile::kSamplingMeanBytes;
  if (source != profile::Source::kSampled)
    mean = total.samples == 0 ? 0 : total.amount / static_cast<double>(total.samples);
  return static_cast<int64_t>(std::max(mean, 1.0) + 0.5);
}

namespace {

std::string_view UnitOf(const profile::Quantity& q) {
  return q.unit == profile::Unit::kBytes         ? kBytes
         : q.unit == profile::Unit::kNanoseconds ? kNanoseconds
                                                 : kCount;
}

}  // namespace

MemoryWriter::MemoryWriter(const MemoryColumns& columns, ByteSink& sink)
    : columns_(columns), out_(sink) {
  if (columns.allocated && columns.objects) out_.SampleType(kAllocObjects, kCount);
  if (columns.allocated) out_.SampleType(kAllocSpace, kBytes);
  if (columns.live) out_.SampleType(kInuseObjects, kCount);
  if (columns.live) out_.SampleType(kInuseSpace, kBytes);
  for (const profile::Measure m : columns.events)
    for (const profile::Quantity& q : {SpecOf(m).count, SpecOf(m).amount})
      out_.SampleType(q.pprof, UnitOf(q));
  std::string_view first = columns.live ? kInuseSpace : kAllocSpace;
  if (!columns.live && !columns.allocated && !columns.events.empty()) {
    const profile::MeasureSpec& spec = SpecOf(columns.events.front());
    first = (spec.amount_first ? spec.amount : spec.count).pprof;
  }
  out_.DefaultSampleType(first);
}

void MemoryWriter::Describe(int64_t start_unix_ns, int64_t duration_ns, int64_t period) {
  if (columns_.allocated || columns_.live) out_.Period(kSpace, kBytes, period);
  out_.Time(start_unix_ns, duration_ns);
}

uint64_t MemoryWriter::TypeLocation(std::string_view name, std::string_view raw) {
  const std::string_view shown = profile::ShownType(name, raw);
  system_name_ = kTypeMark;
  system_name_ += raw.empty() ? shown : raw;
  return out_.Location(shown, system_name_, Synthetic());
}

void MemoryWriter::BeginLabels(profile::HeapKind kind, std::string_view process) {
  labels_.resize(common_labels_);
  if (kind != profile::HeapKind::kUnknown)
    labels_.push_back({out_.String(kHeapKey), out_.String(profile::KindName(kind)), 0, 0});
  if (!process.empty()) labels_.push_back({out_.String(kProcessKey), out_.String(process), 0, 0});
}

void MemoryWriter::LabelThread(uint64_t thread, std::string_view name) {
  // A number without a unit: pprof prints it as it is.
  if (thread != 0) labels_.push_back({out_.String(kThreadKey), 0, static_cast<int64_t>(thread), 0});
  if (!name.empty()) labels_.push_back({out_.String(kThreadNameKey), out_.String(name), 0, 0});
}

void MemoryWriter::LabelEndpoint(std::string_view endpoint) {
  if (endpoint.empty()) return;
  labels_.push_back({out_.String(kEndpointKey), out_.String(endpoint), 0, 0});
}

Status MemoryWriter::Allocated(const MemorySample& sample) {
  BeginLabels(sample.kind, sample.process);
  LabelThread(sample.thread, sample.thread_name);
  LabelEndpoint(sample.endpoint);
  return Write(sample, false);
}

Status MemoryWriter::Live(const MemorySample& sample, int8_t generation, uint8_t age_bucket) {
  BeginLabels(sample.kind, sample.process);
  if (generation >= 0 && static_cast<size_t>(generation) < kGenerations.size())
    labels_.push_back({out_.String(kGenerationKey),
                       out_.String(kGenerations[static_cast<size_t>(generation)]), 0, 0});
  const size_t age = std::min<size_t>(age_bucket, profile::kAgeStarts.size() - 1);
  labels_.push_back({out_.String(kAgeKey), 0, profile::kAgeStarts[age], out_.String(kSeconds)});
  return Write(sample, true);
}

// Values of the other pair are 0.
Status MemoryWriter::Write(const MemorySample& s, bool live) {
  values_.clear();
  if (columns_.allocated && columns_.objects) values_.push_back(live ? 0 : s.objects);
  if (columns_.allocated) values_.push_back(live ? 0 : s.bytes);
  if (columns_.live) values_.push_back(live ? s.objects : 0);
  if (columns_.live) values_.push_back(live ? s.bytes : 0);
  values_.resize(values_.size() + 2 * columns_.events.size());
  return out_.Sample(s.stack, values_, labels_);
}

size_t MemoryWriter::MemoryColumnCount() const {
  return (columns_.allocated ? columns_.objects ? 2u : 1u : 0u) + (columns_.live ? 2u : 0u);
}

Status MemoryWriter::Event(const EventSample& s, size_t which) {
  BeginLabels(profile::HeapKind::kUnknown, s.process);
  LabelThread(s.thread, s.thread_name);
  // A number without a unit: pprof prints it as it is.
  if (s.owner != 0)
    labels_.push_back({out_.String(kOwnerKey), 0, static_cast<int64_t>(s.owner), 0});
  if (!s.holding.empty())
    labels_.push_back({out_.String(kHoldingKey), out_.String(s.holding), 0, 0});
  if (s.unfinished) labels_.push_back({out_.String(kUnfinishedKey), out_.String(kYes), 0, 0});
  LabelEndpoint(s.endpoint);
  if (!s.state.empty()) labels_.push_back({out_.String(kStateKey), out_.String(s.state), 0, 0});
  const size_t memory = MemoryColumnCount();
  values_.assign(memory + 2 * columns_.events.size(), 0);
  values_[memory + 2 * which] = s.count;
  values_[memory + 2 * which + 1] = s.amount;
  return out_.Sample(s.stack, values_, labels_);
}

Status WriteGcCpu(const GcCpu& cpu,
                  const std::vector<std::pair<std::string, std::string>>& user_labels,
                  const std::vector<std::string>& comments, ByteSink& sink) {
  constexpr std::string_view kCpu = "cpu";
  Encoder out(sink);
  out.SampleType(kCpu, kNanoseconds);
  out.DefaultSampleType(kCpu);
  out.Period(kCpu, kNanoseconds, 1);
  out.Time(cpu.start_unix_ns, cpu.duration_ns);
  std::vector<Label> labels;
  for (const auto& [key, text] : user_labels)
    labels.push_back({out.String(key), out.String(text), 0, 0});
  const uint64_t mapping = out.Mapping(kSyntheticModule, [](std::string_view name) {
    return Image{name, ""};
  });
  const uint64_t gc = out.Location("Garbage Collector", "[gc]!Garbage Collector", mapping);
  const uint64_t rest = out.Location("[rest of the process]", "[rest]!", mapping);
  RETURN_IF_ERROR(out.Sample({&gc, 1}, {&cpu.gc_ns, 1}, labels));
  RETURN_IF_ERROR(out.Sample({&rest, 1}, {&cpu.rest_ns, 1}, labels));
  for (const std::string& comment : comments) out.Comment(comment);
  return out.Finish();
}

}  // namespace clrscope::pprof
