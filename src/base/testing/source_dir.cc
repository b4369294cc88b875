// SPDX-License-Identifier: Apache-2.0
#include "base/testing/source_dir.h"

namespace clrscope {

std::string SourceDir() { return CLRSCOPE_SOURCE_DIR; }

}  // namespace clrscope
