// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>

#include "cli/terminal/output.h"
#include "report/text/shorten.h"
#include "report/text/wrap.h"

namespace clrscope::cli {
namespace {

// "NAME", of which CLI11 makes "NAME:{one,two}" where words are checked.
std::string ValueName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

size_t HelpWidth() { return std::min<size_t>(OutputWidth(), 100); }

// The options, group by group, each description wrapped beside its option.
std::string Listing(const std::vector<OptionGroup>& groups) {
  constexpr size_t kColumn = 28;
  std::string out;
  for (const OptionGroup& group : groups) {
    out += "\n" + group.heading + ":\n";
    for (const OptionText& option : group.options) {
      std::string name = option.names;
      if (!name.empty() && !option.value.empty()) name += " ";
      name += option.value;
      out += "  " + name;
      const size_t used = 2 + report::DisplayWidth(name);
      if (used + 2 > kColumn)
        out += "\n" + std::string(kColumn, ' ');
      else
        out += std::string(kColumn - used, ' ');
      out += report::Wrap(option.about, kColumn, kColumn, HelpWidth());
    }
  }
  return out;
}

}  // namespace

Option& Option::Value(std::string name) {
  option_->type_name(std::move(name));
  return *this;
}

Option& Option::OneOf(std::vector<std::string> words) {
  (*choices_)[option_] = words;
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

Option& Option::Between(unsigned low, unsigned high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option& Option::Excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Option& Option::Group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::Required() {
  option_->required();
  return *this;
}

Option& Option::OneAtATime() {
  option_->allow_extra_args(false);
  return *this;
}

VerbOptions::VerbOptions(std::string_view verb, std::string_view usage, std::string_view about,
                         std::string_view examples)
    : verb_(verb),
      usage_(usage),
      about_(about),
      examples_(examples),
      app_(std::make_unique<CLI::App>("", std::string(verb))) {
  app_->set_help_flag("-h,--help", "show this help");
}

VerbOptions::~VerbOptions() = default;

template <typename T>
Option VerbOptions::Add(const std::string& names, T& into, const std::string& help) {
  return {app_->add_option(names, into, help), &choices_};
}
template Option VerbOptions::Add(const std::string&, std::string&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::vector<std::string>&, const std::string&);
template Option VerbOptions::Add(const std::string&, int&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::vector<int>&, const std::string&);
template Option VerbOptions::Add(const std::string&, unsigned&, const std::string&);
template Option VerbOptions::Add(const std::string&, size_t&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::optional<size_t>&, const std::string&);

Option VerbOptions::Flag(const std::string& names, bool& into, const std::string& help) {
  return {app_->add_flag(names, into, help), &choices_};
}

Option VerbOptions::FlagOrWord(const std::string& name, std::string& into, const std::string& alone,
                               const std::string& word, const std::string& help) {
  CLI::Option* option = app_->add_flag(name + "{" + alone + "}", into, help);
  option->check(CLI::IsMember(std::vector<std::string>{alone, word, "true", "1"}));
  words_[option] = name + "[=" + word + "]";
  return {option, &choices_};
}

Option VerbOptions::OnValue(const std::string& names, std::function<void(const std::string&)> take,
                            const std::string& help) {
  return {app_->add_option_function<std::string>(names, std::move(take), help), &choices_};
}

std::vector<OptionGroup> VerbOptions::Groups() const {
  std::vector<OptionGroup> groups;
  for (const std::string& heading : app_->get_groups()) {
    auto options =
        app_->get_options([&](const CLI::Option* o) { return o->get_group() == heading; });
    std::stable_partition(options.begin(), options.end(),
                          [](const CLI::Option* o) { return o->get_positional(); });
    if (options.empty()) continue;
    OptionGroup group{heading, {}};
    for (const CLI::Option* option : options) {
      OptionText text{"", ValueName(*option), option->get_description()};
      if (!option->get_positional()) text.names = option->get_name(false, true);
      if (const auto word = words_.find(option); word != words_.end())
        text.names = word->second, text.value.clear();
      for (size_t at = 0; (at = text.names.find(',', at)) != std::string::npos; at += 2)
        text.names.insert(at + 1, " ");
      group.options.push_back(std::move(text));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void VerbOptions::Help() const {
  Output out;
  out.Write(fmt::format("{}\nExamples:\n{}\nUsage: clrscope {} {}\n{}",
                        report::Wrap(about_, 0, 0, HelpWidth()), examples_, verb_, usage_,
                        Listing(Groups())));
}

void VerbOptions::ListOptions() const {
  Output out;
  for (const CLI::Option* option : app_->get_options()) {
    std::string names = option->get_positional() ? "" : option->get_name(false, true);
    std::replace(names.begin(), names.end(), ',', ' ');
    const auto word = words_.find(option);
    if (word != words_.end()) {  // "--requests[=all]": itself, and with its word
      const size_t bracket = word->second.find('[');
      names = word->second.substr(0, bracket);
      names += " " + names + word->second.substr(bracket + 1, word->second.size() - bracket - 2);
    }
    const bool flag = word != words_.end() || option->get_items_expected_max() == 0;
    const auto choices = choices_.find(option);
    out.Write(fmt::format(
        "{}\t{}\t{}\n", names, flag ? "" : ValueName(*option),
        choices == choices_.end() ? "" : fmt::format("{}", fmt::join(choices->second, " "))));
  }
}

std::optional<int> VerbOptions::Parse(const Args& args) {
  if (args.size() == 1 && args.front() == kListOptions) {
    ListOptions();
    return kExitOk;
  }
  if (args.size() == 1 && args.front() == kManPage) {
    Output out;
    out.Write(ManVerb(verb_, usage_, about_, examples_, Groups()));
    return kExitOk;
  }
  for (CLI::Option* option : app_->get_options()) {
    std::string name = option->get_single_name();
    if (option->get_lnames().empty() || name == "help") continue;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    option->envname("CLRSCOPE_" + name);
  }
  try {
    app_->parse(Args(args.rbegin(), args.rend()));  // CLI11 takes them from the back
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    Help();
    return kExitOk;
  } catch (const CLI::ParseError& e) {
    std::string what = e.what();
    while (what.ends_with('\n') || what.ends_with('.')) what.pop_back();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return Fail(
        {ErrorCode::kUsage, fmt::format("{}: {}; see `clrscope {} --help`", verb_, what, verb_)});
  }
}

void AddFormatOptions(VerbOptions& verb, FormatOptions& options, bool csv) {
  verb.Flag("--json", options.json, "print one JSON document with plain numbers");
  if (csv)
    verb.Flag("--csv", options.csv, "print CSV: a header line and plain numbers")
        .Excludes("--json");
}

void AddColorOption(VerbOptions& verb, ColorMode& mode) {
  verb.OnValue(
          "--color",
          [&mode](const std::string& v) {
            mode = v == "always"  ? ColorMode::kAlways
                   : v == "never" ? ColorMode::kNever
                                  : ColorMode::kAuto;
          },
          "when to use color: auto, always or never. clrscope honours NO_COLOR")
      .Value("WHEN")
      .OneOf({"auto", "always", "never"});
}

void AddRootOption(VerbOptions& verb, std::string& root, std::string_view of) {
  verb.Add("--root", root,
           fmt::format("request: make the route the outermost frame {} (needs record --requests)",
                       of))
      .Value("WHAT")
      .OneOf({"request"});
}

void AddSymbolOptions(VerbOptions& verb, report::SymbolOptions& options) {
  verb.Add("--symbols", options.folders,
           "search this folder for PDBs and native symbols that the recording lacks "
           "(.build-id/xx/yyyy.debug, FILE.debug or FILE.dbg), matched by build (repeatable). "
           "clrscope also searches /usr/lib/debug of this machine")
      .Value("DIR")
      .OneAtATime()
      .Group("Symbols");
  verb.Add("--symbol-server", options.server,
           "download missing symbols from this server: an address (https://...), or microsoft for "
           "those of .NET itself. The server learns the builds of these files. Downloads are kept "
           "in ~/.cache/clrscope")
      .Value("URL")
      .Group("Symbols");
}

void AddNarrowInputOptions(VerbOptions& verb, report::InputOptions& options, std::string file) {
  verb.Add("file", options.path, std::move(file)).Value("FILE").Required();
  verb.Add("--from", options.from,
           "begin at this time after the start: 30, 30s, 5m, 1h30m or 00:00:30. Times have a "
           "resolution of 1 s, and of 10 s or 60 s in the older part of a long recording")
      .Value("TIME")
      .Group("Filters");
  verb.Add("--to", options.to, "end at this time").Value("TIME").Group("Filters");
  verb.Add("--process", options.filter.process, "one process of several, by name or pid")
      .Value("NAME|PID")
      .Group("Filters");
  verb.Add("--type", options.filter.type, "types whose name matches this regular expression (RE2)")
      .Value("RE")
      .Group("Filters");
  verb.Add("--method", options.filter.method,
           "stacks with a method that matches this regular expression")
      .Value("RE")
      .Group("Filters");
  verb.Add("--request", options.filter.request,
           "requests whose route matches this regular expression: 'GET /items' (needs record "
           "--requests)")
      .Value("RE")
      .Group("Filters");
}

void AddInputOptions(VerbOptions& verb, report::InputOptions& options) {
  AddNarrowInputOptions(verb, options,
                        "a .clrscope, .nettrace or .nettrace.gz file, a pprof file of any tool, or "
                        "a folder of them; '-' reads a nettrace from standard input");
  verb.Add("--slower-than", options.slower_than,
           "requests that took at least this long: 1s; or p50, p90, p95 or p99 of their route")
      .Value("TIME")
      .Group("Filters");
  verb.Add("--thread", options.filter.thread,
           "threads whose name matches this regular expression, or with this number")
      .Value("RE")
      .Group("Filters");
  verb.Add("--measure", options.measure,
           "show this measure: allocations, live, exceptions, locks, waits, requests, cpu, wall or "
           "gc-cpu. Default: allocations, else the first recorded of exceptions, locks, waits, "
           "requests, cpu and wall")
      .Value("MEASURE")
      .Group("Filters");
  verb.Flag("--live", options.live,
            "objects that are alive and have survived a GC, instead of allocations (needs record "
            "--live)")
      .Group("Filters");
  verb.Add("--older-than", options.older_than,
           "live objects that are at least this old: 1, 2, 5, 10, 20 or 30 s or m, 1, 2, 4, 8 or "
           "16 h, 1, 2, 4, 7 or 14 d (10m)")
      .Value("AGE")
      .Group("Filters");
  verb.Add(
          "--state", options.filter.state,
          "wall time of threads in this state: running, runnable, lock, wait, sleep, io, gc, idle, "
          "blocked_unknown or unknown (comma-separated). Default: all but idle")
      .Value("STATE")
      .Group("Filters");
  verb.Flag("--all-states", options.filter.all_states, "include the wall time of idle threads")
      .Excludes("--state")
      .Group("Filters");
  verb.Add("--event", options.event,
           "use this event for allocations: sampled, tick or counted. Default: the best one "
           "recorded")
      .Value("EVENT")
      .OneOf({"sampled", "tick", "counted"})
      .Group("Filters");
  AddSymbolOptions(verb, options.symbols);
}

}  // namespace clrscope::cli
