// SPDX-License-Identifier: Apache-2.0
#include "symbols/pdb/portable_pdb.h"

#include <fmt/format.h>

#include "symbols/metadata/compressed.h"
#include "symbols/unpack.h"

namespace clrscope::symbols {
namespace {

constexpr std::string_view kWindowsPdb = "Microsoft C/C++ MSF 7.00\r\n";
constexpr size_t kMostDocumentName = 32 << 10;

constexpr Guid kCsharp = {
    0x3f5162f8, 0x07c6, 0x11d3, {0x90, 0x53, 0x00, 0xc0, 0x4f, 0xa3, 0x02, 0xa1}};
constexpr Guid kVisualBasic = {
    0x3a12d0b8, 0xc26c, 0x11d0, {0xb4, 0x42, 0x00, 0xa0, 0x24, 0x4a, 0x1d, 0xd2}};
constexpr Guid kFsharp = {
    0xab4f38c9, 0xb6e6, 0x43ba, {0xbe, 0x3b, 0x58, 0x08, 0x0b, 0x2c, 0xcc, 0xe3}};
constexpr Guid kSha1 = {
    0xff1816ec, 0xaa5e, 0x4d10, {0x87, 0xf7, 0x6f, 0x49, 0x63, 0x83, 0x34, 0x60}};
constexpr Guid kSha256 = {
    0x8829d00f, 0x11b8, 0x4213, {0x87, 0x8b, 0x77, 0x0e, 0x85, 0x97, 0xac, 0x16}};
constexpr Guid kEmbeddedSource = {
    0x0e8a571b, 0x6926, 0x466e, {0xb4, 0xad, 0x8a, 0xb0, 0x46, 0x11, 0xf5, 0xfe}};
constexpr Guid kSourceLink = {
    0xcc110556, 0xa091, 0x4d38, {0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a}};

SourceLanguage LanguageOf(const Guid& guid) {
  if (guid == kCsharp) return SourceLanguage::kCsharp;
  if (guid == kVisualBasic) return SourceLanguage::kVisualBasic;
  if (guid == kFsharp) return SourceLanguage::kFsharp;
  return SourceLanguage::kOther;
}

SourceHash HashOf(const Guid& guid) {
  if (guid == kSha1) return SourceHash::kSha1;
  if (guid == kSha256) return SourceHash::kSha256;
  return guid == Guid{} ? SourceHash::kNone : SourceHash::kOther;
}

// A separator, and the offsets of the blobs that stand between it.
Result<std::string> DocumentName(const Metadata& metadata, Bytes blob) {
  ByteReader in(blob);
  const auto separator = static_cast<char>(in.U8());
  std::string out;
  for (bool first = true; in.ok() && in.remaining() != 0; first = false) {
    if (!first && separator != '\0') out += separator;
    out += AsText(metadata.Blob(ReadCompressed(in)));
    if (out.size() > kMostDocumentName) in.Fail();
  }
  if (!in.ok()) return Error{ErrorCode::kCorrupt, "the name of a document in the PDB is damaged"};
  return out;
}

}  // namespace

Result<PortablePdb> PortablePdb::Parse(Bytes bytes) {
  if (AsText(bytes).starts_with(kWindowsPdb))
    return Error{ErrorCode::kRefused,
                 "this is a Windows PDB: build with DebugType=portable to have lines"};
  PortablePdb out;
  ASSIGN_OR_RETURN(out.metadata_, Metadata::Parse(bytes));
  if (!out.metadata_.pdb_id())
    return Error{ErrorCode::kCorrupt, "the metadata are those of a module, not of a PDB"};
  out.id_ = *out.metadata_.pdb_id();
  return out;
}

Status PortablePdb::CheckMatches(const CodeView& module) const {
  if (module.id == id_) return OkStatus();
  return Error{
      ErrorCode::kNotFound,
      fmt::format("the PDB is of another build: it has {}-{:08x}, the module {}-{:08x}",
                  GuidText(id_.guid), id_.stamp, GuidText(module.id.guid), module.id.stamp)};
}

Result<SourceDocument> PortablePdb::Document(uint32_t row) const {
  if (row == 0 || row > document_count())
    return Error{ErrorCode::kNotFound, fmt::format("the PDB has no document {}", row)};
  const auto guid = [&](unsigned column) {
    return metadata_.GuidAt(Table::kDocument, row, column);
  };
  SourceDocument out;
  ASSIGN_OR_RETURN(out.name, DocumentName(metadata_, metadata_.BlobAt(Table::kDocument, row,
                                                                      column::kDocumentName)));
  out.language = LanguageOf(guid(column::kDocumentLanguage));
  out.hash_algorithm = HashOf(guid(column::kDocumentHashAlgorithm));
  out.hash = metadata_.BlobAt(Table::kDocument, row, column::kDocumentHash);
  return out;
}

Result<std::vector<std::byte>> PortablePdb::EmbeddedSource(uint32_t document_row) const {
  const Bytes blob = CustomInformation(TokenOf(Table::kDocument, document_row), kEmbeddedSource);
  ByteReader in(blob);
  // 0: as it is; more: the size that it unpacks to.
  const int32_t size = in.I32();
  if (!in.ok()) return Error{ErrorCode::kNotFound, "the PDB does not have the document's text"};
  if (size < 0) return Error{ErrorCode::kCorrupt, "a text in the PDB is of an unknown format"};
  const Bytes text = in.Take(in.remaining());
  if (size == 0) return std::vector<std::byte>(text.begin(), text.end());
  return Inflate(text, static_cast<size_t>(size));
}

Result<std::vector<SequencePoint>> PortablePdb::SequencePointsOf(Token method) const {
  if (TableOf(method) != Table::kMethodDef) return std::vector<SequencePoint>();
  const uint32_t row = RowOf(method);
  return DecodeSequencePoints(
      metadata_.BlobAt(Table::kMethodDebugInformation, row, column::kMethodSequencePoints),
      metadata_.Cell(Table::kMethodDebugInformation, row, column::kMethodDocument));
}

Token PortablePdb::KickoffOf(Token move_next) const {
  const auto coded =
      metadata_.Coded(Table::kStateMachineMethod, column::kMoveNextMethod, move_next);
  if (!coded) return 0;
  const RowRange rows =
      metadata_.Equal(Table::kStateMachineMethod, column::kMoveNextMethod, *coded);
  if (rows.size() == 0) return 0;
  return metadata_.TokenAt(Table::kStateMachineMethod, rows.first, column::kKickoffMethod);
}

std::string_view PortablePdb::source_link() const {
  return AsText(CustomInformation(TokenOf(Table::kModule, 1), kSourceLink));
}

Bytes PortablePdb::CustomInformation(Token parent, const Guid& kind) const {
  constexpr Table kTable = Table::kCustomDebugInformation;
  const auto coded = metadata_.Coded(kTable, column::kCustomParent, parent);
  if (!coded) return {};
  const RowRange rows = metadata_.Equal(kTable, column::kCustomParent, *coded);
  for (uint32_t row = rows.first; row < rows.end; ++row)
    if (metadata_.GuidAt(kTable, row, column::kCustomKind) == kind)
      return metadata_.BlobAt(kTable, row, column::kCustomValue);
  return {};
}

}  // namespace clrscope::symbols
