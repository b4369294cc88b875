// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/program_version.h"
#include "base/round_to_total.h"
#include "clr/method_name.h"
#include "pprof/memory_writer.h"
#include "profile/notes.h"
#include "profile/overhead/overhead_note.h"

namespace clrscope::agent {
namespace {

// The locations of stacks, each made when it is first met. As in `convert`, plumbing of async
// methods and the thread pool is left out.
class StackEncoder {
 public:
  StackEncoder(pprof::MemoryWriter& out, const Dictionaries& d)
      : out_(out), d_(d), methods_(d.methods.size(), 0), types_(d.types.size() + 1, 0) {}

  // Leaf first; valid until the next call.
  std::span<const uint64_t> Of(uint32_t node, uint32_t type) {
    ids_.assign(1, OfType(type));
    AddMethods(node);
    return ids_;
  }
  // Of a measure that has no types.
  std::span<const uint64_t> Of(uint32_t node) {
    ids_.clear();
    AddMethods(node);
    if (!ids_.empty()) return ids_;
    if (plumbing_ == 0)
      plumbing_ = out_.MethodLocation({"", pprof::kPlumbing, "", 0, profile::kPseudo},
                                      [](std::string_view) { return pprof::Image(); });
    ids_.push_back(plumbing_);
    return ids_;
  }

 private:
  static constexpr uint64_t kLeftOut = std::numeric_limits<uint64_t>::max();

  void AddMethods(uint32_t node) {
    for (; node != 0; node = d_.nodes[node - 1].parent) {
      const uint64_t id = OfMethod(d_.nodes[node - 1].method);
      // Native code has no names here: its frames are one, even where they are told apart.
      const bool again = IsNative(d_.nodes[node - 1]) && !ids_.empty() && ids_.back() == id;
      if (id != kLeftOut && !again) ids_.push_back(id);
    }
  }

  bool IsNative(const profile::IntervalNode& node) const {
    return node.place != 0 && (d_.methods[node.method].flags & profile::kPseudo) != 0;
  }
  uint64_t OfMethod(uint32_t i) {
    if (methods_[i] != 0) return methods_[i];
    const profile::IntervalMethod& m = d_.methods[i];
    const auto [owner, name] = clr::SplitRawMethodName(m.raw);
    if (clr::IsMachinery(owner, name)) return methods_[i] = kLeftOut;
    return methods_[i] = out_.MethodLocation({m.module, m.method, m.raw, m.token, m.flags},
                                             [&](std::string_view module) {
                                               return pprof::Image{module, m.mvid};
                                             });
  }
  uint64_t OfType(uint32_t id) {
    if (types_[id] != 0) return types_[id];
    if (id == 0) return types_[id] = out_.TypeLocation("", "");
    const profile::IntervalType& t = d_.types[id - 1];
    return types_[id] = out_.TypeLocation(t.name, t.raw);
  }

