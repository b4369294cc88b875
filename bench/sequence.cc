// SPDX-License-Identifier: Apache-2.0
// Reduces the trace of a program that told of every object (GCSampledObjectAllocation with its
// address, and what each GC left alive) to a sequence that the simulator replays.
//   sequence OUT ALL.nettrace [TICKS.nettrace]
// TICKS: another session of the same run that brought AllocationTick.
#include "profile/testing/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <vector>

#include "analysis/framework_rule.h"
#include "analysis/trace_fold.h"
#include "clr/alloc_events.h"
#include "clr/gc_events.h"
#include "import/trace_file.h"
#include "profile/tables/slice.h"

namespace {

using namespace clrscope;
using profile::testing::kForever;
using profile::testing::Sequence;

struct Tick {
  int64_t unix_ns = 0;
  uint64_t thread = 0, address = 0;
  profile::testing::RecordedTick tick;
};

// Threads and objects of one run are the same in both of its sessions, and so is the clock.
class TickSink final : public nettrace::EventSink {
 public:
  void OnStream(const nettrace::StreamInfo& info) override { start_ns_ = info.sync_unix_ns; }
  void OnEvent(const clr::RawEvent& event) override {
    clr::AllocationTick tick;
    if (event.kind->tag != clr::EventTag::kAllocationTick || !clr::Decode(event, tick)) return;
    const auto kind = static_cast<uint32_t>(profile::HeapKindOf(tick.kind));
    ticks.push_back({start_ns_ + event.time_ns,
                     event.thread,
                     tick.address,
                     {0, kind, tick.object_size, tick.amount}});
  }
  std::vector<Tick> ticks;

 private:
  int64_t start_ns_ = 0;
};

class SequenceSink final : public nettrace::EventSink {
 public:
  SequenceSink(analysis::TraceFold* fold, std::vector<Tick> ticks)
      : fold_(fold), ticks_(std::move(ticks)) {
    for (uint32_t i = 0; i < ticks_.size(); ++i) tick_at_.emplace(ticks_[i].address, i);
  }
  void OnStream(const nettrace::StreamInfo& info) override {
    start_ns_ = info.sync_unix_ns;
    fold_->OnStream(info.pid, info.pointer_size, info.sync_unix_ns);
  }
  void OnGap(int64_t after_ns, int64_t before_ns) override {
    fold_->OnGap(after_ns, before_ns);
    ++gaps;
  }
  void OnEvent(const clr::RawEvent& event) override {
    fold_->OnEvent(event);
    switch (event.kind->tag) {
      case clr::EventTag::kSampledObjectAllocation:
        return OnObject(event);
      case clr::EventTag::kGcStart: {
        clr::GcStart start;
        if (clr::Decode(event, start)) generation_ = start.generation;
        kept_.clear();
        return;
      }
      case clr::EventTag::kGcBulkSurviving:
        return OnKept(event, false);
      case clr::EventTag::kGcBulkMoved:
        return OnKept(event, true);
      case clr::EventTag::kGcEnd:
        return Collect();
      default:
        return;
    }
  }

  Sequence sequence;
  std::vector<uint32_t> nodes;  // by object, of the stack
  std::vector<int64_t> times;   // by object
  uint64_t gaps = 0, gcs = 0, matched = 0;
  uint32_t after_last_gc = 0;  // objects before the last GC's end

 private:
  struct Kept {
    uint64_t begin, end, to;
  };
  struct Live {
    uint64_t address;
    uint32_t index;
    uint8_t generation;
  };

  void OnObject(const clr::RawEvent& event) {
    clr::SampledObjectAllocation e;
    if (!clr::Decode(event, e) || e.count != 1) {
      ++gaps;  // more than one object in an event: the sequence is not whole
      return;
    }
    profile::testing::SimObject o;
    o.size = static_cast<uint32_t>(std::max<uint64_t>(24, (e.total_size + 7) & ~uint64_t{7}));
    o.death = kForever;
    o.thread = Dense(threads_, event.thread);
    o.type = Dense(types_, e.type_id);
    const bool large = o.size >= 85'000;
    o.kind = large ? profile::HeapKind::kLoh : profile::HeapKind::kSoh;
    const auto index = static_cast<uint32_t>(sequence.objects.size());
    sequence.objects.push_back(o);
    const auto* memo = event.stack.memo;
    nodes.push_back(event.stack_state == clr::StackState::kPresent && memo != nullptr
                        ? memo->node
                        : profile::StackTree::kNoStack);
    times.push_back(event.time_ns);
    live_.push_back({e.address, index, static_cast<uint8_t>(large ? 2 : 0)});
    // A tick names its object before the object's own event; streams know when they began to the
    // ms.
    const auto [begin, end] = tick_at_.equal_range(e.address);
    for (auto it = begin; it != end; ++it) {
      const Tick& t = ticks_[it->second];
      const int64_t after = start_ns_ + event.time_ns - t.unix_ns;
      if (t.thread != event.thread || after < -5'000'000 || after > 50'000'000) continue;
      sequence.ticks.push_back(t.tick);
      sequence.ticks.back().object = index;
      ++matched;
      tick_at_.erase(it);
      break;
    }
  }
  void OnKept(const clr::RawEvent& event, bool moved) {
    ByteReader r(event.payload);
    r.Skip(4);
    const uint32_t count = r.U32();
    r.Skip(2);
    for (uint32_t i = 0; i < count && r.ok(); ++i) {
      const uint64_t from = r.U64(), to = moved ? r.U64() : from, length = r.U64();
      if (r.ok()) kept_.push_back({from, from + length, to});
    }
  }
  // Everything of the condemned generations that lies in no range is dead.
  void Collect() {
    ++gcs;
    std::sort(kept_.begin(), kept_.end(),
              [](const Kept& a, const Kept& b) { return a.begin < b.begin; });
    const auto now = static_cast<uint32_t>(sequence.objects.size());
    std::erase_if(live_, [&](Live& l) {
      auto it = std::upper_bound(kept_.begin(), kept_.end(), l.address,
                                 [](uint64_t a, const Kept& k) { return a < k.begin; });
      if (it != kept_.begin() && l.address < (--it)->end) {
        l.address = it->to + (l.address - it->begin);
        l.generation = static_cast<uint8_t>(std::min(2, l.generation + 1));
        return false;
      }
      if (l.generation > generation_) return false;
      sequence.objects[l.index].death = now;
      return true;
    });
    after_last_gc = now;
  }
  template <class Id>
  uint16_t Dense(std::unordered_map<Id, uint16_t>& ids, Id id) {
    return ids.emplace(id, static_cast<uint16_t>(ids.size())).first->second;
  }

