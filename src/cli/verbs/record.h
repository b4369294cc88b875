// SPDX-License-Identifier: Apache-2.0
// The verb `record`: attach to processes or launch a program, and write a capture.
#pragma once

#include <string>
#include <vector>

#include "cli/options/measures_option.h"

namespace clrscope::cli {

// As the user typed them; "" and 0 where nothing was typed.
struct RecordArguments {
  std::vector<int> pids;             // -p, --pid, --process-id
  std::vector<std::string> names;    // -n, --name
  std::vector<std::string> command;  // after --
  bool all = false;                  // --all
  std::string duration;              // -d, --duration
  bool wait_all = false;             // --wait-all
  std::string output;                // -o, --output
  bool force = false;                // -f, --force
  std::string sampling = "auto";     // auto | poisson | tick
  std::string types;                 // "" | low | high | all
  unsigned buffer_mb = 0;            // --buffersize, of the runtime
  MeasureArguments measures;
  std::vector<std::string> symbols;  // --symbols
  bool keep_nettrace = false;        // --keep-nettrace
  bool live = false;                 // --live
  bool exact = false;                // --exact
  unsigned cap = 0;                  // --live-cap
  bool quiet = false;                // -q
  bool no_progress = false;          // --no-progress
};

// Returns the exit code: the launched program's, or clrscope's own.
int RunRecord(const RecordArguments& arguments);

}  // namespace clrscope::cli
