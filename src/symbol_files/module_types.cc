// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/module_types.h"

#include <algorithm>
#include <utility>

#include "symbols/pe/cli_header.h"
#include "symbols/pe/debug_directory.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::symbol_files {
namespace {

using symbols::Metadata;
using symbols::NestedTypes;
using symbols::PeImage;

// Of an assembly of which parts are there once they were asked for by `fill`.
template <class Fill>
Result<ModuleTypes> ReadTypes(Bytes assembly, Fill&& fill) {
  constexpr size_t kHeaderBytes = 4096, kCliHeaderBytes = 72;
  // The largest of .NET itself have 4 MB.
  constexpr size_t kMostMetadata = size_t{64} << 20;
  // More than what tells of a PDB has: its name.
  constexpr size_t kMostDebugData = 8192;
  const auto first = [](Bytes bytes, size_t size) {
    return bytes.first(std::min(bytes.size(), size));
  };
  RETURN_IF_ERROR(fill(first(assembly, kHeaderBytes)));
  ASSIGN_OR_RETURN(const PeImage image, PeImage::Parse(assembly, symbols::PeLayout::kFile));
  const symbols::DataDirectory cli = image.directory(PeImage::kCliHeader);
  RETURN_IF_ERROR(fill(first(image.FromRva(cli.rva), kCliHeaderBytes)));
  ASSIGN_OR_RETURN(const Bytes bytes, symbols::MetadataBytes(image));
  if (bytes.size() > kMostMetadata) return Error{ErrorCode::kRefused, "its metadata are too large"};
  RETURN_IF_ERROR(fill(bytes));
  ASSIGN_OR_RETURN(const Metadata metadata, Metadata::Parse(bytes));
  auto types = NestedTypes::Of(metadata);
  if (!types) return Error{ErrorCode::kRefused, "its types' names are too large"};
  ModuleTypes out{std::move(*types), {}};

  const auto debug = image.AtRva(image.directory(PeImage::kDebug));
  if (!debug.ok()) return out;
  RETURN_IF_ERROR(fill(*debug));
  if (const auto data = symbols::DebugDataOf(image); data.ok())
    for (const Bytes entry : *data)
      if (entry.size() <= kMostDebugData) RETURN_IF_ERROR(fill(entry));
  if (const auto directory = symbols::ReadDebugDirectory(image); directory.ok())
    for (const symbols::CodeView& view : directory->code_views) out.pdbs.push_back(view.id.guid);
  return out;
}

Result<ModuleTypes> ReadTypesOf(const ModuleFile& file) {
  if (auto parts = file.Parts(); parts.ok())
    return ReadTypes(parts->bytes(), [&](Bytes part) { return parts->Fill(part); });
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, file.Read());
  return ReadTypes(Bytes(bytes), [](Bytes) { return OkStatus(); });
}

}  // namespace

bool ModuleTypesCache::Knows(const ModuleFileId& id) const {
  const std::lock_guard lock(mutex_);
  return known_.contains(id);
}

std::shared_ptr<const ModuleTypes> ModuleTypesCache::Of(const ModuleFile& file) {
  // Held while it is read: who asks for the same file meanwhile needs not read it again.
  const std::lock_guard lock(mutex_);
  if (const auto it = known_.find(file.id()); it != known_.end()) return it->second;
  std::shared_ptr<const ModuleTypes> types;
  if (auto read = ReadTypesOf(file); read.ok())
    types = std::make_shared<const ModuleTypes>(read.Take());
  constexpr size_t kEntryBytes = 256;
  const size_t bytes = kEntryBytes + (types == nullptr ? 0 : types->types.memory_bytes());
  if (bytes_ + bytes > kMostBytes) {
    known_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  known_.emplace(file.id(), types);
  return types;
}

}  // namespace clrscope::symbol_files