  analysis::TraceFold* fold_;
  std::vector<Tick> ticks_;
  std::unordered_multimap<uint64_t, uint32_t> tick_at_;
  std::unordered_map<uint64_t, uint16_t> threads_, types_;
  std::vector<Live> live_;
  std::vector<Kept> kept_;
  int64_t start_ns_ = 0;
  int generation_ = 0;
};

// The first method of the program's own, from the leaf, else the leaf: as reports name sites.
class Sites {
 public:
  explicit Sites(const profile::Recording& recording) : recording_(recording) {}
  // A number for (type, method).
  uint32_t Of(uint32_t type, uint32_t node, int64_t time_ns) {
    const uint64_t key = uint64_t{type} << 32 | MethodOf(node, time_ns);
    return sites_.emplace(key, static_cast<uint32_t>(sites_.size())).first->second;
  }

 private:
  uint32_t MethodOf(uint32_t node, int64_t time_ns) {
    if (const auto known = method_of_.find(node); known != method_of_.end()) return known->second;
    const profile::ProcessTables& p = *recording_.processes[0];
    uint32_t leaf = ~0u, found = ~0u;
    for (uint32_t n = node; n >= profile::StackTree::kFirstReal; n = p.stacks.parent(n)) {
      const auto match =
          p.code.Find(p.stacks.addresses()[p.stacks.address_index(n)].address, time_ns);
      if (!match.method) continue;
      const auto name = static_cast<uint32_t>(
          names_.emplace(match.method->method_id, names_.size()).first->second);
      if (leaf == ~0u) leaf = name;
      const profile::ModuleImage* module = p.code.FindModule(match.method->module_id);
      if (module == nullptr) continue;
      const std::string_view path = recording_.strings.Get(module->path);
      if (rule_.Matches(analysis::ModuleName(path), path)) continue;
      found = name;
      break;
    }
    return method_of_[node] = found != ~0u ? found : leaf;
  }

  const profile::Recording& recording_;
  analysis::FrameworkRule rule_;
  std::unordered_map<uint32_t, uint32_t> method_of_;
  std::unordered_map<uint64_t, uint32_t> names_;
  std::unordered_map<uint64_t, uint32_t> sites_;
};

int Run(const char* out, const char* all, const char* ticks) {
  TickSink tick_sink;
  if (ticks != nullptr) {
    nettrace::Reader reader(&tick_sink);
    if (auto read = import::PumpTrace(ticks, &reader); !read.ok()) {
      fmt::print(stderr, "{}\n", read.error().message);
      return 1;
    }
  }
  const size_t ticked = tick_sink.ticks.size();
  profile::Recording recording;
  profile::NoSlices slices;
  analysis::TraceFold fold(&recording, &slices);
  SequenceSink sink(&fold, std::move(tick_sink.ticks));
  nettrace::Reader reader(&sink);
  auto read = import::PumpTrace(all, &reader);
  if (!read.ok() || read.value().damage || reader.dropped() != 0 || sink.gaps != 0) {
    fmt::print(stderr, "{}: not whole: {} events dropped\n", all, reader.dropped());
    return 1;
  }
  fold.Finish(reader.ended());
  Sequence& s = sink.sequence;
  Sites sites(recording);
  for (uint32_t i = 0; i < s.objects.size(); ++i)
    s.objects[i].site = sites.Of(s.objects[i].type, sink.nodes[i], sink.times[i]);
  // What no GC looked at any more is of unknown fate: the sequence ends with the last one.
  fmt::print("{}: {} objects, {} before the end of the last of {} GCs; {} of {} ticks\n", all,
             s.objects.size(), sink.after_last_gc, sink.gcs, sink.matched, ticked);
  s.objects.resize(sink.after_last_gc);
  std::erase_if(s.ticks, [&](const auto& t) { return t.object >= s.objects.size(); });
  return profile::testing::WriteSequence(out, s) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return Run(argv[1], argv[2], argc > 3 ? argv[3] : nullptr);
}
