// SPDX-License-Identifier: Apache-2.0
#include "symbols/pe/debug_directory.h"

#include <algorithm>

#include "symbols/unpack.h"

namespace clrscope::symbols {
namespace {

constexpr size_t kEntrySize = 28;
// A handful is usual.
constexpr size_t kMostEntries = 256;
enum EntryType : uint32_t {
  kCodeView = 2,
  kReproducible = 16,
  kEmbeddedPortablePdb = 17,
  kPdbChecksum = 19
};

struct DebugEntry {
  uint32_t stamp = 0;
  uint16_t minor = 0;
  uint32_t type = 0;
  Bytes data;
};

// Up to a NUL, or to the end where there is none.
std::string_view TextZ(Bytes bytes) {
  const std::string_view text = AsText(bytes);
  return text.substr(0, text.find('\0'));
}

void AddCodeView(const DebugEntry& entry, DebugDirectory& out) {
  constexpr uint16_t kPortable = 0x504d;  // "PM" in the entry's minor version
  ByteReader in(entry.data);
  if (AsText(in.Take(4)) != "RSDS") return;
  CodeView view;
  view.id = {in.Read<Guid>(), entry.stamp};
  view.age = in.U32();
  view.portable = entry.minor == kPortable;
  if (!in.ok()) return;
  view.path = TextZ(in.Take(in.remaining()));
  out.code_views.push_back(view);
}

void AddEmbedded(const DebugEntry& entry, DebugDirectory& out) {
  ByteReader in(entry.data);
  if (AsText(in.Take(4)) != "MPDB") return;
  const uint32_t size = in.U32();
  if (in.ok()) out.embedded = {in.Take(in.remaining()), size};
}

void AddChecksum(const DebugEntry& entry, DebugDirectory& out) {
  const std::string_view algorithm = TextZ(entry.data);
  if (algorithm.size() < entry.data.size())
    out.checksums.push_back({algorithm, entry.data.subspan(algorithm.size() + 1)});
}

Result<std::vector<DebugEntry>> ReadDebugEntries(const PeImage& image) {
  std::vector<DebugEntry> out;
  const DataDirectory where = image.directory(PeImage::kDebug);
  ASSIGN_OR_RETURN(const Bytes table, image.AtRva(where));
  ByteReader in(table);
  for (size_t i = 0; i < kMostEntries && in.remaining() >= kEntrySize; ++i) {
    DebugEntry entry;
    in.Skip(4);
    entry.stamp = in.U32();
    in.Skip(2);
    entry.minor = in.U16();
    entry.type = in.U32();
    const uint32_t size = in.U32(), rva = in.U32(), file_offset = in.U32();
    if (const auto data = image.AtRva({rva, size}); rva != 0 && data.ok())
      entry.data = *data;
    else
      entry.data = image.AtFileOffset(file_offset, size);
    out.push_back(entry);
  }
  return out;
}

}  // namespace

const CodeView* DebugDirectory::ManagedPdb() const {
  const auto portable = std::find_if(code_views.begin(), code_views.end(),
                                     [](const CodeView& view) { return view.portable; });
  if (portable != code_views.end()) return &*portable;
  return code_views.empty() ? nullptr : &code_views.front();
}

Result<DebugDirectory> ReadDebugDirectory(const PeImage& image) {
  ASSIGN_OR_RETURN(const std::vector<DebugEntry> entries, ReadDebugEntries(image));
  DebugDirectory out;
  for (const DebugEntry& entry : entries) {
    switch (entry.type) {
      case kCodeView:
        AddCodeView(entry, out);
        break;
      case kReproducible:
        out.reproducible = true;
        break;
      case kEmbeddedPortablePdb:
        AddEmbedded(entry, out);
        break;
      case kPdbChecksum:
        AddChecksum(entry, out);
        break;
      default:
        break;
    }
  }
  return out;
}

Result<std::vector<Bytes>> DebugDataOf(const PeImage& image) {
  ASSIGN_OR_RETURN(const std::vector<DebugEntry> entries, ReadDebugEntries(image));
  std::vector<Bytes> out;
  for (const DebugEntry& entry : entries) out.push_back(entry.data);
  return out;
}

Result<std::vector<std::byte>> UnpackEmbeddedPdb(const EmbeddedPdb& embedded) {
  if (embedded.deflated.empty())
    return Error{ErrorCode::kNotFound, "the assembly has no embedded PDB"};
  return Inflate(embedded.deflated, embedded.size);
}

}  // namespace clrscope::symbols
