// SPDX-License-Identifier: Apache-2.0
// What tells one build of an ELF file from another: its .note.gnu.build-id.
#pragma once

#include <string>

#include "base/byte_reader.h"

namespace clrscope {

// In hex; "" where there is none, and for files of other kinds.
std::string ElfBuildId(Bytes image);
// Of an open file, of which the headers and notes are read.
std::string ElfBuildId(int fd);

}  // namespace clrscope
