// SPDX-License-Identifier: Apache-2.0
#include "profile/views/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/estimate/duration_scale.h"
#include "profile/tables/thread_state.h"
#include "profile/views/durations.h"

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

// What came when goes with its cell.
template <class Keep>
void KeepCells(Figure& f, Keep keep) {
  if (f.timed.empty()) {
    std::erase_if(f.cells, [&](const Cell& c) { return !keep(c); });
    return;
  }
  std::vector<uint32_t> index(f.cells.size(), kGone);
  std::vector<Cell> kept;
  for (size_t i = 0; i < f.cells.size(); ++i) {
    if (!keep(f.cells[i])) continue;
    index[i] = static_cast<uint32_t>(kept.size());
    kept.push_back(f.cells[i]);
  }
  f.cells.swap(kept);
  std::erase_if(f.timed, [&](const TimedCell& t) { return index[t.cell] == kGone; });
  for (TimedCell& t : f.timed) t.cell = index[t.cell];
}

void KeepTypes(const RE2& re, Profile& p) {
  std::vector<bool> keep(p.types.size());
  for (size_t i = 0; i < p.types.size(); ++i)
    keep[i] = Found(re, p.str(p.types[i].name)) || Found(re, p.str(p.types[i].raw));
  for (Figure& f : p.figures)
    if (f.spec().typed) {
      KeepCells(f, [&](const Cell& c) { return keep[c.type]; });
      std::erase_if(f.lives, [&](const LiveCell& c) { return !keep[c.type]; });
    }
}

void KeepStacks(const RE2& re, Profile& p) {
  std::vector<bool> frame(p.frames.size()), node(p.nodes.size());
  for (size_t i = 0; i < p.frames.size(); ++i)
    frame[i] = Found(re, p.str(p.frames[i].method)) || Found(re, p.str(p.frames[i].raw));
  for (size_t i = 1; i < p.nodes.size(); ++i)  // a parent comes before its children
    node[i] = node[p.nodes[i].parent] || frame[p.nodes[i].frame];
  for (Figure& f : p.figures) {
    KeepCells(f, [&](const Cell& c) { return node[c.node]; });
    std::erase_if(f.lives, [&](const LiveCell& c) { return !node[c.node]; });
  }
}

void KeepThreads(const RE2& re, Profile& p) {
  const auto keep = [&](uint32_t process, uint64_t thread) {
    const std::string number = std::to_string(thread);
    return RE2::FullMatch(number, re) || Found(re, p.ThreadName(process, thread));
  };
  for (Figure& f : p.figures) {
    if (f.by_thread())
      KeepCells(f, [&](const Cell& c) {
        const uint64_t thread = p.labels[c.labels][LabelKey::kThread];
        return thread != 0 && keep(c.process, thread);
      });
    else
      std::erase_if(f.threads, [&](const ThreadRow& r) { return !keep(r.process, r.thread); });
  }
}

void KeepRoutes(const RE2& re, Profile& p) {
  std::vector<bool> keep(p.labels.size());
  for (size_t i = 0; i < p.labels.size(); ++i) keep[i] = Found(re, p.RequestName(p.labels[i]));
  for (Figure& f : p.figures) {
    if (!f.by_request()) continue;
    KeepCells(f, [&](const Cell& c) { return keep[c.labels]; });
    std::erase_if(f.lives, [&](const LiveCell& c) { return !keep[c.labels]; });
  }
  std::erase_if(p.requests.routes, [&](const RouteFacts& r) { return !Found(re, p.str(r.route)); });
  std::erase_if(p.requests.slowest,
                [&](const SlowRequestRow& r) { return !Found(re, p.str(r.route)); });
}

// The shortest step of DurationScale that is slow, of each route.
uint64_t SlowFrom(const Filter& filter, const Durations& durations) {
  const double ns = filter.slower_than_quantile > 0 ? durations.At(filter.slower_than_quantile)
                                                    : static_cast<double>(filter.slower_than_ns);
  return DurationScale::Rounded(DurationScale::StepOf(static_cast<int64_t>(ns)));
}

