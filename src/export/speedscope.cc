// SPDX-License-Identifier: Apache-2.0
// Writes speedscope JSON as it goes; only the frame table and the samples are held.
#include "export/speedscope.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "export/notes.h"
#include "export/stack_walk.h"
#include "export/weights.h"

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
      : profile_(profile),
        stacks_(CollectStacks(
            profile, {options.keep_machinery, /*by_kind=*/false, Identity::kModuleAndName})),
        sink_(sink) {}

  Status Run() {
    Add("{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
    Add("\"exporter\":{},\"name\":{},", Quoted("clrscope@" CLRSCOPE_VERSION), Quoted(Title()));
    Add("\"activeProfileIndex\":0,");
    RETURN_IF_ERROR(WriteFrames());
    Add("\"profiles\":[");
    bool first = true;
    for (size_t begin = 0; begin < stacks_.samples.size();) {
      size_t end = begin;
      const uint32_t process = stacks_.samples[begin].process;
      while (end < stacks_.samples.size() && stacks_.samples[end].process == process) ++end;
      const auto samples = std::span(stacks_.samples).subspan(begin, end - begin);
      RETURN_IF_ERROR(WriteProfile(samples, "bytes", "bytes", &profile::Estimate::bytes, first));
      first = false;
      if (profile_.objects_known) {
        RETURN_IF_ERROR(
            WriteProfile(samples, "objects", "none", &profile::Estimate::objects, first));
      }
      begin = end;
    }
    if (first) {  // speedscope refuses a file without a profile
      RETURN_IF_ERROR(WriteProfile({}, "bytes", "bytes", &profile::Estimate::bytes, first));
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
    std::string title = "allocations";
    for (uint32_t i = 0; i < profile_.processes.size(); ++i) {
      title += (i == 0 ? " of " : ", ") + ProcessName(profile_, i);
    }
    return title;
  }

  // Only what samples use: methods first, then types.
  Status WriteFrames() {
    frame_ids_.assign(profile_.frames.size(), kNoFrame);
    type_ids_.assign(profile_.types.size(), kNoFrame);
    uint32_t next = 0;
    Add("\"shared\":{{\"frames\":[");
    for (size_t i = 1; i < stacks_.nodes.size(); ++i) {
      const uint32_t frame = stacks_.nodes[i].frame;
      if (frame_ids_[frame] != kNoFrame) continue;
      Add("{}\n{{\"name\":{}", next == 0 ? "" : ",", Quoted(FrameName(profile_, frame)));
      const std::string_view module_name = profile_.str(profile_.frames[frame].module);
      if (!module_name.empty()) Add(",\"file\":{}", Quoted(module_name));
      Add("}}");
      frame_ids_[frame] = next++;
      RETURN_IF_ERROR(FlushIfFull());
    }
    for (const StackSample& s : stacks_.samples) {
      if (type_ids_[s.type] != kNoFrame) continue;
      Add("{}\n{{\"name\":{}}}", next == 0 ? "" : ",", Quoted(TypeName(profile_, s.type)));
      type_ids_[s.type] = next++;
      RETURN_IF_ERROR(FlushIfFull());
    }
    Add("]}},");
    return OkStatus();
  }

  Status WriteProfile(std::span<const StackSample> samples, std::string_view what,
                      std::string_view unit, double profile::Estimate::*weight, bool first) {
    std::vector<double> values;
    for (const StackSample& s : samples) values.push_back(s.value.*weight);
    const std::vector<int64_t> weights = RoundToTotal(values);
    std::string name = fmt::format("allocated {}", what);
    if (!samples.empty()) name += " – " + ProcessName(profile_, samples.front().process);
    Add("{}\n{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",", first ? "" : ",", Quoted(name),
        unit);
    Add("\"startValue\":0,\"endValue\":{},",
        std::accumulate(weights.begin(), weights.end(), int64_t{0}));
    Add("\"samples\":[");
    std::vector<uint32_t> path;
    for (size_t i = 0; i < samples.size(); ++i) {
      PathTo(stacks_, samples[i].node, path);
      Add("{}[", i == 0 ? "" : ",");
      for (const uint32_t frame : path) Add("{},", frame_ids_[frame]);
      Add("{}]", type_ids_[samples[i].type]);
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
  const Stacks stacks_;
  ByteSink& sink_;
  std::string buffer_;
  std::vector<uint32_t> frame_ids_, type_ids_;  // indexes into shared.frames
};

}  // namespace

Status WriteSpeedscope(const Profile& profile, const SpeedscopeOptions& options, ByteSink& sink) {
  return SpeedscopeWriter(profile, options, sink).Run();
}

}  // namespace clrscope::exporter
