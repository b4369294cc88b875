// SPDX-License-Identifier: Apache-2.0
#include "report/rows/views.h"

#include <fmt/format.h>

#include "profile/views/root_by_request.h"
#include "report/rows/losses.h"

namespace clrscope::report {
namespace {

using profile::Measure;
using profile::Profile;

// The option that chooses it.
std::string OptionOf(View view) {
  return view == View::kTree       ? "--tree"
         : view == View::kBottomUp ? "--bottom-up"
                                   : fmt::format("--by {}", ViewName(view));
}

// Why a filter or a table of threads and types both finds nothing.
std::string WhyNotByThread(const Profile& p) {
  if (p.measure() == Measure::kLive)
    return "--thread cannot narrow live objects: which thread allocated them is not kept";
  if (p.counted())
    return "counts (--types, --exact) are kept by thread or by type and stack, not by both: "
           "--thread goes with --by thread alone, and --type and --method without it";
  if (const std::string missing = ThreadsMissing(p); !missing.empty())
    return fmt::format("types and stacks are not known by thread: {}", missing);
  return fmt::format(
      "{} keeps threads apart from types and stacks, as earlier recordings do: --thread goes with "
      "--by thread alone, and --type and --method without it",
      p.origin);
}

// `option`: "--by owner", "--type". `what`: of what the measure has none.
std::string HasNo(const profile::MeasureSpec& spec, std::string_view option,
                  std::string_view what) {
  return fmt::format("{}: {} {} no {}", option, spec.title,
                     spec.id == Measure::kCpu || spec.id == Measure::kWall ? "has" : "have", what);
}

Error NotOfRequests(std::string_view option) {
  return {ErrorCode::kUsage,
          fmt::format("{}: requests have neither stacks, types nor threads; --by request shows "
                      "what each route cost",
                      option)};
}

// Why a measure has no such table; "" where it has.
std::string WhyNot(const profile::MeasureSpec& spec, View view) {
  const auto no = [&](std::string_view what) { return HasNo(spec, OptionOf(view), what); };
  const bool live = spec.id == Measure::kLive;
  switch (view) {
    case View::kType:
      return spec.typed ? "" : no("types");
    case View::kKind:
      return spec.heaps ? "" : no("heaps");
    case View::kOwner:
      return spec.id == Measure::kLocks ? "" : no("owner");
    case View::kMessage:
      return spec.id == Measure::kExceptions ? "" : no("messages");
    case View::kState:
      return spec.id == Measure::kWall ? "" : no("states");
    case View::kTime:
      return live ? "--by time is of what happens: what lives is a state, of no span of time; "
                    "--by age tells since when"
                  : "";
    case View::kThread:
      return live ? "--by thread: which thread allocated the live objects is not kept" : "";
    case View::kAge:
    case View::kGeneration:
      return live ? "" : fmt::format("--by {} is of live objects: give --live too", ViewName(view));
    default:
      return "";
  }
}

// The first option that narrows types, stacks or threads; "" where none does.
std::string_view OfStacks(const profile::Filter& f) {
  return !f.type.empty()     ? "--type"
         : !f.method.empty() ? "--method"
         : !f.thread.empty() ? "--thread"
                             : "";
}

std::string_view OfRequests(const profile::Filter& f) {
  return !f.request.empty() ? "--request" : f.by_duration() ? "--slower-than" : "";
}

Error NotOfGcCpu(std::string_view what) {
  return {ErrorCode::kUsage,
          fmt::format("{}: the garbage collector's CPU time is of whole processes, by time or "
                      "process; `clrscope gcstats` tells what was allocated before each collection",
                      what)};
}

Status CheckGcCpu(std::optional<View> view, const profile::Filter& f) {
  if (view && *view != View::kTime && *view != View::kProcess) return NotOfGcCpu(OptionOf(*view));
  for (const std::string_view option : {OfStacks(f), OfRequests(f)})
    if (!option.empty()) return NotOfGcCpu(fmt::format("{} cannot narrow it", option));
  return OkStatus();
}

// Filters that would be ignored, as the measure keeps nothing that they could look at.
Status CheckFilter(const profile::MeasureSpec& spec, const profile::Filter& f) {
  if (const std::string_view option = OfStacks(f); spec.id == Measure::kRequests && !option.empty())
    return NotOfRequests(option);
  if (!spec.typed && !f.type.empty())
    return Error{ErrorCode::kUsage, HasNo(spec, "--type", "types")};
  return OkStatus();
}

Error NotToldOfLive(const Profile& p, std::string_view asked) {
  return {ErrorCode::kUsage,
          fmt::format("{}: {} does not tell which request allocated the live objects: "
                      "record --live --requests does",
                      asked, p.origin)};
}

// Requests that were recorded, and a figure that knows its own. `asked`: the option.
Status CheckKnowsRequests(const Profile& p, std::string_view asked) {
  if (p.measure() == Measure::kWall)
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: which request wall time belongs to is not kept", asked)};
  if (p.Find(Measure::kRequests) == nullptr)
    return Error{ErrorCode::kEmpty, fmt::format("{}: {} holds no requests: {}", asked, p.origin,
                                                WhyNotHeld(p, Measure::kRequests))};
  if (p.measure() == Measure::kLive && !p.shown().by_request()) return NotToldOfLive(p, asked);
  if (p.shown().clocked() && !p.shown().by_request())
    return Error{ErrorCode::kEmpty,
                 fmt::format("{}: {} does not tell which threads ran for which requests: the "
                             "runtime told nothing of its tasks while there were requests",
                             asked, p.origin)};
  if (!p.shown().by_request())
    return Error{ErrorCode::kUsage,
                 p.counted()
                     ? fmt::format("{}: counts (--types, --exact) are not kept by request", asked)
                     : fmt::format("{}: which request {} belong to is not kept", asked,
                                   p.shown().spec().title)};
  return OkStatus();
}

Status CheckRequests(const Profile& p, std::optional<View> view, const profile::Filter& filter) {
  if (view != View::kRequest && !filter.of_requests()) return OkStatus();
  if (p.measure() == Measure::kLive && filter.by_duration())
    return Error{ErrorCode::kUsage,
                 "--slower-than cannot narrow live objects: how long the requests took that "
                 "allocated them is not kept"};
  return CheckKnowsRequests(p, view == View::kRequest ? "--by request" : OfRequests(filter));
}

}  // namespace

Status CheckLiveRequests(const Profile& p, const profile::Filter& filter) {
  if (filter.request.empty()) return OkStatus();
  if (p.Find(Measure::kRequests) == nullptr) return CheckKnowsRequests(p, "--request");
  const profile::Figure* live = p.Find(Measure::kLive);
  return live != nullptr && live->by_request() ? OkStatus() : NotToldOfLive(p, "--request");
}

Status CheckView(const Profile& p, std::optional<View> view, const profile::Filter& filter) {
  if ((!filter.state.empty() || filter.all_states) && p.measure() != Measure::kWall)
    return Error{ErrorCode::kUsage, fmt::format("{} is of wall time: give --measure wall too",
                                                filter.all_states ? "--all-states" : "--state")};
  if (p.measure() == Measure::kGcCpu) return CheckGcCpu(view, filter);
  if (view)
    if (std::string why = WhyNot(p.shown().spec(), *view); !why.empty())
      return Error{ErrorCode::kUsage, std::move(why)};
  if (p.measure() == Measure::kRequests && view && *view != View::kRequest &&
      *view != View::kTime && *view != View::kProcess)
    return NotOfRequests(OptionOf(*view));
  RETURN_IF_ERROR(CheckFilter(p.shown().spec(), filter));
  if (Status status = CheckRequests(p, view, filter); !status.ok()) return status;
  if (view == View::kMessage && !profile::KnowsMessages(p))
    return Error{ErrorCode::kEmpty,
                 "--by message: no messages are kept in this file; record --exceptions --messages "
                 "keeps them"};
  const bool threads = view == View::kThread;
  if (!p.shown().by_thread() && (threads ? filter.of_cells() : !filter.thread.empty()))
    return Error{ErrorCode::kUsage, WhyNotByThread(p)};
  return OkStatus();
}

Status ApplyRoot(const std::string& root, Profile& p) {
  if (root.empty()) return OkStatus();
  RETURN_IF_ERROR(CheckKnowsRequests(p, "--root request"));
  profile::RootByRequest(p);
  return OkStatus();
}

analysis::Aggregate::Detail DetailFor(std::optional<View> view, const profile::Filter& f) {
  return {.threads = !f.thread.empty() || (view == View::kThread && f.of_cells()),
          .times = view == View::kTime && f.any_but_process(),
          .requests = view == View::kRequest || f.of_requests()};
}

std::string ThreadsMissing(const Profile& p) {
  if (p.measure() != Measure::kAllocations) return {};
  std::string who;
  bool foreign = false, all = true;
  for (const profile::Process& process : p.processes) {
    const bool missing = process.by_agent && !process.threads_told;
    all = all && missing;
    if (!missing) continue;
    foreign = foreign || process.live_source == profile::Source::kForeign;
    who += fmt::format("{}{}", who.empty() ? "" : ", ", process.pid);
  }
  if (who.empty()) return {};
  if (foreign) return "pprof files are read without their threads";
  return fmt::format("the agent in {} is of a version that does not tell threads apart",
                     all ? "the program" : who);
}

}  // namespace clrscope::report