  pprof::MemoryWriter& out_;
  const Dictionaries& d_;
  std::vector<uint64_t> methods_, types_, ids_;
  uint64_t plumbing_ = 0;
};

std::vector<std::string> Origin(const profile::IntervalFrame& f, std::string_view program) {
  std::vector<std::string> notes{std::string(ProgramVersion())};
  notes.push_back(profile::ProcessNote(profile::ProcessTitle(program, f.pid)));
  if (!f.runtime.empty()) notes.push_back(profile::RuntimeNote(f.runtime));
  return notes;
}

bool Has(const profile::IntervalFrame& f, profile::Measure m) {
  return f.measures == 0 ? m == profile::Measure::kAllocations
                         : (f.measures >> static_cast<uint32_t>(m) & 1) != 0;
}

// As exporter::Notes() has them, in its order.
std::vector<std::string> Notes(const profile::IntervalFrame& f, const profile::Estimate& total,
                               std::string_view program) {
  std::vector<std::string> notes = Origin(f, program);
  const bool exact = std::none_of(f.losses.begin(), f.losses.end(), [](const auto& loss) {
    return loss.first == Describe(Loss::kAgentSamples).name;
  });
  if (Has(f, profile::Measure::kAllocations)) {
    notes.push_back(profile::EventNote(f.source, /*by_callbacks=*/true, exact));
    notes.push_back(profile::SamplesNote(total.samples));
    if (f.source == profile::Source::kTick) notes.emplace_back(profile::BiasNote());
  }
  for (const profile::SourceSpec& s : profile::kSourceSpecs)
    if (profile::IsEvent(s.id) && Has(f, s.measure))
      notes.push_back(profile::EventNote(s.id, /*by_callbacks=*/false, exact));
  if (f.overhead.limit > 0) {
    notes.push_back(profile::OverheadNote(f.overhead));
    for (std::string& note : profile::WindowNotes(f.overhead)) notes.push_back(std::move(note));
  }
  LossCounters losses;
  for (const auto& [name, count] : f.losses)
    if (!losses.AddByName(name, count)) losses.Add(Loss::kAgentOther, count);
  losses.ForEach(
      [&](Loss loss, uint64_t count) { notes.push_back(profile::LossNote(loss, count)); });
  return notes;
}

// Whole numbers that add up to the whole of the sum, as in `convert`. `windows`: what is right of
// rows of windows.
struct WholeNumbers {
  template <class Rows>
  WholeNumbers(const Rows& rows, double windows) {
    const auto scale = [windows](const auto* r) { return r->window == 0 ? 1 : windows; };
    std::vector<double> values;
    values.reserve(rows.size());
    for (const auto* r : rows) values.push_back(scale(r) * r->value.count);
    objects = RoundToTotal(values);
    values.clear();
    for (const auto* r : rows) values.push_back(scale(r) * r->value.amount);
    bytes = RoundToTotal(values);
  }
  std::vector<int64_t> objects, bytes;
};

}  // namespace

std::string EncodePprof(const profile::IntervalFrame& f, const Dictionaries& d,
                        const Labels& user_labels, std::string_view program) {
  StringSink sink;  // takes everything
  const bool allocations = Has(f, profile::Measure::kAllocations);
  std::vector<profile::Measure> measures;  // of events
  for (const profile::SourceSpec& s : profile::kSourceSpecs)
    if (profile::IsEvent(s.id) && Has(f, s.measure)) measures.push_back(s.measure);
  pprof::MemoryWriter out(
      {.allocated = allocations, .objects = true, .live = f.live, .events = measures}, sink);
  std::vector<const profile::IntervalFlow*> flows;
  std::vector<const profile::IntervalLive*> lives;
  profile::Estimate total;
  for (const profile::IntervalFlow& r : f.flows) {
    flows.push_back(&r);
    total += r.value;
  }
  for (const profile::IntervalLive& r : f.lives)
    if (!r.young) lives.push_back(&r);  // else no GC has looked at it: nobody knows that it lives
  out.Describe(f.start_unix_ns + f.start_ns, f.end_ns - f.start_ns,
               pprof::PeriodOf(f.source, total));
  for (const auto& [key, value] : user_labels) out.LabelAll(key, value);
  const auto own =
      std::find_if(d.methods.begin(), d.methods.end(),
                   [&](const profile::IntervalMethod& m) { return m.module == program; });
  if (own != d.methods.end())
    out.MainModule(own->module, [&](std::string_view name) {
      return pprof::Image{name, own->mvid};
    });
  StackEncoder stacks(out, d);
  const WholeNumbers allocated(flows, f.windows.factor()), living(lives, f.all_windows.factor());
  for (size_t i = 0; i < flows.size(); ++i) {
    const profile::IntervalFlow& r = *flows[i];
    (void)out.Allocated(
        {stacks.Of(r.node, r.type), allocated.objects[i], allocated.bytes[i], r.kind, {}});
  }
  for (size_t i = 0; i < lives.size(); ++i) {
    const profile::IntervalLive& r = *lives[i];
    (void)out.Live({stacks.Of(r.node, r.type), living.objects[i], living.bytes[i], r.kind, {}},
                   r.generation, r.age_bucket);
  }
  for (const profile::IntervalEvent& e : f.events) {
    const profile::Measure measure = profile::MeasureOf(e.source);
    const auto column = std::find(measures.begin(), measures.end(), measure);
    if (column == measures.end()) continue;
    const auto stack = SpecOf(measure).typed ? stacks.Of(e.node, e.type) : stacks.Of(e.node);
    (void)out.Event({stack,
                     static_cast<int64_t>(e.sums.stands_for),
                     static_cast<int64_t>(e.sums.amount),
                     e.thread,
                     {},
                     {},
                     e.owner,
                     e.unfinished},
                    static_cast<size_t>(column - measures.begin()));
  }
  for (const std::string& note : Notes(f, total, program)) out.Comment(note);
  (void)out.Finish();
  return sink.Take();
}

std::string EncodeGcCpuPprof(const profile::IntervalFrame& f, const Labels& user_labels,
                             std::string_view program) {
  if (f.cpu.process_ns < 0) return {};
  const auto known = [](int64_t ns) { return std::max<int64_t>(ns, 0); };
  const int64_t gc =
      known(f.cpu.server_gc_ns) + known(f.cpu.background_gc_ns) + known(f.cpu.workstation_gc_ns);
  StringSink sink;
  (void)pprof::WriteGcCpu({f.start_unix_ns + f.start_ns, f.end_ns - f.start_ns, gc,
                           std::max<int64_t>(f.cpu.process_ns - gc, 0)},
                          user_labels, Origin(f, program), sink);
  return sink.Take();
}

}  // namespace clrscope::agent
