// SPDX-License-Identifier: Apache-2.0
// Without a clrscope beside it, the agent writes each interval as an uncompressed pprof file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

// What frames refer to; whole, not only what is new.
struct Dictionaries {
  const std::vector<profile::IntervalMethod>& methods;
  const std::vector<profile::IntervalType>& types;  // type id - 1
  const std::vector<profile::IntervalNode>& nodes;  // node id - 1
};
using Labels = std::vector<std::pair<std::string, std::string>>;

// The frame as `convert` would write it (pprof/memory_writer.h), and the user's own labels.
// program: its main module, "" when unknown
std::string EncodePprof(const profile::IntervalFrame& frame, const Dictionaries& dictionaries,
                        const Labels& labels, std::string_view program = {});

// A CPU profile of two frames, the garbage collector and the rest; "" when it is not known.
std::string EncodeGcCpuPprof(const profile::IntervalFrame& frame, const Labels& labels,
                             std::string_view program = {});

// %n → name, %p → pid, %t → the time as 20261121T101500Z, %% → %.
std::string ExpandName(std::string_view pattern, std::string_view name, uint32_t pid,
                       int64_t unix_ns);

// The file names of one agent's intervals, one after the other.
class SpoolNames {
 public:
  // As ExpandName; but where the pattern tells the time, which it does in seconds, a second
  // interval that ends within one gets "-2" before its extension, in place of overwriting the
  // first.
  std::string Next(std::string_view pattern, std::string_view name, uint32_t pid, int64_t unix_ns);

 private:
  std::string last_;
  int of_last_ = 1;
};

// "dir/x.pb", "-gccpu" → "dir/x-gccpu.pb"
std::string BeforeExtension(const std::string& path, std::string_view suffix);

// Under another name first, so that a reader never sees half of it. Makes the folder.
Status WriteAtomically(const std::string& path, std::string_view bytes);

// What people call this process: its entry assembly or executable, by /proc/self/cmdline.
std::string ProgramName();

}  // namespace clrscope::agent
