// SPDX-License-Identifier: Apache-2.0
#include "cli/options/measures_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "profile/overhead/overhead_prices.h"

namespace clrscope::cli {
namespace {

constexpr uint32_t kMostRate = 1000, kDefaultRate = 99;
// What the runtime's sampler is set to (ep_init in dotnet/runtime src/native/eventpipe/ep.c).
constexpr uint32_t kRuntimeRate = 1000;

// A part of one. errors: kUsage
Result<double> ParsePercent(std::string_view text) {
  constexpr double kLeast = 0.1, kMost = 50;
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() ||
      !(percent >= kLeast && percent <= kMost))
    return Error{ErrorCode::kUsage,
                 fmt::format("--max-overhead {}: a percentage from {} to {}, such as 1%", text,
                             kLeast, kMost)};
  return percent / 100;
}

// errors: kUsage
Status Choose(const std::string& option, const std::string& list, uint32_t rate, bool* live,
              capture::TargetOptions& o) {
  std::istringstream in(list);
  bool any = false;
  for (std::string name; std::getline(in, name, ',');) {
    any = true;
    if (name == "allocations") {
      o.allocations = true;
    } else if (name == "exceptions") {
      o.exceptions = true;
    } else if (name == "locks") {
      o.locks = true;
    } else if (name == "waits") {
      o.locks = o.waits = true;
    } else if (name == "requests") {
      o.requests = true;
    } else if (name == "cpu" && rate != 0) {
      o.cpu_hz = rate;
      o.cpu_may_lack = false;
    } else if (name == "wall" && rate != 0) {
      o.cpu_hz = o.wall_hz = rate;
      o.cpu_may_lack = false;
    } else if (name == "live" || name == "gc-cpu") {
      o.allocations = *live = true;
    } else if (name == "all") {  // what needs no agent: CPU time where it may be sampled
      o.allocations = o.exceptions = o.locks = o.waits = true;
      if (rate != 0) o.requests = true;  // `attach` knows neither
      o.wall_hz = rate;
      if (o.cpu_hz == 0 && rate != 0) {
        o.cpu_hz = rate;
        o.cpu_may_lack = true;
      }
    } else {
      return Error{
          ErrorCode::kUsage,
          fmt::format("{} {}: use allocations, exceptions, locks, waits, requests, cpu, wall, "
                      "live, gc-cpu or all, separated by commas",
                      option, list)};
    }
  }
  if (!any) return Error{ErrorCode::kUsage, fmt::format("{} needs the name of a measure", option)};
  return OkStatus();
}

}  // namespace

void AddMeasureOptions(VerbOptions& verb, MeasureArguments& a, const VerbMeasures& can) {
  verb.Flag("--exceptions", a.exceptions, "record every thrown exception with its stack");
  if (can.messages)
    verb.Flag("--messages", a.messages,
              "keep exception messages, which may hold personal data: 200 characters each, 1,000 "
              "different messages per process. Implies --exceptions");
  verb.Flag("--locks", a.locks, "record every wait for a lock that another thread holds");
  verb.Flag("--waits", a.waits,
            "record every other wait that blocks a thread (.NET 9 and later). Implies --locks");
  if (can.requests)
    verb.FlagOrWord("--requests", a.requests, "auto", "all",
                    "record the requests of ASP.NET Core (.NET 8 and later), and assign everything "
                    "else to them. Tracking a request costs about 12 µs of CPU. If that would "
                    "exceed 1 % of the machine's CPU, or what --max-overhead leaves, clrscope "
                    "tracks requests in short random windows only. =all tracks every request");
  if (can.activities)
    verb.Flag(
        "--activities", a.activities,
        "record the operations of every ActivitySource: queue consumers, jobs, steps of requests. "
        "Implies --requests. clrscope listens to these sources, so the program creates activities "
        "that it would not create otherwise, and sends traceparent to the services it calls");
  if (can.activities)
    verb.Flag("--actions", a.actions,
              "report requests of MVC's conventional routes by controller and action. Costs about "
              "35 µs of CPU more per request. Implies --requests");
  if (can.cpu) {
    a.rate = kDefaultRate;
    verb.Flag("--cpu", a.cpu,
              "sample CPU time: managed code, the runtime, native code and the kernel");
    verb.Flag("--wall", a.wall,
              "record wall-clock time: what each thread did or waited for, sampled from outside "
              "the process. Implies --cpu");
    verb.Add("--sampler", a.sampler,
             "how to sample CPU time: kernel (perf_event_open); ptrace (stops each running thread "
             "for some 40 µs, as a debugger does); runtime (the runtime's own sampler, which stops "
             "the program 1,000 times a second and reports managed code only, with wall-clock "
             "time); or auto (default: kernel if permitted, else ptrace). Needs CPU time (--cpu, "
             "--wall)")
        .Value("WHO")
        .OneOf({"auto", "kernel", "ptrace", "runtime"});
    verb.Add("--rate", a.rate,
             "sampling frequency in Hz, of CPU time and of wall-clock time: 1 to 1000 (default 99)")
        .Value("HZ");
  }
  verb.Add("--measures", a.measures,
           fmt::format("record these measures (comma-separated): allocations, exceptions, locks, "
                       "waits{}{}{}; or all: {}. Default: {}. Options such as --locks add to them",
                       can.requests ? ", requests" : "", can.cpu ? ", cpu, wall" : "",
                       can.agent ? ", live, gc-cpu" : "",
                       !can.agent ? "all of these, CPU time where it can be sampled"
                       : can.cpu  ? "all but live and gc-cpu, CPU time where it can be sampled"
                                  : "all but live and gc-cpu",
                       can.standard))
      .Value("LIST");
  verb.Add("--only", a.only, "the same as --measures, for example --only exceptions,locks")
      .Value("LIST")
      .Excludes("--measures");
  if (can.cpu)
    verb.Add("--max-overhead", a.max_overhead,
             "limit profiling cost to this share of the program's CPU time, clrscope's own "
             "included, for example 1%. Over the limit, clrscope records allocations, exceptions "
             "and requests in short random windows and samples CPU time less often")
        .Value("PERCENT");
  if (can.lines)
    verb.Flag("--lines", a.lines,
              "record the source line of each frame, for `report --by line`. clrscope requests the "
              "maps of compiled code from the runtime and reads the program's PDBs");
}

