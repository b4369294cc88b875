// SPDX-License-Identifier: Apache-2.0
// The rows of every view of `report`, in one shape for text, JSON and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/views/tables.h"
#include "report/json.h"

namespace clrscope::report {

enum class View {
  kType,
  kSite,
  kStack,
  kMethod,
  kLine,
  kKind,
  kThread,
  kAssembly,
  kProcess,
  kTime,
  kAge,
  kGeneration,
  kOwner,
  kMessage,
  kState,
  kRequest,
  kTree,
  kBottomUp
};

inline constexpr size_t kAllRows = static_cast<size_t>(-1);

struct RowOptions {
  profile::SortBy sort = profile::SortBy::kAmount;
  size_t limit = kAllRows;
  bool framework = false;  // raw leaves and machinery
  int64_t bucket_ns = 0;   // --by time; 0 = chosen
};

struct ReportRow {
  Json key;  // what the row is about, in the words of the JSON schema
  profile::Estimate value;
  profile::Estimate self;  // of methods and lines: `value` is their total then
  bool partial = false;    // of a type that the runtime counts in part
  profile::HeapKind kind = profile::HeapKind::kUnknown;  // of rows that tell heaps apart
};

struct ReportTable {
  View view = View::kSite;
  std::vector<ReportRow> rows;  // the first `limit`
  size_t all_rows = 0;
};

ReportTable MakeTable(const profile::Profile& profile, View view, const RowOptions& options);

// "--by" names; "time:10s" is taken apart by the verb.
std::string_view ViewName(View view);

// Adds a process's name, pid and its index in `processes`: a pid may be used again.
void AddProcess(Json& key, const profile::Profile& profile, uint32_t process);
// Adds samples, bytes, bytes_low … to `json`, each name after `prefix`. Unknown is null.
void AddEstimate(Json& json, const profile::Estimate& value, const profile::Profile& profile,
                 std::string_view prefix = "", bool partial = false,
                 profile::HeapKind kind = profile::HeapKind::kUnknown);
// One row as it is in JSON; its CSV is the same members, flat.
Json RowJson(const ReportRow& row, const ReportTable& table, const profile::Profile& profile,
             const profile::Estimate& total);

}  // namespace clrscope::report
