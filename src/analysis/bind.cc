// SPDX-License-Identifier: Apache-2.0
#include "analysis/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/bind_agent.h"
#include "analysis/profile_tree.h"
#include "base/flat_map.h"
#include "clr/method_name.h"
#include "clr/type_name.h"
#include "profile/type_sizes.h"

namespace clrscope::analysis {
namespace {

using profile::Estimate;
using profile::HeapKind;
using profile::Profile;
using profile::Source;
using profile::StackTree;

bool AnyEventLost(const LossCounters& losses) {
  static constexpr Loss kLost[] = {
      Loss::kEventsDropped, Loss::kBytesDiscarded,  Loss::kBlocksDiscarded,   Loss::kTruncatedInput,
      Loss::kUnknownBlock,  Loss::kUnknownMetadata, Loss::kUnsupportedVersion};
  return std::any_of(std::begin(kLost), std::end(kLost),
                     [&losses](Loss loss) { return losses[loss] != 0; });
}

// What was asked for by `--types` is what people want to see.
bool CountsWereAskedFor(const profile::Recording& recording) {
  return std::any_of(recording.processes.begin(), recording.processes.end(), [](const auto& t) {
    return t->counting.mode != profile::CountMode::kUnknown;
  });
}

Source ChooseSource(const profile::Recording& recording, const Aggregate& aggregate,
                    const BindOptions& options, std::vector<Source>& also) {
  uint64_t samples[4] = {};
  for (size_t p = 0; p < aggregate.sums().size(); ++p) {
    const auto& keys = recording.processes[p]->series.keys();
    for (size_t s = 0; s < aggregate.sums()[p].size(); ++s)
      samples[static_cast<size_t>(keys[s].source())] += aggregate.sums()[p][s].samples;
  }
  if (std::all_of(std::begin(samples), std::end(samples), [](uint64_t n) { return n == 0; }))
    for (const auto& tables : recording.processes)
      for (size_t i = 0; i < 4; ++i) samples[i] += tables->source_samples[i];
  // Where no session sampled, the agent's flows count.
  for (const auto& [p, agent] : aggregate.agents())
    for (const auto& [key, value] : agent.flows)
      samples[static_cast<size_t>(recording.processes[p]->agent.source)] += value.samples;
  Source chosen = samples[0] != 0 ? Source::kForeign : Source::kSampled;
  if (options.source) {
    chosen = *options.source;
  } else if (CountsWereAskedFor(recording)) {
    chosen = Source::kCounted;
  } else {
    for (const Source s : {Source::kSampled, Source::kTick, Source::kCounted}) {
      if (samples[static_cast<size_t>(s)] == 0) continue;
      chosen = s;
      break;
    }
  }
  for (const Source s : {Source::kSampled, Source::kTick, Source::kCounted})
    if (s != chosen && samples[static_cast<size_t>(s)] != 0) also.push_back(s);
  return chosen;
}

// Binds one recording; one object so that the caches have a home.
class Binder {
 public:
  // `owned`: the same recording when it is not needed afterwards.
  Binder(const profile::Recording& recording, const Aggregate& aggregate,
         const BindOptions& options, profile::Recording* owned = nullptr)
      : recording_(recording), aggregate_(aggregate), options_(options), owned_(owned) {}

