// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/file_parts.h"

namespace clrscope::symbol_files {

Result<FileParts> FileParts::Of(std::shared_ptr<const OpenFile> file, uint64_t offset,
                                uint64_t size) {
  ASSIGN_OR_RETURN(SparseMemory memory, SparseMemory::Of(size));
  return FileParts(std::move(file), offset, std::move(memory));
}

Status FileParts::Fill(Bytes part) {
  if (part.empty()) return OkStatus();
  const std::span<std::byte> all = memory_.bytes();
  const auto at = static_cast<size_t>(part.data() - all.data());
  CHECK(part.data() >= all.data() && at <= all.size() && part.size() <= all.size() - at);
  RETURN_IF_ERROR(file_->ReadAt(offset_ + at, all.subspan(at, part.size())));
  return OkStatus();
}

}  // namespace clrscope::symbol_files