// What the limit leaves to looks.
Status LimitOverhead(const MeasureArguments& a, capture::TargetOptions& o) {
  ASSIGN_OR_RETURN(o.max_overhead, ParsePercent(a.max_overhead));
  if (o.every_request)
    return Error{ErrorCode::kUsage,
                 "--requests=all follows every request, whatever that takes: with --max-overhead "
                 "give --requests alone"};
  if (o.cpu_hz == 0) return OkStatus();
  if (a.sampler == "runtime")
    return Error{ErrorCode::kUsage,
                 "--sampler runtime stops the program 1,000 times a second, and cannot be told "
                 "otherwise: --max-overhead needs another one"};
  // Looks take the same however little CPU the program uses: a quarter of the limit of one CPU.
  const double looks = o.max_overhead / 4 * 1e9 / profile::kNsPerLook;
  o.wall_hz = std::min(o.wall_hz, static_cast<uint32_t>(std::max(1.0, looks)));
  return OkStatus();
}

Status ChooseMeasures(const MeasureArguments& a, bool* live, capture::TargetOptions& o) {
  o.lines = o.fold.lines = a.lines;
  o.exceptions = a.exceptions || a.messages;
  o.fold.messages = a.messages;
  o.waits = a.waits;
  o.requests = !a.requests.empty() || a.activities || a.actions;
  o.activities = a.activities;
  o.actions = a.actions;
  if (a.rate > kMostRate || ((a.cpu || a.wall) && a.rate < 1))
    return Error{ErrorCode::kUsage, fmt::format("--rate {}: from 1 to {}", a.rate, kMostRate)};
  if (a.cpu || a.wall) o.cpu_hz = a.rate;
  if (a.wall) o.wall_hz = a.rate;
  o.every_request = a.requests == "all";
  o.locks = a.locks || a.waits;
  if (!a.measures.empty() || !a.only.empty()) o.allocations = *live;
  if (!a.measures.empty()) RETURN_IF_ERROR(Choose("--measures", a.measures, a.rate, live, o));
  if (!a.only.empty()) RETURN_IF_ERROR(Choose("--only", a.only, a.rate, live, o));
  o.fold.requests = o.requests;
  if (!a.sampler.empty() && o.cpu_hz == 0)
    return Error{ErrorCode::kUsage, "--sampler is of CPU time: give --cpu as well"};
  for (uint8_t i = 1; i < profile::kCpuSamplers; ++i)
    if (const auto by = static_cast<profile::CpuSampler>(i); a.sampler == profile::SamplerName(by))
      o.sampler = by;
  if (a.sampler == "runtime") {
    if (a.rate != kDefaultRate && a.rate != kRuntimeRate)
      return Error{ErrorCode::kUsage,
                   fmt::format("--rate {}: the runtime samples each thread {} times a second, and "
                               "cannot be told otherwise",
                               a.rate, kRuntimeRate)};
    o.cpu_hz = kRuntimeRate;
    o.wall_hz = 0;  // it tells wall time itself
  }
  return a.max_overhead.empty() ? OkStatus() : LimitOverhead(a, o);
}

}  // namespace clrscope::cli