  Profile Run() {
    out_.source = ChooseSource(recording_, aggregate_, options_, out_.also);
    out_.start_unix_ns = recording_.start_unix_ns;
    out_.duration_ns = recording_.end_ns;
    out_.complete = recording_.complete;
    out_.origin = recording_.origin;
    out_.losses = recording_.losses;
    out_.whole = aggregate_.whole();
    out_.frames.push_back({});  // of the root
    out_.nodes.push_back({});
    const bool both = ChooseSources();
    for (uint32_t p = 0; p < recording_.processes.size(); ++p) BindProcess(p);
    if (out_.mixed && !both) std::erase(out_.also, Source::kTick);
    if (out_.counted()) MarkPartialTypes();
    std::sort(out_.cells.begin(), out_.cells.end(),
              [](const profile::Cell& a, const profile::Cell& b) {
                return std::tie(a.process, a.node, a.type, a.kind) <
                       std::tie(b.process, b.node, b.type, b.kind);
              });
    for (const auto& [key, value] : aggregate_.times())
      if (key.source == SourceOf(key.process))
        out_.times.push_back({key.start_ns, key.end_ns, key.process, key.kind, value});
    for (const auto& [key, value] : aggregate_.threads())
      if (std::get<3>(key) == SourceOf(std::get<0>(key)))
        out_.threads.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), value});
    profile::MarkTypeSizes(out_);
    return std::move(out_);
  }

 private:
  std::string_view Str(StringId id) const { return recording_.strings.Get(id); }
  StringId Copy(StringId id) { return out_.strings.Intern(Str(id)); }

  // From .NET 10 on boxes and what else is made by this method come from a fast path that counts
  // nothing; only when it fails, for want of room, the counting one is taken and shows up here.
  // Source: dotnet/runtime System.Private.CoreLib src/System/RuntimeHandles.cs, CastHelpers.Box.
  void MarkPartialTypes() {
    std::vector<bool> uncounted(out_.frames.size());
    for (size_t i = 1; i < out_.frames.size(); ++i)
      uncounted[i] = out_.str(out_.frames[i].method)
                         .starts_with("System.RuntimeTypeHandle.InternalAllocNoChecks");
    for (const profile::Cell& c : out_.cells)
      if (uncounted[out_.nodes[c.node].frame]) out_.types[c.type].partial = true;
  }

  // Runtimes before .NET 10 know no AllocationSampled: beside newer ones each process is told by
  // its own event. Returns whether any process has both.
  bool ChooseSources() {
    bool both = false;
    for (const auto& t : recording_.processes) {
      bool sampled = false, ticks = false;
      for (const profile::SeriesKey& key : t->series.keys()) {
        sampled = sampled || key.source() == Source::kSampled;
        ticks = ticks || key.source() == Source::kTick;
      }
      if (t->agent.used && !sampled && !ticks) {
        sampled = t->agent.source == Source::kSampled;
        ticks = t->agent.source == Source::kTick;
      }
      const bool by_ticks =
          !options_.source && out_.source == Source::kSampled && ticks && !sampled;
      sources_.push_back(by_ticks ? Source::kTick : out_.source);
      both = both || (sampled && ticks);
    }
    return both;
  }
  Source SourceOf(uint32_t process) const { return sources_[process]; }

  void BindProcess(uint32_t index) {
    const profile::ProcessTables& t = *recording_.processes[index];
    process_ = &t;
    profile::Process info = t.info;
    info.name = Copy(info.name);
    info.command_line = Copy(info.command_line);
    info.runtime = Copy(info.runtime);
    info.os = Copy(info.os);
    info.arch = Copy(info.arch);
    info.main_module = {};
    info.counting = t.counting;
    info.dropped = AnyEventLost(t.losses) || AnyEventLost(recording_.losses);
    // Only a recording of ours has the GC's figure in a session of its own, which no flood reaches.
    if (info.dropped && t.counting.mode == profile::CountMode::kUnknown)
      info.counting.gc_known = false;
    out_.processes.push_back(info);
    out_.losses.Merge(t.losses);
    const Source source = SourceOf(index);
    if (source != out_.source) out_.mixed = out_.processes.back().ticks = true;
    if (source == Source::kTick && t.sizes_unknown) out_.objects_known = false;

    frame_of_address_.assign(t.stacks.addresses().size(), FlatMap::kNone);
    frame_of_method_.clear();
    canonical_.assign(t.stacks.size(), FlatMap::kNone);
    canonical_[StackTree::kRoot] = 0;
    type_of_.assign(t.types.size(), FlatMap::kNone);
    tree_.BeginProcess();
    BindGcs(index, t);
    if (options_.places != nullptr) {
      std::vector<SeriesPlace>& places = options_.places->emplace_back();
      places.reserve(t.series.keys().size());
      for (const profile::SeriesKey& key : t.series.keys())
        places.push_back({NodeFor(key.node), TypeFor(index, key.type)});
    }
    BindSeries(index, source);
    BindAgent(index, source);
  }

  void BindAgent(uint32_t index, Source source) {
    if (options_.agent_places != nullptr) options_.agent_places->emplace_back();
    const auto found = aggregate_.agents().find(index);
    if (found == aggregate_.agents().end()) return;
    std::unordered_map<uint64_t, uint32_t> same_type;
    for (uint32_t i = 1; i < process_->types.size(); ++i)
      if (type_of_[i] != FlatMap::kNone) same_type[process_->types[i].id] = type_of_[i];
    AgentBinder(options_, *process_, index, &tree_, &out_)
        .Bind(found->second, std::move(same_type), source);
  }

  void BindSeries(uint32_t index, Source source) {
    const profile::ProcessTables& t = *process_;
    if (index >= aggregate_.sums().size()) return;
    const std::vector<profile::Sums>& sums = aggregate_.sums()[index];
    for (uint32_t s = 0; s < sums.size(); ++s) {
      if (sums[s].samples == 0) continue;
      const profile::SeriesKey& key = t.series.keys()[s];
      if (key.source() != source) continue;
      CellFor(index, key) += EstimateOf(key, sums[s]);
    }
  }

  void BindGcs(uint32_t index, const profile::ProcessTables& t) {
    const size_t first = out_.gcs.size();
    if (owned_ == nullptr)
      out_.gcs.Append(t.gcs);
    else
      out_.gcs.Append(std::move(owned_->processes[index]->gcs));
    const std::span<profile::PackedGc> bound = std::span(out_.gcs).subspan(first);
    for (profile::PackedGc& gc : bound) {
      gc.process = index;
      if (gc.trigger_node != 0) gc.trigger_node = NodeFor(gc.trigger_node);
      gc.ChangeAllocated([&](profile::GcAllocated& a) {
        a.type = TypeFor(index, a.type);
        if (a.node != 0) a.node = NodeFor(a.node);
      });
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
    if (!std::is_sorted(bound.begin(), bound.end(), earlier))
      std::stable_sort(bound.begin(), bound.end(), earlier);
    profile::GcFacts& facts = out_.processes.back().gc;
    std::unordered_map<uint64_t, StringId> names;
    if (!facts.finalized_types.empty())
      for (const profile::RuntimeType& type : t.types) names[type.id] = type.raw_name;
    for (auto& type : facts.finalized_types) {
      const auto known = names.find(type.type_id);
      if (known != names.end() && known->second.value != 0) type.name = known->second;
      const std::string_view raw = Str(type.name);
      type.name = out_.strings.Intern(raw.empty() ? fmt::format("type 0x{:x}", type.type_id)
                                                  : clr::CsharpTypeName(raw));
    }
    for (auto& type : facts.pinned_types)
      type.name = out_.strings.Intern(clr::CsharpTypeName(Str(type.name)));
  }

  Estimate& CellFor(uint32_t process, const profile::SeriesKey& key) {
    const uint32_t node = NodeFor(key.node);
    return tree_.CellAt(node, TypeFor(process, key.type), process, key.kind());
  }

  uint32_t NodeFor(uint32_t node) {
    // Parents first, without recursion.
    path_.clear();
    while (canonical_[node] == FlatMap::kNone) {
      path_.push_back(node);
      node = process_->stacks.parent(node);
    }
    uint32_t at = canonical_[node];
    for (size_t i = path_.size(); i-- > 0;) {
      at = canonical_[path_[i]] = tree_.ChildOf(at, FrameFor(path_[i]));
    }
    return at;
  }

  uint32_t FrameFor(uint32_t node) {
    switch (node) {
      case StackTree::kTruncated:
        return tree_.PseudoFrame("[truncated]");
      case StackTree::kNoStack:
        return tree_.PseudoFrame("[no stack]");
      case StackTree::kOther:
        return tree_.PseudoFrame("(other)");
      default:
        break;
    }
    const uint32_t address = process_->stacks.address_index(node);
    uint32_t& frame = frame_of_address_[address];
    if (frame == FlatMap::kNone) frame = ResolveAddress(process_->stacks.addresses()[address]);
    return frame;
  }

  uint32_t ResolveAddress(const profile::CodeAddress& a) {
    const profile::MethodMatch match = process_->code.Find(a.address, a.first_ns);
    if (!match.method) {
      out_.losses.Add(Loss::kUnresolvedFrame);
      return UnresolvedFrame(a.address);
    }
    if (match.ambiguous) out_.losses.Add(Loss::kAmbiguousFrame);
    const auto [it, is_new] = frame_of_method_.try_emplace(match.index, 0);
    if (is_new) it->second = MethodFrame(*match.method);
    return it->second;
  }

  uint32_t MethodFrame(const profile::MethodCode& m) {
    const std::string_view owner = Str(m.owner), name = Str(m.name), signature = Str(m.signature);
    uint32_t module = ModuleFor(m.module_id);
    if (module == FlatMap::kNone) module = ModuleAt(m.start);
    profile::Frame f;
    f.module = module == FlatMap::kNone ? StringId{} : out_.modules[module].name;
    f.method = out_.strings.Intern(clr::CsharpMethodName(owner, name, signature));
    f.raw = out_.strings.Intern(clr::RawMethodName(owner, name, signature));
    f.token = m.token;
    // Without its module a method is judged by its namespace, which mostly bears the same name.
    if (module != FlatMap::kNone ? out_.modules[module].framework
                                 : options_.framework.Matches(owner, {}))
      f.flags |= profile::kFramework;
    // Stubs and dynamic methods are the runtime's or a library's making, not a place in source.
    if (owner == "dynamicClass") f.flags |= profile::kFramework;
    if (clr::IsMachinery(owner, name)) f.flags |= profile::kMachinery | profile::kFramework;
    return tree_.FindFrame(f);
  }

  uint32_t UnresolvedFrame(uint64_t address) {
    profile::Frame f;
    f.flags = profile::kUnresolved | profile::kFramework;
    std::string text = fmt::format("0x{:x}", address);
    for (const profile::Mapping& m : process_->mappings) {
      if (address < m.start || address >= m.end) continue;
      f.module = out_.strings.Intern(ModuleName(Str(m.path)));
      text = fmt::format("{}+0x{:x}", ModuleName(Str(m.path)), address - m.start + m.offset);
      break;
    }
    f.method = f.raw = out_.strings.Intern(text);
    return tree_.FindFrame(f);
  }

  uint32_t ModuleFor(uint64_t id) {
    const profile::ModuleImage* image = process_->code.FindModule(id);
    return image == nullptr ? FlatMap::kNone : FindModule(image->path, image->mvid);
  }

  // The module whose image is mapped at `address`.
  uint32_t ModuleAt(uint64_t address) {
    for (const profile::Mapping& m : process_->mappings)
      if (address >= m.start && address < m.end) {
        for (const profile::ModuleImage& image : process_->code.modules())
          if (image.path == m.path) return FindModule(image.path, image.mvid);
        return FindModule(m.path, {});
      }
    return FlatMap::kNone;
  }

  uint32_t FindModule(StringId path_id, StringId mvid_id) {
    const std::string_view path = Str(path_id);
    const StringId name = out_.strings.Intern(ModuleName(path));
    const StringId mvid = Copy(mvid_id);
    const uint64_t key = PairKey(name.value, mvid.value);
    uint32_t module = module_by_name_.Find(key);
    if (module == FlatMap::kNone) {
      module = static_cast<uint32_t>(out_.modules.size());
      out_.modules.push_back(
          {name, Copy(path_id), mvid, options_.framework.Matches(ModuleName(path), path)});
      module_by_name_.Set(key, module);
    }
    return module;
  }

  uint32_t TypeFor(uint32_t process, uint32_t index) {
    uint32_t& type = type_of_[index];
    if (type != FlatMap::kNone) return type;
    const profile::RuntimeType& r = process_->types[index];
    profile::Type t;
    t.id = r.id;
    t.process = process;
    if (Str(r.raw_name).empty()) {
      if (index != 0) out_.losses.Add(Loss::kUnnamedType);
      t.name = t.raw =
          out_.strings.Intern(index == 0 ? "[unknown type]" : fmt::format("[type 0x{:x}]", r.id));
    } else {
      t.raw = Copy(r.raw_name);
      t.name = out_.strings.Intern(clr::CsharpTypeName(Str(r.raw_name)));
    }
    type = static_cast<uint32_t>(out_.types.size());
    out_.types.push_back(t);
    return type;
  }

  const profile::Recording& recording_;
  const Aggregate& aggregate_;
  const BindOptions& options_;
  profile::Recording* owned_;
  Profile out_;
  const profile::ProcessTables* process_ = nullptr;
  std::vector<Source> sources_;  // by process
  std::vector<uint32_t> frame_of_address_, canonical_, type_of_, path_;
  std::unordered_map<uint32_t, uint32_t> frame_of_method_;
  ProfileTree tree_{&out_};
  FlatMap module_by_name_;
};

}  // namespace

Profile Bind(const profile::Recording& recording, const Aggregate& aggregate,
             const BindOptions& options) {
  return Binder(recording, aggregate, options).Run();
}

Profile BindAndTake(profile::Recording& recording, const Aggregate& aggregate,
                    const BindOptions& options) {
  return Binder(recording, aggregate, options, &recording).Run();
}

}  // namespace clrscope::analysis
