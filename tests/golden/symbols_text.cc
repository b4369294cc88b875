// SPDX-License-Identifier: Apache-2.0
#include "symbols_text.h"

#include <fmt/format.h>

#include <iterator>

#include "clr/type_name.h"
#include "symbols/metadata/field_type.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"
#include "symbols/pdb/portable_pdb.h"
#include "symbols/pe/cli_header.h"
#include "symbols/pe/debug_directory.h"

namespace clrscope::golden {
namespace {

using namespace symbols;

std::string Hex(Bytes bytes) {
  std::string out;
  for (const std::byte b : bytes) out += fmt::format("{:02x}", static_cast<unsigned>(b));
  return out;
}

std::string Digest(Bytes bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  return fmt::format("{}:{:x}", bytes.size(), hash);
}

std::string AssemblyText(const AssemblyName& a) {
  return fmt::format("{} {}.{}.{}.{} {}\n", a.name, a.major, a.minor, a.build, a.revision,
                     Hex(a.public_key));
}

class Text {
 public:
  Status Image(Bytes bytes) {
    ASSIGN_OR_RETURN(const PeImage image, PeImage::Parse(bytes, PeLayout::kFile));
    ASSIGN_OR_RETURN(const Bytes metadata, MetadataBytes(image));
    ASSIGN_OR_RETURN(md_, Metadata::Parse(metadata));
    ASSIGN_OR_RETURN(debug_, ReadDebugDirectory(image));
    Put("module {} {}\n", ModuleFileName(md_), GuidText(ModuleMvid(md_)));
    if (const auto assembly = FindAssembly(md_)) out_ += "assembly " + AssemblyText(*assembly);
    for (uint32_t row = 1; row <= md_.RowCount(Table::kAssemblyRef); ++row)
      out_ += "reference " + AssemblyText(*FindAssemblyRef(md_, TokenOf(Table::kAssemblyRef, row)));
    for (uint32_t i = 0; i < kTableCount; ++i)
      if (const auto table = static_cast<Table>(i); md_.RowCount(table) != 0)
        Put("table {:x} {} {}\n", i, md_.RowCount(table), md_.Layout(table).row_size);
    for (const CodeView& c : debug_.code_views)
      Put("codeview {} {:x} {} {} {}\n", GuidText(c.id.guid), c.id.stamp, c.age,
          c.portable ? "portable" : "windows", c.path);
    for (const PdbChecksum& c : debug_.checksums)
      Put("checksum {} {}\n", c.algorithm, Hex(c.value));
    return Types();
  }

  Status Pdb(Bytes bytes) {
    std::vector<std::byte> unpacked;
    if (bytes.empty() && !debug_.embedded.deflated.empty()) {
      ASSIGN_OR_RETURN(unpacked, UnpackEmbeddedPdb(debug_.embedded));
      bytes = unpacked;
    }
    if (bytes.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const PortablePdb pdb, PortablePdb::Parse(bytes));
    if (const CodeView* view = debug_.ManagedPdb()) RETURN_IF_ERROR(pdb.CheckMatches(*view));
    Put("pdb {}\n", Hex(AsBytes(&pdb.id(), sizeof(PdbId))));
    RETURN_IF_ERROR(Documents(pdb));
    RETURN_IF_ERROR(Points(pdb));
    return Sources(pdb);
  }

  std::string Take() { return std::move(out_); }

 private:
  template <class... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  Status Types() {
    for (uint32_t row = 1; row <= md_.RowCount(Table::kTypeRef); ++row) {
      const Token token = TokenOf(Table::kTypeRef, row);
      Put("typeref {:x} {} {:x}\n", token, RuntimeTypeName(md_, token),
          FindTypeRef(md_, token)->scope);
    }
    for (uint32_t row = 1; row <= md_.RowCount(Table::kTypeDef); ++row) {
      const auto type = *FindTypeDef(md_, TokenOf(Table::kTypeDef, row));
      Put("type {:x} {} {:x} {:x} {:x} <{}>\n", type.token, RuntimeTypeName(md_, type.token),
          type.flags, type.extends, type.owner, fmt::join(type.generic_parameters, ","));
      for (const FieldDef& field : FieldsOf(md_, type.token)) {
        ASSIGN_OR_RETURN(const FieldType declared,
                         DecodeFieldType(md_, field.signature, type.token));
        Put("field {:x} {} {:x} {}\n", field.token, field.name, field.flags, declared.name);
      }
    }
    for (uint32_t row = 1; row <= md_.RowCount(Table::kMethodDef); ++row) {
      const auto method = *FindMethodDef(md_, TokenOf(Table::kMethodDef, row));
      Put("method {:x} {:x} {} {:x} {:x} {} {}\n", method.token, method.owner, method.name,
          method.flags, method.il_rva, method.generic_parameters.size(), Digest(method.signature));
    }
    return OkStatus();
  }

  Status Documents(const PortablePdb& pdb) {
    for (uint32_t row = 1; row <= pdb.document_count(); ++row) {
      ASSIGN_OR_RETURN(const SourceDocument document, pdb.Document(row));
      const auto guid = [&](unsigned column) {
        return GuidText(pdb.metadata().GuidAt(Table::kDocument, row, column));
      };
      const Token token = TokenOf(Table::kDocument, row);
      Put("document {:x} {} {} {} {}\n", token, document.name, guid(column::kDocumentLanguage),
          guid(column::kDocumentHashAlgorithm), Hex(document.hash));
    }
    return OkStatus();
  }

  Status Sources(const PortablePdb& pdb) {
    const std::string_view link = pdb.source_link();
    if (!link.empty()) Put("sourcelink {}\n", Digest(AsBytes(link.data(), link.size())));
    for (uint32_t row = 1; row <= pdb.document_count(); ++row) {
      const auto source = pdb.EmbeddedSource(row);
      if (source.ok())
        Put("source {:x} {}\n", TokenOf(Table::kDocument, row), Digest(*source));
      else if (source.error().code != ErrorCode::kNotFound)
        return source.error();
    }
    return OkStatus();
  }

  Status Points(const PortablePdb& pdb) {
    const uint32_t methods = pdb.metadata().RowCount(Table::kMethodDebugInformation);
    for (uint32_t row = 1; row <= methods; ++row) {
      const Token method = TokenOf(Table::kMethodDef, row);
      Put("points {:x} kickoff {:x}\n", row, pdb.KickoffOf(method));
      ASSIGN_OR_RETURN(const auto points, pdb.SequencePointsOf(method));
      for (const SequencePoint& p : points) {
        Put("  {:x} {:x} ", p.il_offset, TokenOf(Table::kDocument, p.document));
        if (p.hidden())
          Put("hidden\n");
        else
          Put("{}:{}-{}:{}\n", p.start_line, p.start_column, p.end_line, p.end_column);
      }
    }
    return OkStatus();
  }

  Metadata md_;
  DebugDirectory debug_;
  std::string out_;
};

}  // namespace

Result<std::string> SymbolsText(Bytes assembly, Bytes pdb) {
  Text text;
  RETURN_IF_ERROR(text.Image(assembly));
  RETURN_IF_ERROR(text.Pdb(pdb));
  return text.Take();
}

}  // namespace clrscope::golden
