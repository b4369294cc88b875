// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "symbol_files/sparse_memory.h"

namespace clrscope::symbol_files {

Result<SparseMemory> SparseMemory::Of(uint64_t size) {
  if (size == 0) return SparseMemory({});
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Error{ErrorCode::kRefused,
                 fmt::format("no room for a file of {} bytes: {}", size, std::strerror(errno))};
  return SparseMemory({static_cast<std::byte*>(data), static_cast<size_t>(size)});
}

SparseMemory::~SparseMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace clrscope::symbol_files
