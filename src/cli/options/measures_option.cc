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

void AddMeasureOptions(VerbOptions& verb, MeasureArguments& a, bool requests, bool activities,
                       bool cpu, bool lines) {
  verb.Flag("--exceptions", a.exceptions, "also every exception that is thrown, with its stack");
  verb.Flag("--messages", a.messages,
            "keep what exceptions say (it may hold personal data): 200 characters each, 1,000 "
            "different ones of a process; brings --exceptions");
  verb.Flag("--locks", a.locks, "also every wait for a lock that another thread holds");
  verb.Flag("--waits", a.waits,
            "also every other wait that blocks a thread (.NET 9 and later); brings --locks");
  if (requests)
    verb.FlagOrWord(
        "--requests", a.requests, "auto", "all",
        "also the requests of ASP.NET Core (.NET 8 and later), and to which of them all of this "
        "belongs; takes the program about 12 µs of CPU a request, but no more than 1 % of the "
        "machine's CPU, or what --max-overhead leaves: above that they are followed in windows of "
        "time, unless it is all");
  if (activities)
    verb.Flag(
        "--activities", a.activities,
        "also the operations of every ActivitySource: queue consumers, jobs, steps of requests; "
        "brings --requests. This listens to them, which makes the program create activities "
        "that it would not make otherwise, and send traceparent to the services it calls");
  if (activities)
    verb.Flag("--actions", a.actions,
              "requests of MVC's conventional routes by controller and action; brings --requests. "
              "Asks ASP.NET Core for the route and the end of each request, which takes the "
              "program about 35 µs of CPU a request more");
  if (cpu) {
    a.rate = kDefaultRate;
    verb.Flag("--cpu", a.cpu,
              "also who uses CPU time: managed code, the runtime, native code, the kernel; by "
              "samples");
    verb.Flag("--wall", a.wall,
              "also where threads spend their time, running or not: why they wait, and where; by "
              "looks at them from outside; brings --cpu");
    verb.Add("--sampler", a.sampler,
             "who takes them: kernel (perf_event_open); ptrace, by stopping each thread that runs "
             "for some 40 µs, as a debugger does; or runtime, the runtime's own sampler: it stops "
             "the program 1,000 times a second and reports managed code alone, and wall time too. "
             "auto, the default, is the kernel where it may, else ptrace")
        .Value("WHO")
        .OneOf({"auto", "kernel", "ptrace", "runtime"});
    verb.Add("--rate", a.rate,
             "samples for each second of CPU time that a thread uses, and looks at each thread a "
             "second; 99 by default")
        .Value("HZ");
  }
  verb.Add("--only", a.only,
           "these and no allocations, unless they are named: exceptions,locks for example")
      .Value("LIST");
  verb.Add("--measures", a.measures,
           cpu ? "the same in one list: allocations, exceptions, locks, waits, requests, cpu, "
                 "wall, live, gc-cpu; all is all that needs no agent: CPU time where it may be "
                 "sampled"
           : requests
               ? "the same in one list: allocations, exceptions, locks, waits, requests, live, "
                 "gc-cpu; all is all that needs no agent"
               : "the same in one list: allocations, exceptions, locks, waits, live, gc-cpu; "
                 "all is all that needs no agent")
      .Value("LIST")
      .Excludes("--only");
  if (cpu)
    verb.Add("--max-overhead", a.max_overhead,
             "of the program's CPU time that all of this may take it, clrscope's own included, 1% "
             "for example: above that, allocations, exceptions and requests are recorded in random "
             "windows of time and counted by the runtime, and CPU time is sampled less often")
        .Value("PERCENT");
  if (lines)
    verb.Flag("--lines", a.lines,
              "also the source line of each frame, for `report --by line`: asks the runtime for "
              "the maps of what it compiles, and reads the program's PDBs");
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
