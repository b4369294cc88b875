// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <memory>

#include "symbol_files/own_vdso.h"

namespace clrscope::symbol_files {

std::optional<ElfParts> OwnVdso() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             &std::fclose);
  if (!maps) return std::nullopt;
  char line[4096];
  while (std::fgets(line, sizeof(line), maps.get()) != nullptr) {
    unsigned long start = 0, end = 0;
    if (std::strstr(line, kVdsoName.data()) == nullptr ||
        std::sscanf(line, "%lx-%lx", &start, &end) != 2 || end <= start)
      continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    Result<ElfParts> parts = ElfParts::Copy(AsBytes(reinterpret_cast<void*>(start), end - start));
    if (!parts.ok()) return std::nullopt;
    return parts.Take();
  }
  return std::nullopt;
}

}  // namespace clrscope::symbol_files
