// SPDX-License-Identifier: Apache-2.0
// A portable PDB: which source a method's IL came from.
// Source: dotnet/runtime docs/design/specs/PortablePdb-Metadata.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/guid.h"
#include "base/result.h"
#include "symbols/metadata/metadata.h"
#include "symbols/pdb/sequence_points.h"
#include "symbols/pe/debug_directory.h"

namespace clrscope::symbols {

enum class SourceLanguage : uint8_t { kOther, kCsharp, kVisualBasic, kFsharp };
enum class SourceHash : uint8_t { kNone, kOther, kSha1, kSha256 };

struct SourceDocument {
  std::string name;  // the compiler's path, in UTF-8; perhaps of another machine or system
  SourceLanguage language = SourceLanguage::kOther;
  SourceHash hash_algorithm = SourceHash::kNone;
  Bytes hash;
};

// Views into the bytes that it was read from.
class PortablePdb {
 public:
  // errors: kRefused for a Windows PDB, which is another format; else as Metadata::Parse()
  static Result<PortablePdb> Parse(Bytes bytes);

  const PdbId& id() const { return id_; }
  // That it was made with the module of this entry, and not with another build of it.
  // errors: kNotFound
  Status CheckMatches(const CodeView& module) const;

  uint32_t document_count() const { return metadata_.RowCount(Table::kDocument); }
  // By row, from 1. errors: kNotFound; kCorrupt when its name is damaged
  Result<SourceDocument> Document(uint32_t row) const;
  // The text of a document in the PDB itself, in the encoding of its file. errors: kNotFound, as
  // Inflate()
  Result<std::vector<std::byte>> EmbeddedSource(uint32_t document_row) const;

  // Of a MethodDef's IL, in its order, those without a line kept. Empty: no source is known.
  // errors: kCorrupt
  Result<std::vector<SequencePoint>> SequencePointsOf(Token method) const;
  // The async method or iterator whose MoveNext this is; 0: none.
  Token KickoffOf(Token move_next) const;

  // JSON that maps documents to addresses; "" where there is none.
  std::string_view source_link() const;

  const Metadata& metadata() const { return metadata_; }

 private:
  // What hangs on a row by the kind `kind`; empty: nothing.
  Bytes CustomInformation(Token parent, const Guid& kind) const;

  Metadata metadata_;
  PdbId id_;
};

}  // namespace clrscope::symbols