void KeepSlow(const Filter& filter, Profile& p) {
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> from;  // by process and route
  for (const auto& [route, durations] : DurationsByRoute(p))
    from[route] = SlowFrom(filter, durations);
  const auto slow = [&](uint32_t process, uint64_t route, uint64_t step) {
    const auto known = from.find({process, route});
    if (route == 0 || step == DurationScale::kUnknown) return false;
    return step >= (known != from.end() ? known->second : SlowFrom(filter, {}));
  };
  for (Figure& f : p.figures)
    if (f.by_request())
      KeepCells(f, [&](const Cell& c) {
        const LabelSet& set = p.labels[c.labels];
        return slow(c.process, set[LabelKey::kRequest], set[LabelKey::kDuration]);
      });
  std::erase_if(p.requests.slowest, [&](const SlowRequestRow& r) {
    return !slow(r.process, r.route.value, DurationScale::StepOf(r.duration_ns));
  });
  // Which of them were slow is not known of what the runtime counts.
  p.requests.narrowed = true;
}

// Other measures know no states.
Status KeepStates(const Filter& filter, Profile& p) {
  uint32_t wanted = 0;
  for (size_t at = 0; at < filter.state.size();) {
    const size_t end = std::min(filter.state.find(',', at), filter.state.size());
    const std::string_view name = std::string_view(filter.state).substr(at, end - at);
    const std::optional<ThreadState> state = ThreadStateOf(name);
    if (!state)
      return Error{ErrorCode::kUsage,
                   fmt::format("--state {}: use {}", name, fmt::join(kThreadStateNames, ", "))};
    wanted |= 1u << static_cast<uint32_t>(*state);
    at = end + 1;
  }
  if (filter.all_states) return OkStatus();
  const auto is = [&p](const Cell& c, uint32_t states) {
    return (states >> p.labels[c.labels][LabelKey::kState] & 1) != 0;
  };
  constexpr uint32_t kIdle = 1u << static_cast<uint32_t>(ThreadState::kIdle);
  for (Figure& f : p.figures) {
    if (f.measure != Measure::kWall) continue;
    if (wanted == 0)
      for (const Cell& c : f.cells)
        if (is(c, kIdle)) f.idle_hidden += c.value;
    KeepCells(f, [&](const Cell& c) { return is(c, wanted != 0 ? wanted : ~kIdle); });
    SumUpCells(f, p.labels);
  }
  return OkStatus();
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
  for (Figure& f : p.figures) {
    KeepCells(f, [&](const Cell& c) { return index[c.process] != kGone; });
    narrow(f.cells);
    narrow(f.threads);
    narrow(f.times);
    narrow(f.lives);
    narrow(f.live_ages);
    narrow(f.gc_cpu);
  }
  decltype(p.thread_names) names;
  for (const auto& [key, name] : p.thread_names)
    if (index[key.first] != kGone) names[{index[key.first], key.second}] = name;
  p.thread_names.swap(names);
  narrow(p.gcs);
  narrow(p.requests.routes);
  narrow(p.requests.slowest);
  for (Type& type : p.types) type.process = index[type.process];  // cells refer to kept ones only
  p.processes.swap(kept);
  return OkStatus();
}

}  // namespace

Result<std::function<bool(std::string_view)>> RouteMatch(const Filter& filter) {
  if (filter.request.empty()) return std::function<bool(std::string_view)>();
  ASSIGN_OR_RETURN(std::shared_ptr<RE2> re, Compile(filter.request, "--request"));
  return std::function<bool(std::string_view)>(
      [re](std::string_view name) { return Found(*re, name); });
}

Status Apply(const Filter& filter, Profile& profile) {
  if (!filter.type.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.type, "--type"));
    KeepTypes(*re, profile);
  }
  if (!filter.method.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.method, "--method"));
    KeepStacks(*re, profile);
  }
  if (!filter.thread.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.thread, "--thread"));
    KeepThreads(*re, profile);
  }
  if (filter.by_duration()) KeepSlow(filter, profile);
  if (!filter.request.empty()) {
    ASSIGN_OR_RETURN(const auto re, Compile(filter.request, "--request"));
    KeepRoutes(*re, profile);
  }
  RETURN_IF_ERROR(KeepStates(filter, profile));
  for (Figure& f : profile.figures) {
    if (!filter.any_but_process()) break;
    if ((filter.of_cells() || filter.of_requests()) && !f.by_thread()) f.threads.clear();
    if (!f.by_time()) f.times.clear();
    if (filter.of_cells() || filter.of_requests()) f.live_ages.clear();
    SumUpCells(f, profile.labels);
  }
  return filter.process.empty() ? OkStatus() : KeepProcess(filter.process, profile);
}

}  // namespace clrscope::profile
