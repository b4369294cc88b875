// SPDX-License-Identifier: Apache-2.0
// Brings a profile to pprof's form; what that form is, pprof/memory_writer.h says.
#include "export/pprof.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "base/round_to_total.h"
#include "export/notes.h"
#include "export/stack_walk.h"
#include "pprof/memory_writer.h"
#include "profile/tables/thread_state.h"

namespace clrscope::exporter {
namespace {

using profile::LabelKey;
using profile::Profile;

class PprofExport {
 public:
  PprofExport(const Profile& profile, const PprofOptions& options, ByteSink& sink)
      : profile_(profile),
        options_(options),
        figures_(FiguresOf(profile, options.only_shown)),
        stacks_(Collect()),
        columns_(Columns()),
        out_(columns_, sink),
        frame_locations_(profile.frames.size(), 0),
        type_locations_(profile.types.size(), 0) {}

  Status Run() {
    const profile::Figure& first = *figures_.front();
    out_.Describe(profile_.start_unix_ns, profile_.duration_ns,
                  pprof::PeriodOf(first.source, first.Total()));
    AddMainMapping();
    if (columns_.allocated) RETURN_IF_ERROR(WriteSamples(stacks_.front(), false));
    if (columns_.live) RETURN_IF_ERROR(WriteSamples(stacks_.front(), true));
    const size_t events = figures_.size() - columns_.events.size();
    for (size_t i = events; i < figures_.size(); ++i)
      RETURN_IF_ERROR(WriteEvents(stacks_[i], *figures_[i], i - events));
    for (const std::string& note : Notes(profile_, options_.only_shown)) out_.Comment(note);
    return out_.Finish();
  }

 private:
  // By figure. What lives is with the first, which is of memory where any is.
  std::vector<Stacks> Collect() const {
    std::vector<Stacks> out;
    for (const profile::Figure* f : figures_)
      out.push_back(CollectStacks(profile_, {.keep_machinery = options_.keep_machinery,
                                             .by_kind = true,
                                             .identity = Identity::kExact,
                                             .lives = out.empty(),
                                             .figure = f,
                                             .by_labels = f->by_thread(),
                                             .by_request = f->by_request(),
                                             .lines = true}));
    return out;
  }

  pprof::MemoryColumns Columns() const {
    const profile::Figure& first = *figures_.front();
    pprof::MemoryColumns columns{.allocated = first.measure == profile::Measure::kAllocations,
                                 .objects = first.counts_known,
                                 .live = ShowsLive()};
    for (const profile::Figure* f : figures_)
      if (f->events()) columns.events.push_back(f->measure);
    return columns;
  }

  // Objects that nobody followed are no zero.
  bool ShowsLive() const {
    if (profile_.measure() == profile::Measure::kLive) return true;
    if (options_.only_shown) return false;
    return !stacks_.front().lives.empty() ||
           std::any_of(profile_.processes.begin(), profile_.processes.end(),
                       [](const profile::Process& p) { return p.followed; });
  }

  // The heaviest process's.
  void AddMainMapping() {
    std::vector<double> bytes(profile_.processes.size(), 0);
    const bool by_amount = figures_.front()->spec().amount_first;
    for (const StackSample& s : stacks_.front().samples)
      bytes[s.process] += by_amount ? s.value.amount : s.value.count;
    const auto heaviest = std::max_element(bytes.begin(), bytes.end());
    if (heaviest == bytes.end()) return;
    const auto index = static_cast<size_t>(heaviest - bytes.begin());
    out_.MainModule(MainModule(profile_.processes[index]), image_of_);
  }

  // The process's main module by the name that frames use, though it may be told as a file name.
  // Where it is not told, the module that the program is called after.
  std::string_view MainModule(const profile::Process& process) const {
    const std::string_view told = profile_.str(process.main_module);
    if (told.empty()) {
      const auto own = std::find_if(profile_.frames.begin(), profile_.frames.end(),
                                    [&](const profile::Frame& f) {
                                      return profile_.str(f.module) == profile_.str(process.name);
                                    });
      return own == profile_.frames.end() ? std::string_view() : profile_.str(own->module);
    }
    std::string_view stem = told.substr(told.rfind('/') + 1);  // npos + 1 = 0
    if (stem.ends_with(".dll") || stem.ends_with(".exe")) stem.remove_suffix(4);
    for (const profile::Module& m : profile_.modules) {
      if (profile_.str(m.name) == stem) return stem;
    }
    return told;
  }

  pprof::Image ImageOf(std::string_view module_name) const {
    for (const profile::Module& m : profile_.modules) {
      if (profile_.str(m.name) != module_name) continue;
      return {m.path.value != 0 ? profile_.str(m.path) : module_name, profile_.str(m.mvid)};
    }
    return {module_name, ""};
  }

