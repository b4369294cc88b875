// SPDX-License-Identifier: Apache-2.0
// The reader process's program (src/dac/) as it lies in this one.
#pragma once

#include "base/byte_reader.h"

namespace clrscope::inspect {

Bytes ReaderImage();

}  // namespace clrscope::inspect
