// SPDX-License-Identifier: Apache-2.0
#include "places/module_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/hex.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"
#include "symbols/pe/cli_header.h"

namespace clrscope::places {
namespace {

using symbols::Table;
using symbols::TokenOf;

constexpr uint32_t kRowBits = 0xFFFFFF;
// Sources in PDBs that are shown; larger ones are found by their path.
constexpr size_t kMostText = size_t{1} << 20;
constexpr uint64_t kPageBytes = 4096;

Guid GuidFromHex(std::string_view hex) {
  Guid guid{};
  if (hex.size() != 2 * sizeof guid) return guid;
  uint8_t bytes[sizeof guid];
  for (size_t i = 0; i < sizeof guid; ++i)
    if (std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, bytes[i], 16).ec != std::errc{})
      return Guid{};
  std::memcpy(&guid, bytes, sizeof guid);
  return guid;
}

std::string HashText(const symbols::SourceDocument& document) {
  if (document.hash.empty()) return {};
  const char* const algorithm = document.hash_algorithm == symbols::SourceHash::kSha256 ? "sha256:"
                                : document.hash_algorithm == symbols::SourceHash::kSha1 ? "sha1:"
                                                                                        : "other:";
  return algorithm + HexText(document.hash);
}

}  // namespace

ModuleSymbols::ModuleSymbols(const LineModule& module, const symbol_files::ModuleFiles& files,
                             const symbol_files::PdbFinder& pdbs) {
  const Guid guid = GuidFromHex(module.pdb);
  if (const auto file = files.Find(module.path); file.ok()) {
    if (auto bytes = file->Read(); bytes.ok()) image_bytes_ = bytes.Take();
    if (auto image = symbols::PeImage::Parse(image_bytes_, symbols::PeLayout::kFile); image.ok())
      image_ = image.Take();
  }
  if (image_) {
    if (auto code = symbols::R2rCode::Read(*image_); code.ok()) code_ = code.Take();
    if (code_) FindBase(module);
    if (auto bytes = symbols::MetadataBytes(*image_); bytes.ok())
      if (auto metadata = symbols::Metadata::Parse(*bytes); metadata.ok())
        metadata_ = metadata.Take();
  }
  auto found = pdbs.Find(module.path, guid, image_ ? &*image_ : nullptr);
  if (!found.ok()) {
    no_pdb_ = found.error().message;
    return;
  }
  pdb_bytes_ = std::move(found->bytes);
  auto pdb = symbols::PortablePdb::Parse(pdb_bytes_);
  if (!pdb.ok()) {
    no_pdb_ = fmt::format("{} is damaged: {}", found->where, pdb.error().message);
    return;
  }
  pdb_ = pdb.Take();
  links_ = SourceLink(pdb_->source_link());
}

// Methods tell where they begin and, by the image's table, how far from its begin that is.
void ModuleSymbols::FindBase(const LineModule& module) {
  std::optional<uint64_t> candidate;
  for (const LineModule::Anchor& anchor : module.anchors) {
    const auto function = code_->entry_points().FunctionOf(anchor.token & kRowBits);
    if (!function) continue;
    const uint64_t base = anchor.start - code_->Function(*function).begin;
    if (base % kPageBytes != 0 || base > anchor.start) continue;
    if (candidate == base) {
      base_ = base;
      return;
    }
    if (!candidate) candidate = base;
  }
  base_ = candidate;
}

std::optional<uint32_t> ModuleSymbols::RvaOf(const LineRequest& request) const {
  if (base_ && request.address >= *base_ && request.address - *base_ < image_->image_size())
    return static_cast<uint32_t>(request.address - *base_);
  if (!request.file_offset) return std::nullopt;
  for (const symbols::PeSection& s : image_->sections())
    if (*request.file_offset >= s.file_offset && *request.file_offset - s.file_offset < s.file_size)
      return static_cast<uint32_t>(*request.file_offset - s.file_offset + s.rva);
  return std::nullopt;
}

uint32_t ModuleSymbols::TokenOfName(std::string_view owner, std::string_view name) {
  if (!metadata_) return 0;
  // Arguments of generic types are not in metadata.
  owner = owner.substr(0, owner.find('['));
  const auto [at, is_new] = token_of_name_.try_emplace({std::string(owner), std::string(name)}, 0);
  if (!is_new) return at->second;
  uint32_t found = 0;
  for (uint32_t row = 1; row <= metadata_->RowCount(Table::kMethodDef); ++row) {
    const auto method = symbols::FindMethodDef(*metadata_, TokenOf(Table::kMethodDef, row));
    if (!method || method->name != name ||
        symbols::RuntimeTypeName(*metadata_, method->owner) != owner)
      continue;
    if (found != 0) return 0;
    found = method->token;
  }
  return at->second = found;
}

