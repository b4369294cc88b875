// SPDX-License-Identifier: Apache-2.0
#include "symbols/r2r/r2r_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "symbols/pe/cli_header.h"

namespace clrscope::symbols {
namespace {

constexpr uint32_t kR2rSignature = 0x00525452;  // "RTR"
constexpr uint32_t kMostSections = 256, kMostComponents = 4096, kMostExports = 64 << 10;
constexpr size_t kR2rSectionSize = 12, kComponentSize = 16;

Error R2rEnds() { return Error{ErrorCode::kTruncated, "the precompiled image ends in its header"}; }

DataDirectory ReadDirectory(ByteReader& in) {
  const uint32_t rva = in.U32();
  return {rva, in.U32()};
}

// Flags and sections, which components of a composite have alone.
Status ReadCore(ByteReader& in, R2rHeader& out) {
  out.flags = in.U32();
  const uint32_t count = in.U32();
  if (!in.ok() || count > in.remaining() / kR2rSectionSize) return R2rEnds();
  if (count > kMostSections)
    return Error{ErrorCode::kCorrupt, fmt::format("the precompiled image has {} sections", count)};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t type = in.U32();
    out.sections.push_back({type, ReadDirectory(in)});
  }
  return OkStatus();
}

// The RVA that the export table has for `name`; 0: none.
uint32_t ExportRva(const PeImage& image, std::string_view name) {
  const DataDirectory where = image.directory(PeImage::kExport);
  if (where.size == 0) return 0;
  ByteReader in(image.FromRva(where.rva));
  in.Skip(20);
  const uint32_t functions = in.U32(), names = in.U32();
  const uint32_t functions_rva = in.U32(), names_rva = in.U32(), ordinals_rva = in.U32();
  if (!in.ok()) return 0;
  const Bytes name_rvas = image.FromRva(names_rva), ordinals = image.FromRva(ordinals_rva),
              rvas = image.FromRva(functions_rva);
  const size_t count =
      std::min<size_t>({names, name_rvas.size() / 4, ordinals.size() / 2, kMostExports});
  for (size_t i = 0; i < count; ++i) {
    const Bytes text = image.FromRva(LoadAt<uint32_t>(name_rvas.data() + 4 * i));
    if (text.size() <= name.size() || AsText(text.first(name.size())) != name ||
        text[name.size()] != std::byte{0})
      continue;
    const auto ordinal = LoadAt<uint16_t>(ordinals.data() + 2 * i);
    if (ordinal >= functions || ordinal >= rvas.size() / 4) return 0;
    return LoadAt<uint32_t>(rvas.data() + size_t{4} * ordinal);
  }
  return 0;
}

}  // namespace

DataDirectory R2rHeader::Section(R2rSectionType type) const {
  for (const R2rSection& section : sections)
    if (section.type == static_cast<uint32_t>(type)) return section.where;
  return {};
}

Result<R2rHeader> ReadR2rHeader(const PeImage& image) {
  // A composite exports it by name, and may have no CLI header.
  uint32_t rva = 0;
  if (const auto cli = ReadCliHeader(image); cli.ok()) rva = cli->managed_native_header.rva;
  if (rva == 0) rva = ExportRva(image, "RTR_HEADER");
  if (rva == 0) return Error{ErrorCode::kNotFound, "the image has no precompiled code"};
  ByteReader in(image.FromRva(rva));
  if (in.U32() != kR2rSignature)
    return Error{ErrorCode::kNotFound, "the image's native code is not ReadyToRun"};
  R2rHeader out;
  out.major = in.U16();
  out.minor = in.U16();
  RETURN_IF_ERROR(ReadCore(in, out));
  return out;
}

std::string_view OwnerComposite(const PeImage& image, const R2rHeader& component) {
  const auto name = image.AtRva(component.Section(R2rSectionType::kOwnerCompositeExecutable));
  if (!name.ok()) return {};
  return AsText(*name).substr(0, AsText(*name).find('\0'));
}

Result<std::vector<R2rHeader>> ReadR2rComponents(const PeImage& image, const R2rHeader& composite) {
  ASSIGN_OR_RETURN(const Bytes table,
                   image.AtRva(composite.Section(R2rSectionType::kComponentAssemblies)));
  ByteReader in(table);
  std::vector<R2rHeader> out;
  while (in.remaining() >= kComponentSize && out.size() < kMostComponents) {
    in.Skip(8);  // its CLI header, where its IL is in the composite
    ByteReader core(image.FromRva(ReadDirectory(in).rva));
    R2rHeader component;
    component.major = composite.major;
    component.minor = composite.minor;
    RETURN_IF_ERROR(ReadCore(core, component));
    out.push_back(std::move(component));
  }
  return out;
}

}  // namespace clrscope::symbols
