// SPDX-License-Identifier: Apache-2.0
// A recording from a file of any kind that clrscope reads, bound and narrowed to what was asked
// for.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/aggregate.h"
#include "analysis/families/live/leaks.h"
#include "base/result.h"
#include "profile/profile.h"
#include "profile/views/filter.h"
#include "report/input/symbols.h"

namespace clrscope::report {

struct InputOptions {
  std::string path;      // "-" = a nettrace on standard input; a folder of pprof files
  std::string from, to;  // durations since the start; "" = open
  profile::Filter filter;
  std::string event;    // "", "sampled", "tick", "counted"
  bool leaks = false;   // verdicts too
  std::string measure;  // MeasureSpec::name; "" = the first that was recorded
  bool live = false;    // what lives, in place of what was allocated
  // What is kept of each cell: what a filter of the view that is shown needs.
  analysis::Aggregate::Detail detail{};
  // Source lines of frames: none, those that the recording holds, or also those that modules and
  // PDBs at hand add.
  enum class Lines : uint8_t { kNone, kRecorded, kAll };
  Lines lines = Lines::kNone;
  SymbolOptions symbols;    // for names and lines that the recording lacks
  std::string slower_than;  // of requests: a duration, p50, p95, p99; goes into the filter
  std::string older_than;   // of live objects: a duration, one of kAgeStarts; "" = any age
};

struct Input {
  profile::Profile profile;
  analysis::TimeRange range;
  bool ranged = false;        // --from or --to was given
  uint32_t older_than_s = 0;  // of live objects
  std::optional<analysis::Leaks> leaks;
  std::vector<std::string> line_notes;  // about source lines that are not known
  // Damaged or cut input: what is wrong and where. Everything before it is in the profile.
  std::optional<Error> damage;
  std::vector<std::string> notes;  // what else the user should know, a sentence each
};

// errors: the options' (kUsage), or a file of which nothing can be read
Result<Input> LoadInput(const InputOptions& options);

// `InputOptions::slower_than` as a part of the filter; "" leaves it as it is. errors: kUsage
Status ResolveSlowerThan(const std::string& text, profile::Filter& filter);

// The time range that --from and --to mean. errors: kUsage
Result<analysis::TimeRange> RangeOf(const InputOptions& options);

// A file of which nothing could be read is a failure, not incomplete data.
Error Unreadable(Error e);
// What is wrong with a capture that nobody closed.
Error UnfinishedCapture(const std::string& path, int64_t end_ns);

// Chooses the figure that tables show. errors: kUsage (no such measure), kEmpty (it was not
// recorded)
Status ShowMeasure(const InputOptions& options, Input& input);

// What may be missing where something was not recorded, as the end of a sentence that says so; ""
// where nothing is known to be. `damaged`: as Input::damage.
std::string ButMissing(const profile::Profile& profile, bool damaged);

// That nobody followed live objects, or not within the time that was asked for.
Error NoLiveObjects(const Input& input, const InputOptions& options);

// Why the profile has no rows: a sentence for exit code 3, or none when it has some.
std::optional<Error> EmptyReason(const Input& input, const InputOptions& options);

}  // namespace clrscope::report