ModuleSymbols::Il ModuleSymbols::PrecompiledIl(const LineRequest& request) {
  Il il{request.token};
  if (!code_) return il;
  const auto rva = RvaOf(request);
  if (!rva) return il;
  const auto main = code_->MainFunctionAt(*rva);
  if (!main) return il;
  const symbols::MethodEntryPoints& methods = code_->entry_points();
  if (il.token != 0) {
    // Methods of generic types and generic methods are not in the table.
    const auto function = methods.FunctionOf(il.token & kRowBits);
    if (function && *function != *main) return il;
  } else if (!std::exchange(tokens_read_, true)) {
    for (uint32_t row = 1; row <= methods.size(); ++row)
      if (const auto function = methods.FunctionOf(row))
        token_of_function_.emplace(*function, TokenOf(Table::kMethodDef, row));
  }
  if (il.token == 0) {
    const auto token = token_of_function_.find(*main);
    il.token = token != token_of_function_.end() ? token->second
                                                 : TokenOfName(request.owner, request.name);
  }
  const auto [map, is_new] = maps_.try_emplace(*main);
  if (is_new)
    if (auto read = code_->MapOf(*main); read.ok()) map->second = read.Take();
  if (map->second.empty()) return il;
  const uint32_t offset = map->second.IlOffsetAt(*rva - code_->Function(*main).begin, request.kind);
  il.offset = static_cast<int32_t>(offset);
  il.next = map->second.NextMapped(offset);
  return il;
}

const std::vector<symbols::SequencePoint>& ModuleSymbols::PointsOf(uint32_t token) {
  const auto [points, is_new] = points_.try_emplace(token);
  if (is_new && pdb_)
    if (auto read = pdb_->SequencePointsOf(token); read.ok()) points->second = read.Take();
  return points->second;
}

const symbols::IlCode& ModuleSymbols::CodeOf(uint32_t token) {
  const auto [code, is_new] = codes_.try_emplace(token);
  if (!is_new || !metadata_) return code->second;
  const auto method = symbols::FindMethodDef(*metadata_, token);
  if (!method || method->il_rva == 0) return code->second;
  if (auto read = symbols::ReadIlCode(image_->FromRva(method->il_rva)); read.ok())
    code->second = read.Take();
  return code->second;
}

ModuleSymbols::Line ModuleSymbols::LineAt(const Il& il, const LineRequest& request) {
  using Sure = profile::Place::Sure;
  const auto offset = static_cast<uint32_t>(il.offset);
  const std::vector<symbols::SequencePoint>& points = PointsOf(il.token);
  if (points.empty()) return {};
  if (request.kind == symbols::AddressKind::kInstruction) {
    const symbols::SequencePoint* const point = symbols::PointAt(points, offset);
    if (point == nullptr) return {};
    const bool other = symbols::IsHidden(points, offset) && !IsStateMachine(il.token);
    return {point->document, point->start_line, other ? Sure::kApproximate : Sure::kExact};
  }
  const symbols::CallPoint call =
      symbols::PointOfCall(points, CodeOf(il.token), offset, il.next, request.map_of);
  if (call.point == nullptr) return {};
  const bool other = !call.certain || (call.hidden && !IsStateMachine(il.token));
  return {call.point->document, call.point->start_line,
          other              ? Sure::kApproximate
          : call.after_throw ? Sure::kAfterThrow
                             : Sure::kExact};
}

// What is hidden there is what an await makes of its statement. Elsewhere it may be of another one:
// Visual Basic hides what a For Each moves on with.
bool ModuleSymbols::IsStateMachine(uint32_t token) const {
  return pdb_ && pdb_->KickoffOf(token) != 0;
}

ModuleSymbols::Line ModuleSymbols::FirstLineOf(uint32_t token) {
  const symbols::SequencePoint* const point = symbols::PointAt(PointsOf(token), 0);
  if (point == nullptr) return {};
  return {point->document, point->start_line, profile::Place::Sure::kApproximate};
}

Result<LineFile> ModuleSymbols::FileOf(uint32_t document) const {
  ASSIGN_OR_RETURN(const symbols::SourceDocument source, pdb_->Document(document));
  LineFile file{source.name, HashText(source), links_.UrlOf(source.name), {}};
  if (auto text = pdb_->EmbeddedSource(document); text.ok() && text->size() <= kMostText)
    file.text.assign(reinterpret_cast<const char*>(text->data()), text->size());
  return file;
}

}  // namespace clrscope::places
