// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.h"

#include <fmt/format.h>

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

// The options, group by group, each description wrapped beside its option.
std::string Listing(const CLI::App& app, const std::map<const CLI::Option*, std::string>& words) {
  constexpr size_t kColumn = 28;
  const size_t width = std::min<size_t>(OutputWidth(), 100);
  std::string out;
  for (const std::string& group : app.get_groups()) {
    auto options = app.get_options([&](const CLI::Option* o) { return o->get_group() == group; });
    std::stable_partition(options.begin(), options.end(),
                          [](const CLI::Option* o) { return o->get_positional(); });
    if (options.empty()) continue;
    out += "\n" + group + ":\n";
    for (const CLI::Option* option : options) {
      std::string name =
          option->get_positional() ? option->get_type_name() : option->get_name(false, true);
      const auto word = words.find(option);
      if (word != words.end()) name = word->second;
      for (size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
        name.insert(at + 1, " ");
      const std::string type = option->get_type_name();
      if (!option->get_positional() && !type.empty() && word == words.end())
        name += " " + type.substr(0, type.find(':'));
      out += "  " + name;
      const size_t used = 2 + report::DisplayWidth(name);
      if (used + 2 > kColumn)
        out += "\n" + std::string(kColumn, ' ');
      else
        out += std::string(kColumn - used, ' ');
      out += report::Wrap(option->get_description(), kColumn, kColumn, width);
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
  return Option(app_->add_option(names, into, help));
}
template Option VerbOptions::Add(const std::string&, std::string&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::vector<std::string>&, const std::string&);
template Option VerbOptions::Add(const std::string&, int&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::vector<int>&, const std::string&);
template Option VerbOptions::Add(const std::string&, unsigned&, const std::string&);
template Option VerbOptions::Add(const std::string&, size_t&, const std::string&);
template Option VerbOptions::Add(const std::string&, std::optional<size_t>&, const std::string&);

Option VerbOptions::Flag(const std::string& names, bool& into, const std::string& help) {
  return Option(app_->add_flag(names, into, help));
}

Option VerbOptions::FlagOrWord(const std::string& name, std::string& into, const std::string& alone,
                               const std::string& word, const std::string& help) {
  CLI::Option* option = app_->add_flag(name + "{" + alone + "}", into, help);
  option->check(CLI::IsMember(std::vector<std::string>{alone, word, "true", "1"}));
  words_[option] = name + "[=" + word + "]";
  return Option(option);
}

Option VerbOptions::OnValue(const std::string& names, std::function<void(const std::string&)> take,
                            const std::string& help) {
  return Option(app_->add_option_function<std::string>(names, std::move(take), help));
}

void VerbOptions::Help() const {
  Output out;
  out.Write(fmt::format("{}\n\nExamples:\n{}\nUsage: clrscope {} {}\n{}", about_, examples_, verb_,
                        usage_, Listing(*app_, words_)));
}

std::optional<int> VerbOptions::Parse(const Args& args) {
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
  verb.Flag("--json", options.json, "one JSON document, plain numbers");
  if (csv)
    verb.Flag("--csv", options.csv, "flat rows with a heading, plain numbers").Excludes("--json");
}

void AddColorOption(VerbOptions& verb, ColorMode& mode) {
  verb.OnValue(
          "--color",
          [&mode](const std::string& v) {
            mode = v == "always"  ? ColorMode::kAlways
                   : v == "never" ? ColorMode::kNever
                                  : ColorMode::kAuto;
          },
          "auto, always or never; NO_COLOR is honoured")
      .Value("WHEN")
      .OneOf({"auto", "always", "never"});
}

void AddRootOption(VerbOptions& verb, std::string& root, std::string_view of) {
  verb.Add("--root", root,
           fmt::format("request: the route is the outermost frame {} (of recordings made with "
                       "--requests)",
                       of))
      .Value("WHAT")
      .OneOf({"request"});
}

void AddInputOptions(VerbOptions& verb, report::InputOptions& options) {
  verb.Add("file", options.path,
           "a .clrscope or .nettrace file, a pprof file of any tool or a folder of them; - reads a "
           "nettrace from standard input")
      .Value("FILE")
      .Required();
  verb.Add("--from", options.from,
           "from this time on: 30, 30s, 5m, 1h30m or 00:00:30 after the start. Time is "
           "kept in slices of 1 s (10 s and 60 s where it is long past)")
      .Value("TIME")
      .Group("Filters");
  verb.Add("--to", options.to, "up to this time").Value("TIME").Group("Filters");
  verb.Add("--type", options.filter.type, "types whose name matches this regular expression (RE2)")
      .Value("RE")
      .Group("Filters");
  verb.Add("--method", options.filter.method, "stacks in which a method matches")
      .Value("RE")
      .Group("Filters");
  verb.Add("--thread", options.filter.thread,
           "threads whose name matches this regular expression (RE2), or with this number")
      .Value("RE")
      .Group("Filters");
  verb.Add("--state", options.filter.state,
           "of wall time what the threads did: running, runnable, lock, wait, sleep, io, gc, idle "
           "or "
           "blocked_unknown; several with commas. By default all but idle")
      .Value("STATE")
      .Group("Filters");
  verb.Flag("--all-states", options.filter.all_states, "of wall time idle threads too")
      .Excludes("--state")
      .Group("Filters");
  verb.Add("--process", options.filter.process, "one process of several, by name or pid")
      .Value("NAME|PID")
      .Group("Filters");
  verb.Add("--request", options.filter.request,
           "requests whose route matches: 'GET /items' (of recordings made with --requests)")
      .Value("RE")
      .Group("Filters");
  verb.Add("--slower-than", options.slower_than,
           "requests that took so long: 1s, or p95 of their route")
      .Value("TIME")
      .Group("Filters");
  verb.Add("--measure", options.measure,
           "allocations, live, exceptions, locks, waits, requests, cpu, wall or gc-cpu; by default "
           "what was recorded, allocations first")
      .Value("MEASURE")
      .Group("Filters");
  verb.Flag("--live", options.live,
            "what lives and has survived a GC, in place of what was allocated (of recordings "
            "made with --live)")
      .Group("Filters");
  verb.Add("--older-than", options.older_than,
           "of live objects those that were allocated so long before: 10m, 1h")
      .Value("AGE")
      .Group("Filters");
  verb.Add("--event", options.event,
           "which event to rest on: sampled, tick or counted; the best one that "
           "was recorded is the default")
      .Value("EVENT")
      .OneOf({"sampled", "tick", "counted"})
      .Group("Filters");
}

}  // namespace clrscope::cli
