// SPDX-License-Identifier: Apache-2.0
// The rule of profile/stacks/throw_rule.h, on a profile.
#pragma once

#include <string_view>

#include "profile/profile.h"
#include "profile/stacks/throw_rule.h"

namespace clrscope::analysis {

using profile::Throw;

// `node`: of the event, in `profile`; `type`: the exception's name.
Throw ThrowAt(const profile::Profile& profile, uint32_t node, std::string_view type);

}  // namespace clrscope::analysis
