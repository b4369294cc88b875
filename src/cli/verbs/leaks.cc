// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/leaks.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "report/input/input.h"
#include "report/rows/losses.h"
#include "report/rows/rows.h"
#include "report/rows/views.h"
#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/memory.h"
#include "report/text/shorten.h"
#include "report/text/wrap.h"

namespace clrscope::cli {
namespace {

using analysis::LeakRow;
using analysis::LeakWindow;
using analysis::Verdict;
using profile::Profile;

constexpr size_t kFramesInText = 8;

struct LeaksOptions {
  report::InputOptions input;
  FormatOptions format;
  std::optional<size_t> limit;
  ColorMode color = ColorMode::kAuto;
};

report::Json Rounded(double v) { return std::llround(v); }
report::Json Tenths(double v) { return std::round(v * 10) / 10; }

report::Json FrameJson(const Profile& p, uint32_t frame) {
  const profile::Frame& f = p.frames[frame];
  return {{"module", f.module.value == 0 ? report::Json() : report::Json(p.str(f.module))},
          {"method", p.str(f.method)},
          {"raw", p.str(f.raw)}};
}

std::string_view RequestOf(const Profile& p, StringId route) {
  return route.value == 0 ? profile::kNoRequest : p.str(route);
}

report::Json SuspectJson(const LeakRow& r, const Profile& p) {
  const profile::Type& type = p.types[r.type];
  const profile::Process& process = p.processes[r.process];
  report::Json json{{"type", p.str(type.name)},
                    {"site", p.str(p.frames[r.frame].method)},
                    {"stack", report::Json::array()},
                    {"verdict", VerdictName(r.verdict)}};
  for (uint32_t n = r.node; n != 0; n = p.nodes[n].parent)
    json["stack"].push_back(FrameJson(p, p.nodes[n].frame));
  const auto sum = [&](std::string_view name, const profile::Estimate& e) {
    json[fmt::format("{}_samples", name)] = e.samples;
    json[fmt::format("{}_bytes", name)] = Rounded(e.amount);
    json[fmt::format("{}_objects", name)] = Rounded(e.count);
  };
  const bool interval = r.slope_interval.has_value();
  const profile::Interval live = AmountInterval(r.live), objects = CountInterval(r.live);
  sum("live", r.live);
  json["live_bytes_low"] = interval ? Rounded(live.low) : report::Json();
  json["live_bytes_high"] = interval ? Rounded(live.high) : report::Json();
  json["live_objects_low"] = interval ? Rounded(objects.low) : report::Json();
  json["live_objects_high"] = interval ? Rounded(objects.high) : report::Json();
  json["slope_bytes_per_s"] = Tenths(r.slope);
  json["slope_low"] = interval ? Tenths(r.slope_interval->low) : report::Json();
  json["slope_high"] = interval ? Tenths(r.slope_interval->high) : report::Json();
  json["late_slope_bytes_per_s"] = Tenths(r.late_slope);
  json["median_age_s"] = Tenths(r.median_age_s);
  json["median_age_before_s"] =
      r.median_age_before_s ? Tenths(*r.median_age_before_s) : report::Json();
  json["survived_gen2"] = r.survived_gen2;
  json["kept_share"] = std::round(r.kept * 1e4) / 1e4;
  sum("added", r.added);
  sum("gone", r.gone);
  sum("born", r.born);
  sum("died", r.died);
  json["requests"] = r.requests.empty() ? report::Json() : report::Json::array();
  for (const auto& [route, e] : r.requests)
    json["requests"].push_back({{"request", RequestOf(p, route)},
                                {"live_samples", e.samples},
                                {"live_bytes", Rounded(e.amount)},
                                {"live_objects", Rounded(e.count)}});
  json["biased"] = r.live.biased || r.added.biased || r.gone.biased;
  json["type_id"] = type.id;
  json["raw_type"] = p.str(type.raw);
  json["module"] = FrameJson(p, r.frame)["module"];
  json["raw_site"] = p.str(p.frames[r.frame].raw);
  json["process"] = p.str(process.name);
  json["pid"] = process.pid;
  return json;
}

report::Json HeadJson(const report::Input& input) {
  const Profile& p = input.profile;
  report::Json head{{"schema_version", 1}, {"file", p.origin}};
  head["complete"] = p.complete && !input.damage;
  head["start_unix_ns"] = p.start_unix_ns;
  head["duration_s"] = static_cast<double>(p.duration_ns) / 1e9;
  head["windows"] = report::Json::array();
  for (size_t i = 0; i < p.processes.size(); ++i) {
    if (!p.processes[i].followed || i >= input.leaks->windows.size()) continue;
    const LeakWindow& w = input.leaks->windows[i];
    const double shift = static_cast<double>(w.shift_ns) / 1e9;
    head["windows"].push_back(
        {{"pid", p.processes[i].pid},
         {"from_s", w.known ? report::Json(w.start_s + shift) : report::Json()},
         {"to_s", w.known ? report::Json(w.end_s + shift) : report::Json()},
         {"memory", w.memory ? report::MemoryJson(*w.memory) : report::Json()}});
  }
  head["losses"] = report::LossesJson(p.losses);
  head["rows_total"] = input.leaks->rows.size();
  return head;
}

std::string Evidence(const LeakRow& r) {
  std::string text = report::Unbroken(report::HumanBytes(r.live.amount));
  if (r.slope_interval)
    text +=
        " " + report::Unbroken(report::HumanBytesInterval(r.live.amount, AmountInterval(r.live)));
  const auto rate = [](double v) {
    return report::Unbroken((v < 0 ? "-" : "+") + report::HumanBytes(std::fabs(v)) + "/s");
  };
  text += " live, " + rate(r.slope);
  if (r.slope_interval)
    text += fmt::format(" ({} to {})", rate(r.slope_interval->low), rate(r.slope_interval->high));
  text += fmt::format("; median age {}", report::Unbroken(report::HumanDuration(r.median_age_s)));
  if (r.median_age_before_s)
    text +=
        fmt::format(", was {}", report::Unbroken(report::HumanDuration(*r.median_age_before_s)));
  text += fmt::format("; survived {} {} of generation 2; {} of the old kept", r.survived_gen2,
                      r.survived_gen2 == 1 ? "GC" : "GCs",
                      report::Unbroken(report::HumanShare(r.kept, 1)));
  return text;
}

// Who allocated what lives: the routes of the most bytes.
std::string RequestsOf(const LeakRow& r, const Profile& p) {
  constexpr size_t kNamed = 3;
  if (r.requests.empty() || (r.requests.size() == 1 && r.requests[0].first.value == 0)) return {};
  std::string text = "of ";
  for (size_t i = 0; i < std::min(kNamed, r.requests.size()); ++i) {
    const auto& [route, e] = r.requests[i];
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", report::Printable(RequestOf(p, route)),
                        report::Unbroken(report::HumanShare(e.amount, r.live.amount)));
  }
  if (r.requests.size() > kNamed) text += fmt::format(" and {} more", r.requests.size() - kNamed);
  return text;
}

std::string SuspectText(const LeakRow& r, const Profile& p, size_t width,
                        const report::Style& style) {
  const std::string verdict(r.verdict == Verdict::kFewSamples ? "few samples"
                                                              : VerdictName(r.verdict));
  const std::string name =
      report::ShortenName(report::Printable(p.str(p.types[r.type].name)), width - 14);
  std::string out = (r.verdict == Verdict::kGrowing ? style.Bad(verdict) : style.Bold(verdict)) +
                    "  " + style.Bold(name);
  if (p.processes.size() > 1) out += fmt::format("  ({})", p.processes[r.process].pid);
  out += "\n  " + report::Wrap(Evidence(r), 2, 2, width);
  if (const std::string requests = RequestsOf(r, p); !requests.empty())
    out += "  " + report::Wrap(requests, 2, 2, width);
  size_t shown = 0;
  for (uint32_t n = r.node; n != 0; n = p.nodes[n].parent) {
    const profile::Frame& f = p.frames[p.nodes[n].frame];
    if ((f.flags & profile::kMachinery) != 0) continue;
    if (++shown > kFramesInText) {
      out += "    …\n";
      break;
    }
    out += "    " + report::ShortenName(report::Printable(p.str(f.method)), width - 4) + "\n";
  }
  return out;
}

std::string Who(const Profile& p, const profile::Process& process) {
  return fmt::format("{} ({})", report::Printable(p.str(process.name)), process.pid);
}

void WriteMemory(const report::Input& input, Output& out) {
  const Profile& p = input.profile;
  for (size_t i = 0; i < p.processes.size(); ++i)
    if (const LeakWindow& w = input.leaks->windows[i]; w.memory)
      out.Write(
          report::MemoryText(*w.memory, Who(p, p.processes[i]), p.processes[i].pid, OutputWidth()));
}

void WriteText(const report::Input& input, const LeaksOptions& o, Output& out) {
  const Profile& p = input.profile;
  const report::Style style = StyleFor(o.color);
  const size_t width = OutputWidth();
  size_t counts[4] = {};
  for (const LeakRow& r : input.leaks->rows) ++counts[static_cast<size_t>(r.verdict)];
  out.Write(report::Wrap(fmt::format("{} growing, {} refreshed, {} steady, {} with too few samples",
                                     counts[0], counts[1], counts[2], counts[3]),
                         0, 0, width));
  for (size_t i = 0; i < p.processes.size(); ++i) {
    const LeakWindow& w = input.leaks->windows[i];
    if (!w.known) continue;
    const double shift = static_cast<double>(w.shift_ns) / 1e9;
    out.Write(report::Wrap(
        fmt::format("{}: what lived at {} against what lived at {}", Who(p, p.processes[i]),
                    report::ClockText(w.start_s + shift), report::ClockText(w.end_s + shift)),
        0, 0, width));
  }
  WriteMemory(input, out);
  // What grows is shown whole; of the others, who looks for them.
  const size_t limit = o.limit.value_or(std::max<size_t>(counts[0], 5));
  for (size_t i = 0; i < std::min(limit, input.leaks->rows.size()); ++i)
    out.Write("\n" + SuspectText(input.leaks->rows[i], p, width, style));
  if (limit < input.leaks->rows.size())
    out.Write(fmt::format("\n… {} more rows: -n 0\n", input.leaks->rows.size() - limit));
  if (const std::string losses = report::LossesText(p.losses, width); !losses.empty())
    out.Write("\n" + losses);
}

Status NothingToSay(const report::Input& input, const LeaksOptions& o) {
  const auto& windows = input.leaks->windows;
  bool followed = false, known = false;
  for (const profile::Process& p : input.profile.processes) followed = followed || p.followed;
  for (const LeakWindow& w : windows) known = known || w.known;
  if (!followed) return report::NoLiveObjects(input, o.input);
  const std::string missing = report::ButMissing(input.profile, input.damage.has_value());
  if (!known && input.profile.shown().source == profile::Source::kForeign)
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} is of one moment, or of moments too close to each other: a folder "
                             "of profiles that span a minute or more tells what grows{}",
                             o.input.path, missing)};
  if (!known)
    return Error{ErrorCode::kEmpty,
                 fmt::format("{} is too short to tell what grows: record for a minute or more{}",
                             o.input.path, missing)};
  if (input.leaks->rows.empty() && o.input.filter.any_but_process())
    return Error{ErrorCode::kEmpty,
                 fmt::format("nothing that lives in {} matches{}", o.input.path, missing)};
  if (input.leaks->rows.empty())
    return Error{
        ErrorCode::kEmpty,
        fmt::format("nothing that {} follows and that has survived a GC lives in this window{}",
                    o.input.path, missing)};
  return OkStatus();
}

}  // namespace

