// SPDX-License-Identifier: Apache-2.0
// What is recorded beside allocations, or in their place: --exceptions, --locks, --waits,
// --requests, --activities, --only, --measures.
#pragma once

#include <string>
#include <string_view>

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

// What a verb can measure, for its options and their help.
struct VerbMeasures {
  bool requests = true, activities = false, cpu = true, lines = false;
  bool messages = false;                      // what exceptions say
  bool agent = false;                         // live objects and the GC's CPU time
  std::string_view standard = "allocations";  // without any option
};
void AddMeasureOptions(VerbOptions& verb, MeasureArguments& arguments, const VerbMeasures& can);

// `live`: whether live objects are asked for as well. errors: kUsage
Status ChooseMeasures(const MeasureArguments& arguments, bool* live,
                      capture::TargetOptions& options);

}  // namespace clrscope::cli
