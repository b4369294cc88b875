// SPDX-License-Identifier: Apache-2.0
// What people are told of requests that were followed in windows of time.
#pragma once

#include <string>

#include "profile/requests.h"

namespace clrscope::profile {

// One or two sentences, without the last full stop.
std::string WindowNote(const RequestWindows& windows);
// Of live objects by request.
std::string LiveWindowNote(const RequestWindows& windows);

}  // namespace clrscope::profile
