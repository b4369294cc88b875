// SPDX-License-Identifier: Apache-2.0
#include "places/make_line_job.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "clr/code_events.h"
#include "profile/stacks/code_at.h"
#include "profile/stacks/made_up_frames.h"

namespace clrscope::places {
namespace {

using profile::StackTree;

constexpr size_t kMostAnchors = 16;

bool IsOfCpu(profile::Source source) {
  return source == profile::Source::kCpuClock || source == profile::Source::kThreadCpu ||
         source == profile::Source::kUniversalCpu;
}

// Compiled without optimisation: MinOpts, Tier0, and Tier0 with counters.
// Source: dotnet/runtime src/coreclr/vm/eventtrace.cpp (MethodFlagsJitOptimizationTier)
bool IsPlain(uint32_t flags) {
  constexpr uint32_t kMinOptJitted = 1, kQuickJitted = 3, kQuickJittedInstrumented = 6;
  const uint32_t tier = clr::method_flags::Tier(flags);
  return tier == kMinOptJitted || tier == kQuickJitted || tier == kQuickJittedInstrumented;
}

class Maker {
 public:
  Maker(const profile::ProcessTables& tables, const StringPool& strings, LineJob& job,
        const IsFramework& framework)
      : t_(tables),
        strings_(strings),
        job_(job),
        framework_(framework),
        instructions_(InstructionAddresses(tables)) {}

  void Add(uint32_t index) {
    const profile::Place* const known = t_.places.At(index);
    if (known != nullptr && known->line != 0 && known->sure != profile::Place::Sure::kApproximate)
      return;
    const profile::CodeAddress& a = t_.stacks.addresses()[index];
    const profile::MethodMatch match = t_.code.Find(a.address, a.first_ns);
    if (!match.method) return;
    const profile::MethodCode& m = *match.method;
    // Symbols of native code; code that has neither IL nor a file.
    if (m.method_id == 0 || strings_.Get(m.owner) == "dynamicClass") return;
    LineRequest r;
    r.address_index = index;
    r.address = a.address;
    r.kind =
        instructions_[index] ? symbols::AddressKind::kInstruction : symbols::AddressKind::kReturn;
    r.start = m.start;
    r.token = m.token;
    if (r.token == 0) {
      r.owner = strings_.Get(m.owner);
      r.name = strings_.Get(m.name);
    }
    if (known != nullptr) {
      r.il_offset = known->il_offset;
      r.il_next = known->il_next;
    }
    if (t_.il_maps != nullptr) r.map = t_.il_maps->Find(m.start, m.method_id);
    if (IsPlain(m.flags)) r.map_of = symbols::MapOf::kPlainCode;
    r.precompiled = !r.map && (m.flags & clr::method_flags::kJitted) == 0;
    const profile::Image* const image = t_.images.Find(a.address, a.first_ns);
    if (image != nullptr && !image->generated())
      r.file_offset = a.address - image->start + image->offset;
    if (!r.map && !r.precompiled && r.il_offset < 0 && !job_.last) return;
    const profile::ModuleImage* const module = t_.code.FindModule(m.module_id);
    StringId path = module != nullptr ? module->path : StringId{};
    // Only the entry point of a precompiled method is known: its file is.
    if (module == nullptr && r.file_offset) path = image->path;
    if (path.value == 0) return;
    r.module = ModuleOf(path, module);
    job_.requests.push_back(std::move(r));
  }

  void AddAnchors() {
    if (std::none_of(job_.requests.begin(), job_.requests.end(),
                     [](const LineRequest& r) { return r.precompiled; }))
      return;
    std::unordered_map<uint64_t, uint32_t> by_id;
    for (const profile::ModuleImage& m : t_.code.modules())
      if (const auto at = modules_.find(m.path); at != modules_.end()) by_id[m.id] = at->second;
    t_.code.ForEach([&](uint32_t, const profile::MethodCode& m) {
      constexpr uint32_t kNone =
          clr::method_flags::kJitted | clr::method_flags::kGeneric | clr::method_flags::kDynamic;
      if (m.size == 0 || m.token == 0 || (m.flags & kNone) != 0) return;
      const auto at = by_id.find(m.module_id);
      if (at == by_id.end()) return;
      std::vector<LineModule::Anchor>& anchors = job_.modules[at->second].anchors;
      if (anchors.size() < kMostAnchors) anchors.push_back({m.start, m.token});
    });
  }

 private:
  uint32_t ModuleOf(StringId path, const profile::ModuleImage* image) {
    const auto [at, is_new] =
        modules_.try_emplace(path, static_cast<uint32_t>(job_.modules.size()));
    if (is_new) {
      LineModule module;
      module.path = strings_.Get(path);
      module.framework = framework_(module.path);
      job_.modules.push_back(std::move(module));
    }
    LineModule& module = job_.modules[at->second];
    if (module.pdb.empty() && image != nullptr) module.pdb = strings_.Get(image->mvid);
    return at->second;
  }

  const profile::ProcessTables& t_;
  const StringPool& strings_;
  LineJob& job_;
  const IsFramework& framework_;
  std::vector<bool> instructions_;
  std::map<StringId, uint32_t> modules_;  // by path
};

}  // namespace

std::vector<bool> InstructionAddresses(const profile::ProcessTables& t) {
  const size_t count = t.stacks.addresses().size();
  std::vector<bool> ran(count), returned(count);
  const auto mark = [&](std::vector<bool>& marks, uint32_t node) {
    if (node >= StackTree::kFirstReal && node < t.stacks.size())
      if (const uint32_t a = t.stacks.address_index(node); a < count) marks[a] = true;
  };
  for (uint32_t node = StackTree::kFirstReal; node < t.stacks.size(); ++node)
    mark(returned, t.stacks.parent(node));
  for (const profile::SeriesKey& key : t.series.keys())
    mark(IsOfCpu(key.source()) ? ran : returned, key.node);
  for (size_t i = 0; i < count; ++i) ran[i] = ran[i] && !returned[i];
  return ran;
}

LineJob MakeLineJob(const profile::ProcessTables& tables, const StringPool& strings,
                    const std::vector<uint32_t>& addresses, bool last,
                    const IsFramework& framework) {
  LineJob job;
  job.last = last;
  Maker maker(tables, strings, job, framework);
  for (const uint32_t index : addresses) maker.Add(index);
  maker.AddAnchors();
  return job;
}

void TakeLineAnswers(const LineAnswers& answers, StringPool& strings,
                     profile::ProcessTables& tables) {
  std::vector<uint32_t> files(answers.files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const LineFile& f = answers.files[i];
    files[i] = tables.places.FileOf({strings.Intern(f.path), strings.Intern(f.hash),
                                     strings.Intern(f.url), strings.Intern(f.text)});
  }
  for (const LineAnswer& a : answers.answers) {
    profile::Place place;
    if (const profile::Place* const known = tables.places.At(a.address_index)) place = *known;
    place.il_offset = a.il_offset;
    place.file = a.file == 0 ? 0 : files[a.file - 1];
    place.line = a.line;
    place.sure = a.sure;
    place.il_next = a.il_next;
    tables.places.Set(a.address_index, place);
  }
}

}  // namespace clrscope::places
