// SPDX-License-Identifier: Apache-2.0
#include "analysis/process_fold.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/families/gc/gc_amounts.h"
#include "clr/alloc_events.h"
#include "clr/counter_events.h"
#include "clr/fault_events.h"
#include "clr/gc_events.h"
#include "clr/gc_names.h"
#include "clr/thread_sample_events.h"

namespace clrscope::analysis {
namespace {

using clr::EventTag;
using profile::HeapKind;
using profile::SeriesKey;
using profile::Source;
using profile::StackTree;

// A damaged clock must not overflow; 146 years are enough.
constexpr int64_t kTimeLimit = int64_t{1} << 62;
int64_t Sane(int64_t ns) {
  if (ns > kTimeLimit || ns < -kTimeLimit) [[unlikely]]
    return std::clamp(ns, -kTimeLimit, kTimeLimit);
  return ns;
}

LockHolders::Comes ComesFor(EventTag tag) {
  switch (tag) {
    case EventTag::kContentionStart:
    case EventTag::kWaitStart:
      return LockHolders::Comes::kWithWaits;
    case EventTag::kSampledObjectAllocation:
      return LockHolders::Comes::kOften;
    default:
      return LockHolders::Comes::kApart;
  }
}

}  // namespace

ProcessFold::ProcessFold(StringPool* strings, profile::ProcessTables* tables, uint32_t index,
                         profile::SliceSink* sink, const FoldOptions& options)
    : strings_(strings),
      tables_(tables),
      index_(index),
      sink_(sink),
      options_(options),
      gcs_(strings, &tables->gcs, &tables->info.gc, &tables->losses, index),
      type_counter_(options.count_mode),
      storm_({tables, sink, index, options.slice_ns}),
      requests_(strings, {tables, sink, index, options.slice_ns}),
      cpu_({tables, sink, index, options.slice_ns}),
      wall_({tables, sink, index, options.slice_ns}, &cpu_.collecting()),
      thread_samples_({tables, sink, index, options.slice_ns}),
      universal_({tables, sink, index, options.slice_ns}),
      allocations_({tables, sink, index, options.slice_ns}, Source::kSampled,
                   Loss::kAllocationsUncounted) {
  slice_end_ns_ = options_.slice_ns;
  tables->counting.mode = options.count_mode;
  if (options.lines && tables->il_maps == nullptr)
    tables->il_maps = std::make_shared<profile::IlMaps>();
  memo_generation_ = index + 1;
  LogGcs();
  cpu_.GiveTo(&requests_);
  if (options.requests) {
    requests_.Begin();
    for (WindowFold* const windows : {static_cast<WindowFold*>(&storm_), &allocations_})
      windows->AskRequests([this](const ActivityPath& activity, int64_t time_ns) {
        return requests_.RequestOf(activity, time_ns);
      });
  }
}

void ProcessFold::LogGcs() {
  gcs_.LogPauses(&requests_.pauses());
  gcs_.LogThreads(&cpu_.collecting());
}

void ProcessFold::OutdateMemos() {
  constexpr uint32_t kStride = 1 << 13;  // more than there are processes
  memo_generation_ += kStride;
  if (memo_generation_ == 0) memo_generation_ = kStride;
}

void ProcessFold::OnEvent(const clr::RawEvent& event, int64_t offset_ns) {
  now_ns_ = Sane(event.time_ns);
  if (offset_ns != 0)
    now_ns_ = Sane(now_ns_ + std::clamp(offset_ns, -kTimeLimit / 2, kTimeLimit / 2));
  last_ns_ = std::max(last_ns_, now_ns_);
  // These come by the million.
  const EventTag tag = event.kind->tag;
  // The keyword of AllocationTick brings collections too, which another session tells.
  if (reading_allocations_ && tag != EventTag::kAllocationTick &&
      tag != EventTag::kAllocationSampled) [[unlikely]]
    return;
  if (tag == EventTag::kSampledObjectAllocation) return OnCounted(event);
  if (tag == EventTag::kGcMarkWithType) return gcs_.OnMark(event, now_ns_);
  if (tag >= EventTag::kGcStart && tag <= EventTag::kGcSuspendEeEnd) {
    gcs_.OnEvent(event, now_ns_);
    return allocations_.NoteHeaps(gcs_.heaps());
  }
  Dispatch(event);
}

void ProcessFold::NoteTime(int64_t time_ns) { last_ns_ = std::max(last_ns_, Sane(time_ns)); }

void ProcessFold::Dispatch(const clr::RawEvent& event) {
  switch (event.kind->tag) {
    case EventTag::kAllocationTick:
      return OnTick(event);
    case EventTag::kAllocationSampled:
      return OnSampled(event);
    case EventTag::kException:
      return OnException(event);
    case EventTag::kEventCounter:
      return OnEventCounter(event);
    case EventTag::kThreadSample:
      return OnThreadSample(event);
    case EventTag::kUniversalCpu:
      return universal_.OnCpu(event, now_ns_, NodeOf(event, nullptr, StackTree::kMostFrames));
    case EventTag::kUniversalSwitch:
      return universal_.OnSwitch(event, now_ns_, NodeOf(event, nullptr, StackTree::kMostFrames));
    case EventTag::kUniversalProcess:
      return universal_.OnProcess(event, *strings_);
    case EventTag::kUniversalMapping:
      return universal_.OnMapping(event, now_ns_, *strings_);
    case EventTag::kUniversalSymbol:
      return universal_.OnSymbol(event, *strings_);
    case EventTag::kContentionStart:
      return OnWaitStart(event, Source::kContention);
    case EventTag::kContentionStop:
      return OnWaitStop(event, Source::kContention);
    case EventTag::kWaitStart:
      return OnWaitStart(event, Source::kWait);
    case EventTag::kWaitStop:
      return OnWaitStop(event, Source::kWait);
    case EventTag::kRequestStart:
      if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
      return requests_.OnStart(event, now_ns_);
    case EventTag::kRequestStop:
      return requests_.OnStop(event, now_ns_);
    case EventTag::kHttpStart:
    case EventTag::kHttpStop:
    case EventTag::kHttpFailed:
    case EventTag::kActivityStart:
    case EventTag::kActivityStop:
    case EventTag::kNpgsqlStart:
    case EventTag::kNpgsqlStop:
    case EventTag::kSqlClientStart:
    case EventTag::kSqlClientStop:
      if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
      return requests_.OnOperation(event, now_ns_);
    case EventTag::kDiagnosticEvent:
      return requests_.OnDiagnostic(event, now_ns_);
    case EventTag::kHistogramValue:
      return requests_.OnHistogram(event, now_ns_);
    case EventTag::kCounterRate:
      return requests_.OnCounter(event, now_ns_);
    case EventTag::kMetricsCollectionStart:
      return requests_.OnCollecting(now_ns_);
    case EventTag::kMetricsCollectionStop:
      if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
      return requests_.OnCollected(now_ns_);
    case EventTag::kMetricsSharingError:
      return requests_.OnRefused(event);
    case EventTag::kTaskScheduled:
    case EventTag::kTaskStarted:
    case EventTag::kTaskCompleted:
    case EventTag::kTaskWaitBegin:
    case EventTag::kTaskWaitEnd:
    case EventTag::kTaskContinued:
    case EventTag::kPoolEnqueue:
    case EventTag::kPoolDequeue:
      if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
      return requests_.OnTask(event, now_ns_);
    case EventTag::kBulkType:
      return OnBulkType(event);
    case EventTag::kMethodLoadVerbose:
    case EventTag::kMethodUnloadVerbose:
    case EventTag::kMethodUnload:
    case EventTag::kMethodDcEndVerbose:
    case EventTag::kMethodDcStartVerbose:
      if (code_.OnMethod(event, now_ns_, *strings_, *tables_)) OutdateMemos();
      return;
    case EventTag::kR2rEntryPoint:
      return code_.OnEntryPoint(event, *strings_, *tables_);
    case EventTag::kIlToNativeMap:
      return CodeFold::OnIlMap(event, *tables_);
    case EventTag::kModuleLoad:
    case EventTag::kModuleDcEnd:
    case EventTag::kModuleDcStart:
    case EventTag::kDomainModuleLoad:
      return code_.OnModule(event, *strings_, *tables_);
    case EventTag::kGcTriggered:
      return OnGcTriggered(event);
    case EventTag::kAssemblyUnload:
      return CodeFold::OnAssemblyUnload(event, *tables_);
    case EventTag::kGcSettings:
      return OnGcSettings(event);
    case EventTag::kRuntimeStart:
      return code_.OnRuntimeStart(event, *strings_, *tables_);
    case EventTag::kProcessInfo:
      return code_.OnProcessInfo(event, *strings_, *tables_);
    default:
      return gcs_.OnEvent(event, now_ns_);
  }
}

inline uint32_t ProcessFold::NodeOf(const clr::RawEvent& event, uint32_t* note, uint32_t limit) {
  if (event.stack_state == clr::StackState::kMissing) tables_->losses.Add(Loss::kMissingStack);
  if (event.stack_state != clr::StackState::kPresent) return StackTree::kNoStack;
  const clr::StackView& s = event.stack;
  uint32_t node;
  if (s.memo != nullptr && s.memo->generation == memo_generation_) {
    node = s.memo->node;
  } else {
    node =
        tables_->stacks.Fold(s.data, s.frames, s.pointer_size, event.thread, now_ns_, limit, note);
    if (s.memo != nullptr) *s.memo = {memo_generation_, node, 0, 0};
  }
  if (StackTree::IsCut(s.frames, limit)) tables_->losses.Add(Loss::kTruncatedStack);
  if (node == StackTree::kOther) tables_->losses.Add(Loss::kStackNodesCapped);
  if (!holders_.idle()) [[unlikely]]
    holders_.Note(event.thread, now_ns_, node, ComesFor(event.kind->tag));
  return node;
}

uint32_t ProcessFold::TypeOf(uint64_t id, Utf16View name) {
  bool reused = false;
  const uint32_t type = types_.Find(id, name, *strings_, *tables_, &reused);
  if (reused) [[unlikely]] {  // these may hold the series of the old type
    OutdateMemos();
    slice_.ForgetNotes();
  }
  return type;
}

uint32_t ProcessFold::Count(const clr::RawEvent& event, SeriesKey key, const profile::Sums& sums) {
  return Count(event.thread, key, sums.amount, sums);
}

uint32_t ProcessFold::Count(uint64_t thread, SeriesKey key, uint64_t nominal_size,
                            const profile::Sums& sums) {
  const uint32_t series = SeriesFor(key, nominal_size, sums.samples);
  CountSeries(thread, series, sums);
  return series;
}

uint32_t ProcessFold::SeriesFor(SeriesKey key, uint64_t nominal_size, uint64_t samples) {
  bool capped = false;
  const uint32_t series = tables_->series.Find(key, nominal_size, StackTree::kOther, &capped);
  if (capped) tables_->losses.Add(Loss::kSeriesCapped, samples);
  return series;
}

void ProcessFold::CountSeries(uint64_t thread, uint32_t series, const profile::Sums& sums) {
  if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
  AddToSlice(thread, series, sums);
}

void ProcessFold::AddToSlice(uint64_t thread, uint32_t series, const profile::Sums& sums) {
  const SeriesKey& key = tables_->series.keys()[series];
  slice_.Add(series, sums);
  slice_.AddThread(thread, series, key, sums);
  tables_->source_samples[static_cast<size_t>(key.source())] += sums.samples;
}

void ProcessFold::OnThreadSample(const clr::RawEvent& event) {
  clr::ThreadSample sample;
  if (!clr::Decode(event, sample)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (tables_->info.sampler == profile::CpuSampler::kNone)
    tables_->info.sampler = profile::CpuSampler::kRuntime;
  thread_samples_.OnSample(event.thread, now_ns_, NodeOf(event),
                           static_cast<ThreadSamples::Mode>(sample.type));
}

void ProcessFold::OnTick(const clr::RawEvent& event) {
  clr::AllocationTick tick;
  if (!clr::Decode(event, tick)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (tick.object_size == 0) tables_->sizes_unknown = true;
  if (!reading_allocations_) {  // else there may be windows of them
    profile::Counting& counting = tables_->counting;
    counting.gc_known = true;
    counting.gc_bytes += tick.amount;
    if (tick.heap < kMaxHeaps) counting.gc_heaps = std::max(counting.gc_heaps, tick.heap + 1);
    gcs_.OnTick(tick.kind, tick.amount);
  }
  const uint32_t type =
      event.kind->version >= 2 ? TypeOf(tick.type_id, NameIn(event, tick.type_name)) : 0;
  const auto bytes = static_cast<double>(tick.amount);
  CountSample(event,
              SeriesKey::Make(NodeOf(event), type, profile::HeapKindOf(tick.kind), Source::kTick,
                              profile::SizeClass(tick.object_size)),
              {1, tick.object_size, tick.amount}, bytes,
              bytes / static_cast<double>(std::max<uint64_t>(tick.object_size, 1)));
}

// The name that the event has. Native AOT knows none, and writes "NULL".
Utf16View ProcessFold::NameIn(const clr::RawEvent& event, Utf16View name) {
  if (event.stack_state == clr::StackState::kPresent) [[likely]]
    return name;
  return name.units == 4 && ToUtf8(name) == "NULL" ? Utf16View() : name;
}

void ProcessFold::OnSampled(const clr::RawEvent& event) {
  clr::AllocationSampled sample;
  if (!clr::Decode(event, sample)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  const auto size = static_cast<double>(std::max<uint64_t>(sample.object_size, 1));
  const double objects = 1 / profile::HitProbability(size);
  CountSample(
      event,
      SeriesKey::Make(NodeOf(event), TypeOf(sample.type_id, NameIn(event, sample.type_name)),
                      profile::HeapKindOf(sample.kind), Source::kSampled,
                      profile::SizeClass(sample.object_size)),
      {1, sample.object_size, 0}, size * objects, objects);
}

void ProcessFold::CountSample(const clr::RawEvent& event, SeriesKey key, const profile::Sums& sums,
                              double bytes, double objects) {
  ++events_.allocations;
  events_.allocation_frames += event.stack.frames;
  if (allocations_.reading()) [[unlikely]] {
    WindowFold::Event windowed{key, sums.amount, event.thread, sums, bytes};
    if (key.source() == Source::kSampled) windowed.sums.stands_for = WindowFold::kUnit;
    requests_.RememberEnded();
    // The cause of a collection is what came all along since the one before, not a part of that.
    return allocations_.OnWindowed(windowed, ActivityPath::Of(event.activity), now_ns_);
  }
  allocations_.NoteWhole(now_ns_, bytes);
  if (requests_.on()) [[unlikely]] {
    if (event.activity != nullptr) {
      if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
      // The cause of the next GC is told by the series that knows no request.
      NoteCause(SeriesFor(key, sums.amount, sums.samples), bytes);
      requests_.Add({ActivityPath::Of(*event.activity), now_ns_, event.thread, key, sums.amount,
                     sums, bytes, objects});
      return;
    }
    requests_.OnOthersSample(bytes);
  }
  NoteCause(Count(event, key, sums), bytes);
}

void ProcessFold::OnCounted(const clr::RawEvent& event) {
  clr::SampledObjectAllocation e;
  if (!clr::Decode(event, e) || e.count == 0) return tables_->losses.Add(Loss::kUnsupportedVersion);
  // Only the last object of an event can be large: the others were gathered because they were not.
  const uint64_t gathered = (e.count - 1) * (profile::kAlwaysCounted - 1);
  uint32_t note = 0;  // the last series that was counted for the stack + 1
  const uint32_t node = NodeOf(event, &note);
  const bool large = e.total_size >= tables_->counting.loh_threshold + gathered;
  if (large && e.count > 1) {
    Count(event,
          SeriesKey::Make(node, TypeOf(e.type_id, {}), HeapKind::kUnknown, Source::kCounted, 0),
          {1, gathered, e.count - 1});
    e.total_size -= gathered;
    e.count = 1;
  }
  // These come by the million, and one stack mostly allocates one type: its memo knows the series.
  const clr::StackMemo* const memo = event.stack.memo;
  const uint64_t key = e.type_id << 1 | (large ? 1 : 0);  // ids are addresses
  const bool known =
      memo != nullptr && memo->key == key && key != 0 && memo->generation == memo_generation_;
  const uint32_t series =
      known ? memo->value : CountedSeries(event, node, note, key, e.type_id, e.total_size);
  CountObjects(event.thread, series, large ? HeapKind::kLoh : HeapKind::kUnknown,
               {1, e.total_size, e.count});
  const uint32_t type = tables_->series.keys()[series].type;
  if (type_counter_.Add(event.thread, type, e.count, e.total_size))
    AddLeftOut(event.thread, type, e.total_size);
}

uint32_t ProcessFold::CountedSeries(const clr::RawEvent& event, uint32_t node, uint32_t note,
                                    uint64_t key, uint64_t type_id, uint64_t bytes) {
  uint32_t series;
  // The stack itself remembers too, when the stream sends it again.
  if (note != 0 && key != 0 && slice_.note(note - 1) == key) {
    series = note - 1;
  } else {
    const HeapKind kind = (key & 1) != 0 ? HeapKind::kLoh : HeapKind::kUnknown;
    bool capped = false;
    series =
        tables_->series.Find(SeriesKey::Make(node, TypeOf(type_id, {}), kind, Source::kCounted, 0),
                             bytes, StackTree::kOther, &capped);
    if (capped) {
      tables_->losses.Add(Loss::kSeriesCapped);
      return series;
    }
    tables_->stacks.SetNote(node, series + 1);
    slice_.SetNote(series, key);
  }
  clr::StackMemo* const memo = event.stack.memo;
  if (memo != nullptr && memo->generation == memo_generation_) {
    memo->key = key;
    memo->value = series;
  }
  return series;
}

void ProcessFold::AddLeftOut(uint64_t thread, uint32_t type, uint64_t bytes) {
  profile::Counting& c = tables_->counting;
  const bool guessed = type_counter_.varies(type);
  const HeapKind kind = bytes >= c.loh_threshold ? HeapKind::kLoh : HeapKind::kUnknown;
  const SeriesKey key = SeriesKey::Make(StackTree::kNoStack, type, kind, Source::kCounted,
                                        guessed ? profile::kGuessedSize : 0);
  bool capped = false;
  const uint32_t series = tables_->series.Find(key, bytes, StackTree::kOther, &capped);
  CountSeries(thread, series, {1, bytes, 1});
  const uint64_t aligned = (bytes + 7) & ~uint64_t{7};
  ++c.added;
  c.added_bytes += aligned;
  c.guessed += guessed ? 1 : 0;
  c.guessed_bytes += guessed ? aligned : 0;
}

void ProcessFold::UpdateCounting() { type_counter_.Fill(tables_->counting); }

void ProcessFold::OnBulkType(const clr::RawEvent& event) {
  clr::BulkTypeReader types(event);
  clr::TypeRecord record;
  while (types.Next(record)) {
    if (record.name.empty()) continue;
    types_.Define(record);
    const uint32_t type = TypeOf(record.type_id, record.name);
    const bool varies = SizesVary(record, strings_->Get(tables_->types[type].raw_name));
    type_counter_.Named(event.thread, type, varies,
                        [&](uint64_t thread, uint64_t bytes) { AddLeftOut(thread, type, bytes); });
  }
  if (!types.ok()) tables_->losses.Add(Loss::kUnsupportedVersion);
}

void ProcessFold::AddEvent(Source source, uint32_t node, uint32_t type, uint16_t label,
                           const profile::Sums& sums, const ActivityPath& activity,
                           int64_t time_ns) {
  if (label == profile::LabelTable::kOther) tables_->losses.Add(Loss::kLabelsCapped);
  const SeriesKey key = SeriesKey::Make(node, type, HeapKind::kUnknown, source, 0, label);
  if (requests_.on() && activity.size() != 0)
    return requests_.Add({activity, time_ns, /*thread=*/0, key, /*nominal_size=*/0, sums});
  AddToSlice(/*thread=*/0, SeriesFor(key, /*nominal_size=*/0, sums.samples), sums);
}

void ProcessFold::OnException(const clr::RawEvent& event) {
  clr::ExceptionThrown e;
  if (!clr::Decode(event, e)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  const uint32_t type = exception_types_.Find(e.type_name, *strings_, *tables_);
  types_.NoteAdded(*strings_, *tables_);  // it may be new
  ++events_.exceptions;
  events_.exception_frames += event.stack.frames;
  if (storm_.reading()) {
    requests_.RememberEnded();
    return storm_.OnWindowed(NodeOf(event), type, event.thread, e.rethrown(),
                             ActivityPath::Of(event.activity), now_ns_);
  }
  storm_.OnWhole(now_ns_);
  const uint64_t again = e.rethrown() ? 1 : 0;
  const uint64_t message =
      options_.messages ? exception_messages_.Find(e.message, *strings_, *tables_) : 0;
  if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
  AddEvent(Source::kException, NodeOf(event), type,
           tables_->labels.Find(profile::LabelSet()
                                    .With(profile::LabelKey::kThread, event.thread)
                                    .With(profile::LabelKey::kMessage, message)
                                    .With(profile::LabelKey::kInner, e.has_inner() ? 1 : 0)
                                    .With(profile::LabelKey::kNested, e.nested() ? 1 : 0)),
           {1, again, 1 - again}, ActivityPath::Of(event.activity), now_ns_);
}

void ProcessFold::OnEventCounter(const clr::RawEvent& event) {
  if (reading_pool_) {  // its other counters are told to others too
    clr::MeanCounter mean;
    if (!clr::Decode(event, mean)) return;
    pool_ns_ = now_ns_;
    if (clr::IsCounter(mean.name, clr::kPoolThreads)) tables_->pool_threads = mean.mean;
    if (clr::IsCounter(mean.name, clr::kPoolQueue)) tables_->pool_queue = mean.mean;
    return;
  }
  clr::SumCounter c;
  if (reading_allocated_) {
    if (clr::Decode(event, c) && clr::IsCounter(c.name, clr::kAllocRate))
      allocations_.OnCounted(
          {now_ns_ - static_cast<int64_t>(c.interval_s * 1e9), now_ns_, c.increment});
    return;
  }
  if (!storm_.counting() || !clr::Decode(event, c) || !clr::IsCounter(c.name, clr::kExceptionCount))
    return;
  // A number of 32 bits, whatever it was thrown: Exception.GetExceptionCount().
  constexpr double kWraps = 4'294'967'296.0;
  if (c.increment < 0) c.increment += kWraps;
  storm_.OnCounted({now_ns_ - static_cast<int64_t>(c.interval_s * 1e9), now_ns_, c.increment});
}

void ProcessFold::OnWaitStart(const clr::RawEvent& event, Source source) {
  ++events_.waits;
  OpenWait wait;
  wait.source = source;
  wait.node = NodeOf(event);
  wait.start_ns = now_ns_;
  wait.activity = ActivityPath::Of(event.activity);
  if (source == Source::kContention) {
    clr::ContentionStart start;
    if (!clr::Decode(event, start)) return tables_->losses.Add(Loss::kUnsupportedVersion);
    wait.owner = start.owner;
    wait.lock = start.lock;
  }
  if (wait.owner != 0) {
    holders_.Begin();
    wait.owner_node = waits_.NodeOf(wait.owner);
  }
  if (waits_.Begin(event.thread, wait, tables_->stacks)) tables_->losses.Add(Loss::kWaitsUnended);
}

void ProcessFold::OnWaitStop(const clr::RawEvent& event, Source source) {
  const std::optional<OpenWait> wait = waits_.End(event.thread, source);
  if (!wait) return;
  auto duration_ns = static_cast<double>(now_ns_ - wait->start_ns);
  clr::ContentionStop stop;  // its own clock is the better one
  if (source == Source::kContention && clr::Decode(event, stop)) duration_ns = stop.duration_ns;
  CountWait(event.thread, *wait, duration_ns, true);
}

void ProcessFold::CountWait(uint64_t thread, const OpenWait& wait, double duration_ns,
                            bool finished) {
  constexpr double kLongest = 1e18;  // 30 years, of a damaged clock
  const auto ns = static_cast<uint64_t>(std::clamp(duration_ns, 0.0, kLongest));
  if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
  const EndedWait ended{thread, wait, now_ns_, ns, finished};
  if (wait.owner == 0) return AddWait(ended, 0);
  if (holders_.full()) SettleWaits();
  holders_.Add(ended);
}

void ProcessFold::SettleWaits() {
  holders_.SettleAll([this](const EndedWait& wait, uint32_t holding) { AddWait(wait, holding); });
}

// `holding`: the owner's stack; 0 = not known.
void ProcessFold::AddWait(const EndedWait& ended, uint32_t holding) {
  using profile::LabelTable;
  const auto labels = profile::LabelSet()
                          .With(profile::LabelKey::kThread, ended.thread)
                          .With(profile::LabelKey::kOwner, ended.wait.owner)
                          .With(profile::LabelKey::kUnfinished, ended.finished ? 0 : 1);
  uint16_t label = LabelTable::kOther;
  if (holding >= StackTree::kFirstReal) {
    label = tables_->labels.Find(labels.With(profile::LabelKey::kHolding, holding),
                                 LabelTable::kMostHolding);
    if (label == LabelTable::kOther) tables_->losses.Add(Loss::kHoldingsCapped);
  }
  if (label == LabelTable::kOther) label = tables_->labels.Find(labels);
  AddEvent(ended.wait.source, ended.wait.node, 0, label, {1, ended.duration_ns, 1},
           ended.wait.activity, ended.wait.start_ns);
}

// Its stack is who asked; of GCs that allocations triggered, the samples tell more.
void ProcessFold::OnGcTriggered(const clr::RawEvent& event) {
  clr::GcTriggered triggered;
  const bool asked = clr::Decode(event, triggered) &&
                     clr::IsInduced(static_cast<int32_t>(triggered.reason)) &&
                     event.stack_state == clr::StackState::kPresent;
  gcs_.OnEvent(event, now_ns_, asked ? NodeOf(event) : 0);
}

void ProcessFold::OnGcSettings(const clr::RawEvent& event) {
  gcs_.OnEvent(event, now_ns_);
  clr::GcSettings settings;
  if (!clr::Decode(event, settings) || settings.loh_threshold == 0) return;
  tables_->counting.loh_threshold = settings.loh_threshold;
  tables_->counting.loh_known = true;
}

void ProcessFold::MoveTo(const profile::ProcessTables& old, const StringPool& old_strings,
                         StringPool* strings, profile::ProcessTables* tables, uint32_t index,
                         profile::SliceSink* sink) {
  strings_ = strings;
  tables_ = tables;
  index_ = index;
  sink_ = sink;
  storm_.MoveTo({tables, sink, index, options_.slice_ns});
  allocations_.MoveTo({tables, sink, index, options_.slice_ns});
  requests_.MoveTo(strings, {tables, sink, index, options_.slice_ns});
  cpu_.MoveTo({tables, sink, index, options_.slice_ns});
  wall_.MoveTo({tables, sink, index, options_.slice_ns});
  thread_samples_.MoveTo({tables, sink, index, options_.slice_ns});
  universal_.MoveTo({tables, sink, index, options_.slice_ns});
  type_counter_ = TypeCounter(options_.count_mode);
  tables->counting.mode = options_.count_mode;
  ++tables->counting.gaps;
  types_.MoveTo(old, old_strings, *strings, *tables);
  exception_types_.Clear();
  exception_messages_.Clear();
  // What waits goes on; its stack was the old tree's.
  std::vector<std::pair<uint64_t, OpenWait>> open;
  waits_.TakeOpen([&](uint64_t thread, OpenWait wait) {
    wait.node = StackTree::kNoStack;
    wait.owner_node = 0;
    wait.start_ns = 0;
    open.emplace_back(thread, wait);
  });
  for (const auto& [thread, wait] : open) (void)waits_.Begin(thread, wait, tables_->stacks);
  holders_.Clear();
  slice_ = {};
  gcs_ = GcTimeline(strings, &tables->gcs, &tables->info.gc, &tables->losses, index);
  LogGcs();
  OutdateMemos();
  last_ns_ = 0;
  pool_ns_ = 0;
  slice_end_ns_ = options_.slice_ns;
}

void ProcessFold::Advance(int64_t now_ns) {
  if (now_ns < slice_end_ns_) return;
  holders_.Settle(slice_end_ns_,
                  [this](const EndedWait& wait, uint32_t holding) { AddWait(wait, holding); });
  CloseSlice();
  requests_.Advance(now_ns);
  // Values come once a second; of a counter that says nothing any more the last one is not known to
  // hold.
  constexpr int64_t kPoolHoldsNs = 5'000'000'000;
  if (now_ns - pool_ns_ > kPoolHoldsNs) tables_->pool_threads = tables_->pool_queue = -1;
  slice_end_ns_ = (now_ns / options_.slice_ns + 1) * options_.slice_ns;
}

void ProcessFold::Finish(bool goes_on) {
  now_ns_ = last_ns_;
  waits_.TakeOpen([this](uint64_t thread, const OpenWait& wait) {
    CountWait(thread, wait, static_cast<double>(last_ns_ - wait.start_ns), false);
  });
  for (WindowFold* const windows : {static_cast<WindowFold*>(&storm_), &allocations_})
    goes_on ? windows->Flush(last_ns_) : windows->Finish(last_ns_);
  Flush();
  requests_.SettleRuns(last_ns_);
  cpu_.Finish(last_ns_);
  wall_.Flush();
  requests_.Finish(last_ns_);
  gcs_.Finish();
}

void ProcessFold::Flush() {
  SettleWaits();
  thread_samples_.Flush();
  universal_.Flush();
  CloseSlice();
}

void ProcessFold::CloseSlice() {
  UpdateCounting();
  if (slice_.empty()) return;
  sink_->OnSlice(slice_.Take(index_, slice_end_ns_ - options_.slice_ns, slice_end_ns_));
}

}  // namespace clrscope::analysis
