// SPDX-License-Identifier: Apache-2.0
#include "profile/views/filter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace clrscope::profile {
namespace {

constexpr uint32_t kGone = ~0u;

Result<std::unique_ptr<RE2>> Compile(const std::string& pattern, std::string_view option) {
  RE2::Options options;
  options.set_log_errors(false);
  auto re = std::make_unique<RE2>(pattern, options);
  if (re->ok()) return re;
  const size_t at = re->error_arg().empty() ? 0 : pattern.find(re->error_arg());
  return Error{ErrorCode::kUsage,
               fmt::format("{} '{}' is no regular expression: {} at character {}", option, pattern,
                           re->error(), (at == std::string::npos ? 0 : at) + 1)};
}

bool Found(const RE2& re, std::string_view text) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re);
}

void KeepTypes(const RE2& re, Profile& p) {
  std::vector<bool> keep(p.types.size());
  for (size_t i = 0; i < p.types.size(); ++i)
    keep[i] = Found(re, p.str(p.types[i].name)) || Found(re, p.str(p.types[i].raw));
  std::erase_if(p.cells, [&](const Cell& c) { return !keep[c.type]; });
  std::erase_if(p.lives, [&](const LiveCell& c) { return !keep[c.type]; });
}

void KeepStacks(const RE2& re, Profile& p) {
  std::vector<bool> frame(p.frames.size()), node(p.nodes.size());
  for (size_t i = 0; i < p.frames.size(); ++i)
    frame[i] = Found(re, p.str(p.frames[i].method)) || Found(re, p.str(p.frames[i].raw));
  for (size_t i = 1; i < p.nodes.size(); ++i)  // a parent comes before its children
    node[i] = node[p.nodes[i].parent] || frame[p.nodes[i].frame];
  std::erase_if(p.cells, [&](const Cell& c) { return !node[c.node]; });
  std::erase_if(p.lives, [&](const LiveCell& c) { return !node[c.node]; });
}

Status KeepProcess(const std::string& wanted, Profile& p) {
  std::vector<uint32_t> index(p.processes.size(), kGone);
  std::vector<Process> kept;
  std::string known;
  for (size_t i = 0; i < p.processes.size(); ++i) {
    const Process& process = p.processes[i];
    const std::string_view name = p.str(process.name);
    known += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name.empty() ? "?" : name, process.pid);
    if (name != wanted && std::to_string(process.pid) != wanted) continue;
    index[i] = static_cast<uint32_t>(kept.size());
    kept.push_back(process);
  }
  if (kept.empty())
    return Error{ErrorCode::kEmpty, fmt::format("no process '{}' was recorded; there {} {}", wanted,
                                                p.processes.size() == 1 ? "is" : "are", known)};
  const auto narrow = [&](auto& rows) {
    using std::erase_if;
    erase_if(rows, [&](const auto& row) { return index[row.process] == kGone; });
    for (auto& row : rows) row.process = index[row.process];
  };
  narrow(p.cells);
  narrow(p.threads);
  narrow(p.times);
  narrow(p.gcs);
  narrow(p.lives);
  narrow(p.live_ages);
  narrow(p.gc_cpu);
  for (Type& type : p.types) type.process = index[type.process];  // cells refer to kept ones only
  p.processes.swap(kept);
  return OkStatus();
}

}  // namespace

Status Apply(const Filter& filter, Profile& profile) {
  if (!filter.type.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.type, "--type"));
    KeepTypes(*re, profile);
  }
  if (!filter.method.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.method, "--method"));
    KeepStacks(*re, profile);
  }
  if (filter.hides_threads_and_times()) {
    profile.threads.clear();
    profile.times.clear();
    profile.live_ages.clear();
  }
  return filter.process.empty() ? OkStatus() : KeepProcess(filter.process, profile);
}

}  // namespace clrscope::profile
