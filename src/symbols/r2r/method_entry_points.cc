// SPDX-License-Identifier: Apache-2.0
#include "symbols/r2r/method_entry_points.h"

namespace clrscope::symbols {

Result<MethodEntryPoints> MethodEntryPoints::Read(const PeImage& image, const R2rHeader& header) {
  MethodEntryPoints out;
  ASSIGN_OR_RETURN(out.section_,
                   image.AtRva(header.Section(R2rSectionType::kMethodDefEntryPoints)));
  out.array_ = NativeArray(out.section_);
  return out;
}

std::optional<uint32_t> MethodEntryPoints::FunctionOf(uint32_t method_row) const {
  if (method_row == 0) return std::nullopt;
  const auto offset = array_.Find(method_row - 1);
  if (!offset) return std::nullopt;
  ByteReader in(section_.subspan(*offset));
  // The low bits say whether, and where, what the method needs before it runs is listed.
  const uint32_t entry = ReadNativeUnsigned(in);
  if (!in.ok()) return std::nullopt;
  return (entry & 1) != 0 ? entry >> 2 : entry >> 1;
}

}  // namespace clrscope::symbols
