// SPDX-License-Identifier: Apache-2.0
// What is recorded beside allocations, or in their place: --exceptions, --locks, --waits,
// --requests, --activities, --only, --measures.
#pragma once

#include <string>

#include "base/result.h"
#include "capture/sessions/target.h"
#include "cli/options/options.h"

namespace clrscope::cli {

struct MeasureArguments {
  bool exceptions = false, messages = false, locks = false, waits = false;
  std::string requests;     // "", "auto" or "all"
  bool activities = false;  // brings requests
  bool actions = false;     // brings requests
  bool cpu = false;
  bool wall = false;           // brings cpu
  uint32_t rate = 0;           // of samples of CPU time, a second of it; 0 = the verb has none
  std::string sampler;         // of CPU time: "" or auto, kernel, ptrace, runtime
  std::string only, measures;  // names, separated by commas
  std::string max_overhead;    // "1%"
  bool lines = false;
};

// `requests`, `activities`, `cpu`, `lines`: whether the verb can follow these.
void AddMeasureOptions(VerbOptions& verb, MeasureArguments& arguments, bool requests = true,
                       bool activities = false, bool cpu = false, bool lines = false);

// `live`: whether live objects are asked for as well. errors: kUsage
Status ChooseMeasures(const MeasureArguments& arguments, bool* live,
                      capture::TargetOptions& options);

}  // namespace clrscope::cli
