// SPDX-License-Identifier: Apache-2.0
// What the exception clauses of a method's body say. Source: ECMA-335 II.25.4 (method bodies).
#pragma once

#include "base/byte_reader.h"

namespace clrscope::agent {

// Whether a method has an exception filter (`catch (…) when (…)`). `body`: header, code and
// sections, as GetILFunctionBody returns them. True as well for what is cut off or not understood.
bool HasFilter(Bytes body);

}  // namespace clrscope::agent
