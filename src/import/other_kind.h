// SPDX-License-Identifier: Apache-2.0
// What a file is that is none of those that are read.
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::import {

// As many first bytes as tell kinds apart.
inline constexpr size_t kHeadBytes = 512;

// A sentence with what to do about it. `head`: of what it holds, unpacked where it is `gzipped`;
// `otherwise`: the error where the bytes say nothing
Error OtherKind(const std::string& path, Bytes head, bool gzipped, Error otherwise);

}  // namespace clrscope::import