int RunLeaks(const Args& args) {
  LeaksOptions o;
  VerbOptions verb(
      "leaks", "FILE [options]",
      "Distinguishes leaks from caches: how fast the live objects of each type and site grow, "
      "whether old objects are replaced, and how old objects get. Needs a recording made with "
      "--live.",
      "  clrscope record -p 1234 --live -d 10m -o app.clrscope\n"
      "  clrscope leaks app.clrscope                  the suspects, with their stacks\n"
      "  clrscope leaks app.clrscope --type Order -n 0\n"
      "  clrscope leaks app.clrscope --request 'GET /items'  of what these requests allocated\n"
      "  clrscope leaks app.clrscope --json           for scripts\n");
  AddNarrowInputOptions(verb, o.input,
                        "a .clrscope file recorded with --live, or a folder of pprof files that "
                        "the agent wrote");
  AddSymbolOptions(verb, o.input.symbols);
  verb.Add("-n,--limit", o.limit,
           "show this many rows; 0 shows all. Default: all that grow, at least 5. JSON has all by "
           "default")
      .Value("N");
  AddFormatOptions(verb, o.format, false);
  AddColorOption(verb, o.color);
  if (const auto code = verb.Parse(args)) return *code;
  if (o.limit && *o.limit == 0) o.limit = report::kAllRows;
  o.input.leaks = true;
  Result<report::Input> input = report::LoadInput(o.input);
  if (!input.ok()) return Fail(input.error());
  WarnAll(input->notes);
  if (!input->leaks) {
    if (input->damage) return Fail(*input->damage);
    return Fail(report::NoLiveObjects(*input, o.input));
  }
  if (Status status = report::CheckLiveRequests(input->profile, o.input.filter); !status.ok())
    return Fail(status.error());
  const Status empty = NothingToSay(*input, o);
  Output out;
  if (o.format.json) {
    JsonDocument document(out, HeadJson(*input), "suspects");
    const size_t n = std::min(o.limit.value_or(report::kAllRows), input->leaks->rows.size());
    for (size_t i = 0; i < n; ++i) document.Row(SuspectJson(input->leaks->rows[i], input->profile));
    document.End();
  } else if (empty.ok()) {
    WriteText(*input, o, out);
  } else {
    WriteMemory(*input, out);  // what grows may be no object at all
  }
  if (Status status = out.Flush(); !status.ok()) return Fail(status.error());
  if (input->damage) {
    Warn(input->damage->message);
    return kExitIncomplete;
  }
  return empty.ok() ? kExitOk : Fail(empty.error());
}

}  // namespace clrscope::cli
