// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "clr/gc_names.h"
#include "profile/gc/gc_record.h"

namespace clrscope::analysis {

// Why a GC took its generation. Each heap has reasons of its own, with workstation GC too, beside
// those of the GC as a whole, which are mostly empty (GCPerHeapHistory, GCGlobalHeapHistory): the
// highest generations count, and all conditions. Nothing when neither was seen.
std::optional<clr::CondemnedReasons> CondemnedOf(const profile::GcRecord& gc);

}  // namespace clrscope::analysis
