// SPDX-License-Identifier: Apache-2.0
// The options of one verb: help that starts with examples, errors in one sentence, and the groups
// of options that several verbs share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/man/man_page.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs.h"
#include "report/input/input.h"

namespace CLI {  // its headers take 10 s to compile: options.cc alone includes them
class App;
class Option;
}  // namespace CLI

namespace clrscope::cli {

using Choices = std::map<const CLI::Option*, std::vector<std::string>>;

// One option of a verb, told more about in a chain of calls.
class Option {
 public:
  // `choices`: where OneOf() notes its words.
  Option(CLI::Option* option, Choices* choices) : option_(option), choices_(choices) {}
  Option& Value(std::string name);  // what help calls its value: FILE, TIME
  Option& OneOf(std::vector<std::string> words);
  Option& Between(unsigned low, unsigned high);
  Option& Excludes(const std::string& other);  // "--json", added before
  Option& Group(const std::string& heading);
  Option& Required();
  Option& OneAtATime();  // it may be given several times, but takes one value each time

 private:
  CLI::Option* option_;
  Choices* choices_;
};

class VerbOptions {
 public:
  // `examples`: lines of "  clrscope VERB …"; `usage`: what follows the verb.
  VerbOptions(std::string_view verb, std::string_view usage, std::string_view about,
              std::string_view examples);
  ~VerbOptions();

  // `names`: "-o,--output", or "file" for one that goes by its place. `into` keeps its value when
  // the option is not given. options.cc lists the types there are.
  template <typename T>
  Option Add(const std::string& names, T& into, const std::string& help);
  Option Flag(const std::string& names, bool& into, const std::string& help);
  // A flag that may have a word: "--requests" is "auto", "--requests=all" "all", which help calls
  // "--requests[=all]".
  Option FlagOrWord(const std::string& name, std::string& into, const std::string& alone,
                    const std::string& word, const std::string& help);
  Option OnValue(const std::string& names, std::function<void(const std::string&)> take,
                 const std::string& help);

  // An exit code when the verb is not to run: help was shown, or the options are wrong. With the
  // one argument kListOptions, what a shell completes: a line for each option,
  // "NAMES\tVALUE\tWORDS", with spaces between names and between words; VALUE is "" of flags; NAMES
  // is "" of one that goes by its place.
  static constexpr std::string_view kListOptions = "--list-options";
  // With this one argument, the verb's part of the manual page.
  static constexpr std::string_view kManPage = "--man-page";
  // Every option can come from the environment too: --from as CLRSCOPE_FROM.
  [[nodiscard]] std::optional<int> Parse(const Args& args);

 private:
  std::vector<OptionGroup> Groups() const;
  void Help() const;
  void ListOptions() const;

  std::string verb_, usage_, about_, examples_;
  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::Option*, std::string> words_;  // what help calls flags that may have a word
  Choices choices_;
};

// --json and --csv, which exclude each other.
struct FormatOptions {
  bool json = false, csv = false;
  bool text() const { return !json && !csv; }
};
void AddFormatOptions(VerbOptions& verb, FormatOptions& options, bool csv = true);
void AddColorOption(VerbOptions& verb, ColorMode& mode);
// --root; `of`: what has stacks, for the help
void AddRootOption(VerbOptions& verb, std::string& root, std::string_view of);
// --symbols, --symbol-server
void AddSymbolOptions(VerbOptions& verb, report::SymbolOptions& options);
// FILE, and what narrows every figure of it: --from, --to, --process, --type, --method, --request
void AddNarrowInputOptions(VerbOptions& verb, report::InputOptions& options, std::string file);
// These, what narrows some measures, which measure is shown, and the options of symbols
void AddInputOptions(VerbOptions& verb, report::InputOptions& options);

}  // namespace clrscope::cli
