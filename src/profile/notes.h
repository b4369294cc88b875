// SPDX-License-Identifier: Apache-2.0
// Lines about figures for which a file format has no field of its own: `key: value`, or a sentence.
// Every exporter and the agent's files have them from here.
#pragma once

#include <string>
#include <string_view>

#include "base/loss.h"
#include "profile/estimate/estimate.h"

namespace clrscope::profile {

// "orders (1234)"
std::string ProcessTitle(std::string_view name, uint32_t pid);
std::string ProcessNote(std::string_view title);
std::string RuntimeNote(std::string_view runtime);
// Which event the figures rest on, and what that makes of them.
// by_callbacks: as EventName(). exact: of counted figures: all of them arrived.
std::string EventNote(Source source, bool by_callbacks, bool exact);
std::string SamplesNote(uint64_t samples);
std::string_view BiasNote();  // of AllocationTick
std::string LossNote(Loss loss, uint64_t count);

}  // namespace clrscope::profile
