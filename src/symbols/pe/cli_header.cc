// SPDX-License-Identifier: Apache-2.0
#include "symbols/pe/cli_header.h"

namespace clrscope::symbols {

Result<CliHeader> ReadCliHeader(const PeImage& image) {
  const DataDirectory where = image.directory(PeImage::kCliHeader);
  if (where.size == 0) return Error{ErrorCode::kNotFound, "the PE file is no .NET assembly"};
  ByteReader in(image.FromRva(where.rva));
  const auto directory = [&in] {
    const uint32_t rva = in.U32();
    return DataDirectory{rva, in.U32()};
  };
  CliHeader header;
  in.Skip(8);  // its size and the runtime's version
  header.metadata = directory();
  header.flags = in.U32();
  header.entry_point_token = in.U32();
  in.Skip(5 * 8);  // resources, strong name, code manager, vtable fixups, export jumps
  header.managed_native_header = directory();
  if (!in.ok()) return Error{ErrorCode::kTruncated, "the assembly ends in its CLI header"};
  return header;
}

Result<Bytes> MetadataBytes(const PeImage& image) {
  ASSIGN_OR_RETURN(const CliHeader header, ReadCliHeader(image));
  return image.AtRva(header.metadata);
}

}  // namespace clrscope::symbols
