// SPDX-License-Identifier: Apache-2.0
// Writes speedscope JSON as it goes; only the frame table and the samples are held.
#include "export/speedscope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_sink.h"
#include "base/program_version.h"
#include "base/round_to_total.h"
#include "export/notes.h"
#include "export/stack_walk.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;

constexpr uint32_t kNoFrame = ~uint32_t{0};

std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Profile& profile, const SpeedscopeOptions& options, ByteSink& sink)
      : profile_(profile), figures_(FiguresOf(profile, options.only_shown)), sink_(sink) {
    // What was recorded and never happened is no profile.
    if (figures_.size() > 1) {
      std::erase_if(figures_, [](const profile::Figure* f) { return f->cells.empty(); });
      if (figures_.empty()) figures_.push_back(&profile.shown());
    }
    for (const profile::Figure* f : figures_)
      stacks_.push_back(CollectStacks(profile, {.keep_machinery = options.keep_machinery,
                                                .identity = Identity::kModuleAndName,
                                                .figure = f,
                                                .lines = true}));
  }

  Status Run() {
    Add("{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
    Add("\"exporter\":{},\"name\":{},", Quoted(fmt::format("clrscope@{}", Version())),
        Quoted(Title()));
    Add("\"activeProfileIndex\":0,");
    RETURN_IF_ERROR(WriteFrames());
    Add("\"profiles\":[");
    for (size_t i = 0; i < figures_.size(); ++i) RETURN_IF_ERROR(WriteFigure(i));
    if (first_) {  // speedscope refuses a file without a profile
      RETURN_IF_ERROR(WriteProfile(0, {}, QuantitiesOf(*figures_[0]).front()));
    }
    Add("]}}\n");
    return Flush();
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }
  Status FlushIfFull() { return buffer_.size() < kFlushBytes ? OkStatus() : Flush(); }
  Status Flush() {
    RETURN_IF_ERROR(sink_.Write(buffer_));
    buffer_.clear();
    return OkStatus();
  }

  std::string Title() const {
    std::string title;
    for (const profile::Figure* f : figures_)
      title += (title.empty() ? "" : ", ") + std::string(f->spec().title);
    for (uint32_t i = 0; i < profile_.processes.size(); ++i) {
      title += (i == 0 ? " of " : ", ") + ProcessName(profile_, i);
    }
    return title;
  }

  // One of a figure's two numbers, with what speedscope calls it.
  struct Weight {
    double profile::Estimate::*value;
    std::string name;
    std::string_view unit;
  };
  static std::vector<Weight> QuantitiesOf(const profile::Figure& f) {
    const profile::MeasureSpec& spec = f.spec();
    const auto weight = [&](const profile::Quantity& q, double profile::Estimate::*value) {
      std::string heading(q.heading);
      for (char& c : heading) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      return Weight{value, fmt::format("{}{} {}", spec.shows, f.events() ? ":" : "", heading),
                    q.unit == profile::Unit::kBytes         ? "bytes"
                    : q.unit == profile::Unit::kNanoseconds ? "nanoseconds"
                                                            : "none"};
    };
    std::vector<Weight> out;
    out.push_back(weight(spec.amount, &profile::Estimate::amount));
    if (f.counts_known) out.push_back(weight(spec.count, &profile::Estimate::count));
    if (!spec.amount_first) std::reverse(out.begin(), out.end());
    const profile::Estimate total = f.Total();
    if (f.events() && !f.cells.empty())
      std::erase_if(out, [&](const Weight& w) { return total.*w.value == 0; });
    return out;
  }

  Status WriteFigure(size_t figure) {
    const std::vector<StackSample>& all = stacks_[figure].samples;
    const std::vector<Weight> weights = QuantitiesOf(*figures_[figure]);
    for (size_t begin = 0; begin < all.size();) {
      size_t end = begin;
      while (end < all.size() && all[end].process == all[begin].process) ++end;
      for (const Weight& weight : weights)
        RETURN_IF_ERROR(WriteProfile(figure, std::span(all).subspan(begin, end - begin), weight));
      begin = end;
    }
    return OkStatus();
  }

  // Only what samples use: methods first, then types.
  Status WriteFrames() {
    type_ids_.assign(profile_.types.size(), kNoFrame);
    uint32_t next = 0;
    Add("\"shared\":{{\"frames\":[");
    bool plumbing = false;
    for (size_t k = 0; k < stacks_.size(); ++k) {
      const Stacks& stacks = stacks_[k];
      std::vector<char> used(stacks.nodes.size(), 0);
      for (const StackSample& s : stacks.samples) {
        plumbing = plumbing || (s.node == 0 && !figures_[k]->spec().typed);
        for (uint32_t n = s.node; n != 0 && !used[n]; n = stacks.nodes[n].parent) used[n] = 1;
      }
      for (size_t i = 1; i < stacks.nodes.size(); ++i) {
        const profile::Node& node = stacks.nodes[i];
        if (!used[i] || !frame_ids_.try_emplace({node.frame, node.line}, next).second) continue;
        Add("{}\n{{\"name\":{}", next == 0 ? "" : ",", Quoted(FrameName(profile_, node.frame)));
        const profile::SourceLine& line = profile_.lines[node.line];
        const std::string_view file =
            profile_.str(line.line != 0 ? profile_.source_files[line.file].path
                                        : profile_.frames[node.frame].module);
        if (!file.empty()) Add(",\"file\":{}", Quoted(file));
        if (line.line != 0) Add(",\"line\":{}", line.line);
        Add("}}");
        ++next;
        RETURN_IF_ERROR(FlushIfFull());
      }
    }
    if (plumbing) {
      Add("{}\n{{\"name\":{}}}", next == 0 ? "" : ",", Quoted(kPlumbing));
      plumbing_ = next++;
    }
    for (size_t k = 0; k < stacks_.size(); ++k) {
      if (!figures_[k]->spec().typed) continue;
      for (const StackSample& s : stacks_[k].samples) {
        if (type_ids_[s.type] != kNoFrame) continue;
        Add("{}\n{{\"name\":{}}}", next == 0 ? "" : ",", Quoted(TypeName(profile_, s.type)));
        type_ids_[s.type] = next++;
        RETURN_IF_ERROR(FlushIfFull());
      }
    }
    Add("]}},");
    return OkStatus();
  }

  Status WriteProfile(size_t figure, std::span<const StackSample> samples, const Weight& weight) {
    const bool typed = figures_[figure]->spec().typed;
    std::vector<double> values;
    for (const StackSample& s : samples) values.push_back(s.value.*weight.value);
    const std::vector<int64_t> weights = RoundToTotal(values);
    std::string name = weight.name;
    if (!samples.empty()) name += " – " + ProcessName(profile_, samples.front().process);
    Add("{}\n{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",", first_ ? "" : ",", Quoted(name),
        weight.unit);
    first_ = false;
    Add("\"startValue\":0,\"endValue\":{},",
        std::accumulate(weights.begin(), weights.end(), int64_t{0}));
    Add("\"samples\":[");
    std::vector<const profile::Node*> nodes;
    std::vector<uint32_t> path;
    for (size_t i = 0; i < samples.size(); ++i) {
      PathTo(stacks_[figure], samples[i].node, nodes);
      path.clear();
      for (const profile::Node* const node : nodes)
        path.push_back(frame_ids_.at({node->frame, node->line}));
      if (typed) path.push_back(type_ids_[samples[i].type]);
      if (path.empty()) path.push_back(plumbing_);
      Add("{}[{}]", i == 0 ? "" : ",", fmt::join(path, ","));
      RETURN_IF_ERROR(FlushIfFull());
    }
    Add("],\"weights\":[");
    for (size_t i = 0; i < weights.size(); ++i) {
      Add("{}{}", i == 0 ? "" : ",", weights[i]);
      RETURN_IF_ERROR(FlushIfFull());
    }
    Add("]}}");
    return OkStatus();
  }

  const Profile& profile_;
  std::vector<const profile::Figure*> figures_;  // never empty
  std::vector<Stacks> stacks_;                   // of each of them
  ByteSink& sink_;
  std::string buffer_;
  // Indexes into shared.frames; of methods by frame and line.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> frame_ids_;
  std::vector<uint32_t> type_ids_;
  uint32_t plumbing_ = kNoFrame;
  bool first_ = true;  // no profile is written yet
};

}  // namespace

Status WriteSpeedscope(const Profile& profile, const SpeedscopeOptions& options, ByteSink& sink) {
  return SpeedscopeWriter(profile, options, sink).Run();
}

}  // namespace clrscope::exporter
