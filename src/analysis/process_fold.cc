// SPDX-License-Identifier: Apache-2.0
#include "analysis/process_fold.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/gc_amounts.h"
#include "base/hash_bytes.h"
#include "base/utf.h"
#include "clr/alloc_events.h"
#include "clr/code_events.h"
#include "clr/gc_events.h"
#include "clr/gc_names.h"

namespace clrscope::analysis {
namespace {

using clr::EventTag;
using profile::HeapKind;
using profile::SeriesKey;
using profile::Source;
using profile::StackTree;

// 0 = no name yet.
uint64_t HashName(Utf16View name) { return name.empty() ? 0 : HashBytes(name.bytes()) | 1; }

// A damaged clock must not overflow; 146 years are enough.
constexpr int64_t kTimeLimit = int64_t{1} << 62;
int64_t Sane(int64_t ns) {
  if (ns > kTimeLimit || ns < -kTimeLimit) [[unlikely]]
    return std::clamp(ns, -kTimeLimit, kTimeLimit);
  return ns;
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
      type_counter_(options.count_mode) {
  slice_end_ns_ = options_.slice_ns;
  tables->counting.mode = options.count_mode;
  memo_generation_ = index + 1;
}

void ProcessFold::OutdateMemos() {
  constexpr uint32_t kStride = 1 << 13;  // more than there are processes
  memo_generation_ += kStride;
  if (memo_generation_ == 0) memo_generation_ = kStride;
}

StringId ProcessFold::Intern(Utf16View text) {
  scratch_.clear();
  AppendUtf8(scratch_, text);
  return strings_->Intern(scratch_);
}

void ProcessFold::OnEvent(const clr::RawEvent& event, int64_t offset_ns) {
  now_ns_ = Sane(event.time_ns);
  if (offset_ns != 0)
    now_ns_ = Sane(now_ns_ + std::clamp(offset_ns, -kTimeLimit / 2, kTimeLimit / 2));
  last_ns_ = std::max(last_ns_, now_ns_);
  // These come by the million.
  const EventTag tag = event.kind->tag;
  if (tag == EventTag::kSampledObjectAllocation) return OnCounted(event);
  if (tag == EventTag::kGcMarkWithType) return gcs_.OnMark(event, now_ns_);
  if (tag >= EventTag::kGcStart && tag <= EventTag::kGcSuspendEeEnd)
    return gcs_.OnEvent(event, now_ns_);
  Dispatch(event);
}

void ProcessFold::NoteTime(int64_t time_ns) { last_ns_ = std::max(last_ns_, Sane(time_ns)); }

void ProcessFold::Dispatch(const clr::RawEvent& event) {
  switch (event.kind->tag) {
    case EventTag::kAllocationTick:
      return OnTick(event);
    case EventTag::kAllocationSampled:
      return OnSampled(event);
    case EventTag::kBulkType:
      return OnBulkType(event);
    case EventTag::kMethodLoadVerbose:
    case EventTag::kMethodUnloadVerbose:
    case EventTag::kMethodUnload:
    case EventTag::kMethodDcEndVerbose:
    case EventTag::kMethodDcStartVerbose:
      return OnMethod(event);
    case EventTag::kR2rEntryPoint:
      return OnEntryPoint(event);
    case EventTag::kModuleLoad:
    case EventTag::kModuleDcEnd:
    case EventTag::kModuleDcStart:
    case EventTag::kDomainModuleLoad:
      return OnModule(event);
    case EventTag::kGcTriggered:
      return OnGcTriggered(event);
    case EventTag::kAssemblyUnload: {
      // At its end a process says so of all its assemblies; only a collectible one is unloaded
      // before, and then the runtime forgets what it has gathered of all types.
      constexpr uint32_t kCollectible = 8;
      clr::AssemblyRecord assembly;
      if (clr::Decode(event, assembly) && (assembly.flags & kCollectible) != 0)
        ++tables_->counting.gaps;
      return;
    }
    case EventTag::kGcSettings:
      return OnGcSettings(event);
    case EventTag::kRuntimeStart:
      return OnRuntimeStart(event);
    case EventTag::kProcessInfo:
      return OnProcessInfo(event);
    default:
      return gcs_.OnEvent(event, now_ns_);
  }
}

inline uint32_t ProcessFold::NodeOf(const clr::RawEvent& event, uint32_t* note) {
  if (event.stack_state == clr::StackState::kMissing) tables_->losses.Add(Loss::kMissingStack);
  if (event.stack_state != clr::StackState::kPresent) return StackTree::kNoStack;
  const clr::StackView& s = event.stack;
  uint32_t node;
  if (s.memo != nullptr && s.memo->generation == memo_generation_) {
    node = s.memo->node;
  } else {
    node = tables_->stacks.Fold(s.data, s.frames, s.pointer_size, event.thread, now_ns_, note);
    if (s.memo != nullptr) *s.memo = {memo_generation_, node, 0, 0};
  }
  if (s.frames >= StackTree::kRuntimeLimit) tables_->losses.Add(Loss::kTruncatedStack);
  if (node == StackTree::kOther) tables_->losses.Add(Loss::kStackNodesCapped);
  return node;
}

uint32_t ProcessFold::TypeOf(uint64_t id, Utf16View name) {
  uint32_t type = type_index_.Find(id);
  const uint64_t hash = HashName(name);
  // The same id with another name: the type was unloaded and its memory used again.
  const bool reused = type != FlatMap::kNone && hash != 0 && type_name_hash_[type] != 0 &&
                      type_name_hash_[type] != hash;
  if (type == FlatMap::kNone || reused) {
    type = static_cast<uint32_t>(tables_->types.size());
    tables_->types.push_back({id, {}});
    type_name_hash_.push_back(0);
    type_index_.Set(id, type);
    if (reused) {  // these may hold the series of the old type
      OutdateMemos();
      slice_.ForgetNotes();
    }
  }
  if (hash != 0 && type_name_hash_[type] == 0) NameType(type, name);
  return type;
}

void ProcessFold::NameType(uint32_t type, Utf16View name) {
  tables_->types[type].raw_name = Intern(name);
  type_name_hash_[type] = HashName(name);
}

uint32_t ProcessFold::Count(const clr::RawEvent& event, SeriesKey key, const profile::Sums& sums) {
  bool capped = false;
  const uint32_t series = tables_->series.Find(key, sums.size_sum, StackTree::kOther, &capped);
  if (capped) tables_->losses.Add(Loss::kSeriesCapped, sums.samples);
  CountSeries(event.thread, series, sums);
  return series;
}

void ProcessFold::CountSeries(uint64_t thread, uint32_t series, const profile::Sums& sums) {
  if (now_ns_ >= slice_end_ns_) Advance(now_ns_);
  const SeriesKey& key = tables_->series.keys()[series];
  slice_.Add(series, sums);
  slice_.AddThread(thread, key, sums);
  tables_->source_samples[static_cast<size_t>(key.source())] += sums.samples;
}

void ProcessFold::OnTick(const clr::RawEvent& event) {
  clr::AllocationTick tick;
  if (!clr::Decode(event, tick)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (tick.object_size == 0) tables_->sizes_unknown = true;
  profile::Counting& counting = tables_->counting;
  counting.gc_known = true;
  counting.gc_bytes += tick.amount;
  if (tick.heap < kMaxHeaps) counting.gc_heaps = std::max(counting.gc_heaps, tick.heap + 1);
  gcs_.OnTick(tick.kind, tick.amount);
  const uint32_t type = event.kind->version >= 2 ? TypeOf(tick.type_id, tick.type_name) : 0;
  const uint32_t series =
      Count(event,
            SeriesKey::Make(NodeOf(event), type, profile::HeapKindOf(tick.kind), Source::kTick,
                            profile::SizeClass(tick.object_size)),
            {1, tick.object_size, tick.amount});
  NoteCause(series, static_cast<double>(tick.amount));
}

void ProcessFold::OnSampled(const clr::RawEvent& event) {
  clr::AllocationSampled sample;
  if (!clr::Decode(event, sample)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  const uint32_t series =
      Count(event,
            SeriesKey::Make(NodeOf(event), TypeOf(sample.type_id, sample.type_name),
                            profile::HeapKindOf(sample.kind), Source::kSampled,
                            profile::SizeClass(sample.object_size)),
            {1, sample.object_size, 0});
  const auto size = static_cast<double>(std::max<uint64_t>(sample.object_size, 1));
  NoteCause(series, size / profile::HitProbability(size));
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
    const uint32_t type = TypeOf(record.type_id, record.name);
    constexpr uint32_t kArray = 8;
    const bool varies = (record.flags & kArray) != 0 ||
                        strings_->Get(tables_->types[type].raw_name) == "System.String";
    type_counter_.Named(event.thread, type, varies,
                        [&](uint64_t thread, uint64_t bytes) { AddLeftOut(thread, type, bytes); });
  }
  if (!types.ok()) tables_->losses.Add(Loss::kUnsupportedVersion);
}

void ProcessFold::OnMethod(const clr::RawEvent& event) {
  clr::MethodRecord m;
  if (!clr::Decode(event, m)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  // In rundowns the ids of unload mean "is there at the end", so only live unloads end anything.
  const EventTag tag = event.kind->tag;
  if (tag == EventTag::kMethodUnload || tag == EventTag::kMethodUnloadVerbose) {
    tables_->code.Unload(m.start, m.method_id, now_ns_);
    if (tables_->stacks.Retire(m.start, m.size)) OutdateMemos();
    return;
  }
  if (m.size == 0 || tables_->code.Knows(m.start, m.size, m.method_id)) return;
  const bool live = tag == EventTag::kMethodLoadVerbose;
  profile::MethodCode code;
  code.start = m.start;
  code.size = m.size;
  code.token = m.token;
  code.flags = m.flags;
  code.method_id = m.method_id;
  code.module_id = m.module_id;
  code.owner = Intern(m.owner);
  code.name = Intern(m.name);
  code.signature = Intern(m.signature);
  code.load_ns = live ? now_ns_ : profile::kAlways;
  tables_->code.Add(code);
  // Addresses seen there before belonged to somebody else.
  if (live && tables_->stacks.Retire(m.start, m.size)) OutdateMemos();
}

void ProcessFold::OnEntryPoint(const clr::RawEvent& event) {
  clr::R2rEntryPoint e;
  if (!clr::Decode(event, e)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (e.entry == 0) return;
  profile::MethodCode code;
  code.start = e.entry;
  code.method_id = e.method_id;
  code.owner = Intern(e.owner);
  code.name = Intern(e.name);
  code.signature = Intern(e.signature);
  tables_->code.AddEntry(code);
}

void ProcessFold::OnModule(const clr::RawEvent& event) {
  clr::ModuleRecord m;
  if (!clr::Decode(event, m)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  profile::ModuleImage image;
  image.id = m.module_id;
  image.path = Intern(m.il_path);
  image.native_path = Intern(m.native_path);
  if (m.pdb_signature.size() == 16 && std::any_of(m.pdb_signature.begin(), m.pdb_signature.end(),
                                                  [](std::byte b) { return b != std::byte{0}; })) {
    std::string hex;
    for (const std::byte b : m.pdb_signature)
      hex += fmt::format("{:02x}", static_cast<unsigned>(b));
    image.mvid = strings_->Intern(hex);
  }
  tables_->code.AddModule(image);
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

void ProcessFold::OnRuntimeStart(const clr::RawEvent& event) {
  clr::RuntimeStart start;
  if (!clr::Decode(event, start)) return;
  tables_->info.gc.startup_flags = start.startup_flags;
  const uint16_t* v = start.clr_version;
  if (tables_->info.runtime.value == 0)
    // Since .NET 5 the third number is that of the file version: patch * 100 + year's last digits.
    tables_->info.runtime =
        strings_->Intern(fmt::format(".NET {}.{}.{}", v[0], v[1], v[2] >= 100 ? v[2] / 100 : v[2]));
  if (tables_->info.command_line.value == 0)
    tables_->info.command_line = Intern(start.command_line);
}

void ProcessFold::OnProcessInfo(const clr::RawEvent& event) {
  clr::ProcessInfoRecord info;
  if (!clr::Decode(event, info)) return;
  if (tables_->info.command_line.value == 0) tables_->info.command_line = Intern(info.command_line);
  tables_->info.os = Intern(info.os);
  tables_->info.arch = Intern(info.arch);
}

void ProcessFold::MoveTo(const profile::ProcessTables& old, const StringPool& old_strings,
                         StringPool* strings, profile::ProcessTables* tables, uint32_t index,
                         profile::SliceSink* sink) {
  strings_ = strings;
  tables_ = tables;
  index_ = index;
  sink_ = sink;
  type_counter_ = TypeCounter(options_.count_mode);
  tables->counting.mode = options_.count_mode;
  ++tables->counting.gaps;
  // A type may be named once only, by BulkType; ids that were used again belong to their last
  // owner.
  FlatMap types;
  std::vector<uint64_t> hashes{0};
  for (uint32_t i = 1; i < old.types.size(); ++i) {
    const profile::RuntimeType& type = old.types[i];
    if (type.raw_name.value == 0 || type_index_.Find(type.id) != i) continue;
    types.Set(type.id, static_cast<uint32_t>(tables_->types.size()));
    tables_->types.push_back({type.id, strings_->Intern(old_strings.Get(type.raw_name))});
    hashes.push_back(type_name_hash_[i]);
  }
  type_index_ = std::move(types);
  type_name_hash_ = std::move(hashes);
  slice_ = {};
  gcs_ = GcTimeline(strings, &tables->gcs, &tables->info.gc, &tables->losses, index);
  OutdateMemos();
  last_ns_ = 0;
  slice_end_ns_ = options_.slice_ns;
}

void ProcessFold::Advance(int64_t now_ns) {
  if (now_ns < slice_end_ns_) return;
  Flush();
  slice_end_ns_ = (now_ns / options_.slice_ns + 1) * options_.slice_ns;
}

void ProcessFold::Finish() {
  Flush();
  gcs_.Finish();
}

void ProcessFold::Flush() {
  UpdateCounting();
  if (slice_.empty()) return;
  sink_->OnSlice(slice_.Take(index_, slice_end_ns_ - options_.slice_ns, slice_end_ns_));
}

}  // namespace clrscope::analysis
