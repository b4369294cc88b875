// SPDX-License-Identifier: Apache-2.0
// What the agent is asked to do: "key=value,key=value", from CLRSCOPE_OPTS at a start-up load, else
// from whoever attaches it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace clrscope::agent {

struct Options {
  int64_t every_ns = 60'000'000'000;  // every: an interval, for the spool; 1s … 1h
  bool allocations = true;            // allocations: sample them; without them nothing is followed
  bool live = true;                   // live: follow sampled objects
  bool idle = false;                  // idle: measure nothing, and answer commands
  bool exceptions = false;            // exceptions: each one that is thrown
  bool locks = false;                 // locks: each wait for a lock that is held
  bool requests = false;              // requests: which activity followed objects are of
  bool lines = false;                 // lines: intervals tell the addresses of methods' frames
  bool native = false;                // native: … and of native code between methods
  bool waits = false;                 // waits: each other wait, .NET 9 and later; brings locks
  uint32_t cap = 20'000;              // cap: how many of them
  double max_overhead = 0;            // max_overhead: a part of the program's CPU; 0 = no limit
  std::string output;                 // output: of the spool; %n program, %p pid, %t time
  bool owned = false;     // owned: whoever attached stays connected; the agent lets go when it goes
  bool async = true;      // async: follow who awaits async methods
  bool selftest = false;  // selftest: walk each stack both ways and count differences
  bool snapshots = false;      // walk=snapshot: only the runtime's own walk
  bool exact = false;          // exact: every allocation, at a start-up load only
  std::string control_folder;  // of the control socket; "" = the runtime's. Set by tests alone
  std::vector<std::pair<std::string, std::string>> labels;  // label.KEY: into every sample
};

// What `text` does not name stays as in `from`.
// errors: kUsage, with the key that is not known or the value that is not understood
Result<Options> ParseOptions(std::string_view text, Options from = {});

// The same for an agent that is at work. errors: also kRefused, with what cannot be changed then
Result<Options> ChangeOptions(std::string_view text, const Options& now);

}  // namespace clrscope::agent
