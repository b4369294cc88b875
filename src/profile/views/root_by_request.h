// SPDX-License-Identifier: Apache-2.0
// Stacks below the request that they ran for.
#pragma once

#include "profile/profile.h"

namespace clrscope::profile {

// The route ("GET /items/{id}", "(no request)") becomes the outermost frame, which is kPseudo, of
// each stack of the figures that know requests: Figure::by_request(). Requests themselves have no
// stacks. Cells stay as many and in their order, so that what came when stays with them; nodes are
// added after those that there are, which other figures, live objects and collections refer to.
void RootByRequest(Profile& profile);

}  // namespace clrscope::profile
