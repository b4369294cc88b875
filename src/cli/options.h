// SPDX-License-Identifier: Apache-2.0
// The options of one verb: help that starts with examples, errors in one sentence, and the groups
// of options that several verbs share.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/input.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace clrscope::cli {

class VerbOptions {
 public:
  // `examples`: lines of "  clrscope VERB …"; `usage`: what follows the verb.
  VerbOptions(std::string_view verb, std::string_view usage, std::string_view about,
              std::string_view examples);
  CLI::App& app() { return app_; }

  // An exit code when the verb is not to run: help was shown, or the options are wrong.
  // Every option can come from the environment too: --from as CLRSCOPE_FROM.
  [[nodiscard]] std::optional<int> Parse(const Args& args);

 private:
  void Help() const;

  std::string verb_, usage_, about_, examples_;
  CLI::App app_;
};

// --json and --csv, which exclude each other.
struct FormatOptions {
  bool json = false, csv = false;
  bool text() const { return !json && !csv; }
};
void AddFormatOptions(CLI::App& app, FormatOptions& options, bool csv = true);
void AddColorOption(CLI::App& app, ColorMode& mode);
// FILE, --from, --to, --type, --method, --process, --event
void AddInputOptions(CLI::App& app, InputOptions& options);

}  // namespace clrscope::cli
