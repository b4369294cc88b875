// SPDX-License-Identifier: Apache-2.0
// The parts of gcstats' text, and how its cells are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/families/gc/gc_report.h"
#include "profile/profile.h"
#include "report/gc/text.h"

namespace clrscope::report::gctext {

inline constexpr const char* kUnknown = "–";
std::string Millis(double ns);
std::string Millis(int64_t ns);
std::string Mib(int64_t bytes);
std::string Percent(double v);
// What a "!" or "?" behind a collection tells.
std::string Marks(const profile::GcBrief& gc);
// The first columns of the table of collections.
std::vector<std::string> Cells(const profile::GcRecord& gc, const analysis::GcFigures& figures);
// "gen0 → gen1, budget of gen1, fragmented_gen2": why it collected what it did.
std::string Condemned(const profile::GcRecord& gc);

// Sections; "" where there is nothing to say.
std::string Collections(const analysis::ProcessGcs& report, const profile::Profile& profile,
                        const GcTextOptions& options);
// Of all collections: what their marking found from which roots, what they promoted, and why they
// took their generation.
std::string SumsOf(const analysis::ProcessGcs& report, const GcTextOptions& options);
std::string Advice(const analysis::ProcessGcs& report, const GcTextOptions& options);
std::string InducedBy(const analysis::ProcessGcs& report, const profile::Profile& profile,
                      const GcTextOptions& options);
std::string AllocatedBefore(const analysis::ProcessGcs& report, const profile::Profile& profile,
                            const GcTextOptions& options);
std::string PinnedAndFinalized(const analysis::ProcessGcs& report, const profile::Profile& profile,
                               const GcTextOptions& options);
std::string Remarks(const analysis::ProcessGcs& report, const profile::Profile& profile,
                    const GcTextOptions& options);

}  // namespace clrscope::report::gctext