  uint64_t LocationOfFrame(const profile::Node& node) {
    uint64_t& id =
        node.line == 0 ? frame_locations_[node.frame] : line_locations_[{node.frame, node.line}];
    if (id != 0) return id;
    const profile::Frame& f = profile_.frames[node.frame];
    const profile::SourceLine& line = profile_.lines[node.line];
    return id = out_.MethodLocation(
               {profile_.str(f.module), profile_.str(f.method), profile_.str(f.raw), f.token,
                f.flags, profile_.str(profile_.source_files[line.file].path), line.line},
               image_of_);
  }

  uint64_t LocationOfType(uint32_t index) {
    uint64_t& id = type_locations_[index];
    if (id != 0) return id;
    const profile::Type& t = profile_.types[index];
    return id = out_.TypeLocation(profile_.str(t.name), profile_.str(t.raw));
  }

  // Leaf first. The type is the leaf of a measure that has types.
  void StackOf(const Stacks& stacks, const StackSample& s, bool typed, std::vector<uint64_t>& ids) {
    PathTo(stacks, s.node, path_);
    ids.clear();
    if (typed) ids.push_back(LocationOfType(s.type));
    for (auto node = path_.rbegin(); node != path_.rend(); ++node)
      ids.push_back(LocationOfFrame(**node));
    if (!ids.empty()) return;
    if (plumbing_ == 0)
      plumbing_ = out_.MethodLocation({"", kPlumbing, "", 0, profile::kPseudo}, image_of_);
    ids.push_back(plumbing_);
  }

  // What belongs to no request has no such label.
  std::string_view EndpointOf(const StackSample& s) const {
    return s.labels[LabelKey::kRequest] == 0 ? std::string_view() : profile_.RequestName(s.labels);
  }

  Status WriteEvents(const Stacks& stacks, const profile::Figure& figure, size_t which) {
    std::vector<double> amounts, counts;
    for (const StackSample& s : stacks.samples) {
      amounts.push_back(s.value.amount);
      counts.push_back(s.value.count);
    }
    const std::vector<int64_t> whole_amounts = RoundToTotal(amounts);
    const std::vector<int64_t> whole_counts = RoundToTotal(counts);
    std::vector<uint64_t> ids;
    std::string process;
    for (size_t i = 0; i < stacks.samples.size(); ++i) {
      const StackSample& s = stacks.samples[i];
      StackOf(stacks, s, figure.spec().typed, ids);
      if (profile_.processes.size() > 1) process = ProcessName(profile_, s.process);
      RETURN_IF_ERROR(out_.Event(
          {ids, whole_counts[i], whole_amounts[i], s.labels[LabelKey::kThread], process,
           profile_.ThreadName(s.process, s.labels[LabelKey::kThread]), s.labels[LabelKey::kOwner],
           s.labels[LabelKey::kUnfinished] != 0, profile_.HoldingName(s.labels), EndpointOf(s),
           profile::ThreadStateName(s.labels[LabelKey::kState])},
          which));
    }
    return OkStatus();
  }

  Status WriteSamples(const Stacks& stacks, bool live) {
    const std::vector<StackSample>& samples = live ? stacks.lives : stacks.samples;
    std::vector<double> bytes, objects;
    for (const StackSample& s : samples) {
      bytes.push_back(s.value.amount);
      objects.push_back(s.value.count);
    }
    const std::vector<int64_t> whole_bytes = RoundToTotal(bytes);
    const std::vector<int64_t> whole_objects = RoundToTotal(objects);
    const bool several = profile_.processes.size() > 1;
    std::vector<uint64_t> ids;
    std::string process;
    for (size_t i = 0; i < samples.size(); ++i) {
      const StackSample& s = samples[i];
      StackOf(stacks, s, true, ids);
      if (several) process = ProcessName(profile_, s.process);
      const pprof::MemorySample sample{ids,
                                       whole_objects[i],
                                       whole_bytes[i],
                                       s.kind,
                                       process,
                                       s.labels[LabelKey::kThread],
                                       profile_.ThreadName(s.process, s.labels[LabelKey::kThread]),
                                       EndpointOf(s)};
      RETURN_IF_ERROR(live ? out_.Live(sample, s.generation, s.age_bucket)
                           : out_.Allocated(sample));
    }
    return OkStatus();
  }

  const Profile& profile_;
  const PprofOptions options_;
  const std::vector<const profile::Figure*> figures_;  // never empty
  const std::vector<Stacks> stacks_;                   // of each of them
  const pprof::MemoryColumns columns_;
  pprof::MemoryWriter out_;
  const struct {
    const PprofExport* self;
    pprof::Image operator()(std::string_view name) const { return self->ImageOf(name); }
  } image_of_{this};
  std::vector<uint64_t> frame_locations_, type_locations_;  // location ids; 0 = none yet
  uint64_t plumbing_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> line_locations_;  // by frame and line
  std::vector<const profile::Node*> path_;
};

}  // namespace

Status WritePprof(const Profile& profile, const PprofOptions& options, ByteSink& sink) {
  return PprofExport(profile, options, sink).Run();
}

}  // namespace clrscope::exporter
