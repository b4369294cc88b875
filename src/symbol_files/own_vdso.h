// SPDX-License-Identifier: Apache-2.0
// The code that the kernel maps into every process, for clock_gettime() and the like. It is the
// same in all of this machine, and in no file.
#pragma once

#include <optional>
#include <string_view>

#include "symbol_files/elf_parts.h"

namespace clrscope::symbol_files {

inline constexpr std::string_view kVdsoName = "[vdso]";  // in /proc/PID/maps

// As it is mapped into this process; nothing: it is not. Source: vdso(7)
std::optional<ElfParts> OwnVdso();

}  // namespace clrscope::symbol_files
