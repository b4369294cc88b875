// SPDX-License-Identifier: Apache-2.0
// Checksums by which compilers tell which source a PDB is of.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_reader.h"

namespace clrscope::symbol_files {

// Of `bytes` in hex, by "sha256" or "sha1"; "" for any other.
std::string ChecksumOf(std::string_view algorithm, Bytes bytes);

}  // namespace clrscope::symbol_files
