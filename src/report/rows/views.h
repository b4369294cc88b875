// SPDX-License-Identifier: Apache-2.0
// Which tables each measure has, and which filters narrow them: one sentence for each that is not.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/views/filter.h"
#include "report/input/input.h"
#include "report/rows/rows.h"

namespace clrscope::report {

// Of the measure that is shown. No view: the tables that are shown by default. errors: kUsage
Status CheckView(const profile::Profile& profile, std::optional<View> view,
                 const profile::Filter& filter);

// `--request` of `leaks`. errors: kEmpty, kUsage
Status CheckLiveRequests(const profile::Profile& profile, const profile::Filter& filter);

// `--root`: puts stacks below what it names, "request"; "" nothing. errors: kEmpty (no requests
// were recorded), kUsage (the measure that is shown does not know them)
Status ApplyRoot(const std::string& root, profile::Profile& profile);

// What filters of a view need of each cell.
analysis::Aggregate::Detail DetailFor(std::optional<View> view, const profile::Filter& filter);

// Why a table of threads is empty, or lacks a process: a sentence, or nothing.
std::string ThreadsMissing(const profile::Profile& profile);

}  // namespace clrscope::report
