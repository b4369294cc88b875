// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/native_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "symbol_files/own_vdso.h"
#include "symbol_files/symbol_server.h"

namespace clrscope::symbol_files {
namespace {

constexpr std::string_view kDebugFolder = "/usr/lib/debug";
constexpr uint64_t kEntryBytes = 512;  // of what is known of a file without functions

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view FolderOf(std::string_view path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

// ".build-id/93/ac61ec5a…"; "" for what is no build id.
std::string BuildIdPath(std::string_view id) {
  if (id.size() < 6 || id.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return {};
  return fmt::format(".build-id/{}/{}", id.substr(0, 2), id.substr(2));
}

// Looks for the files of one mapped file.
class Search {
 public:
  Search(const FileRoot& root, const MappedFile& mapped, const std::vector<std::string>& folders)
      : root_(root),
        folders_(folders),
        path_(mapped.path),
        build_id_(mapped.build_id),
        same_file_(mapped.same_file) {
    constexpr std::string_view kDeleted = " (deleted)";  // proc(5): a file that was replaced
    if (path_.ends_with(kDeleted)) path_.remove_suffix(kDeleted.size());
  }

  // The file itself, as the process has it, or the user.
  std::optional<ElfParts> Image() {
    Result<OpenFile> file = root_.Open(path_);
    if (file.ok()) {
      if (auto found = Take(*file)) return found;
    } else {
      unreadable_ =
          file.error().code == ErrorCode::kPermission || file.error().code == ErrorCode::kIo;
    }
    const std::string by_id = BuildIdPath(build_id_);
    if (by_id.empty()) return std::nullopt;
    for (const std::string& folder : folders_)
      for (const std::string& path :
           {fmt::format("{}/{}", folder, FileName(path_)), fmt::format("{}/{}", folder, by_id)})
        if (auto found = Open(own_, path)) return found;
    return std::nullopt;
  }

  // What was stripped from it. `link`: of its .gnu_debuglink
  std::optional<ElfParts> Symbols(const std::optional<symbols::DebugLink>& link) {
    const std::string by_id = BuildIdPath(build_id_);
    std::vector<std::pair<const FileRoot*, std::string>> places;
    if (!by_id.empty()) {
      for (const std::string& folder : folders_) {
        places.emplace_back(&own_, fmt::format("{}/{}.debug", folder, by_id));
        for (const char* ending : {".debug", ".dbg", ""})
          places.emplace_back(&own_, fmt::format("{}/{}{}", folder, FileName(path_), ending));
        places.emplace_back(&own_, fmt::format("{}/{}", folder, SymbolServer::KeyOf(build_id_)));
      }
    }
    for (const FileRoot* root : {&root_, &own_}) {
      if (!by_id.empty())
        places.emplace_back(root, fmt::format("{}/{}.debug", kDebugFolder, by_id));
      if (!link) continue;
      const std::string_view folder = FolderOf(path_), name = link->file_name;
      places.emplace_back(root, fmt::format("{}/{}", folder, name));
      places.emplace_back(root, fmt::format("{}/.debug/{}", folder, name));
      places.emplace_back(root, fmt::format("{}{}/{}", kDebugFolder, folder, name));
      if (root_.identity() == own_.identity()) break;
    }
    for (const auto& [root, path] : places) {
      auto found = build_id_.empty() ? OpenByChecksum(*root, path, *link) : Open(*root, path);
      if (found && found->Has(SHT_SYMTAB)) return found;
    }
    return std::nullopt;
  }

  bool unreadable() const { return unreadable_; }

 private:
  // The image, unless it is another build. What is mapped for execution need not be an ELF file:
  // assemblies are not.
  std::optional<ElfParts> Take(const OpenFile& file) {
    Result<ElfParts> parts = ElfParts::Read(file);
    if (!parts.ok()) {
      unreadable_ =
          parts.error().code == ErrorCode::kIo || parts.error().code == ErrorCode::kRefused;
      return std::nullopt;
    }
    if (parts->elf().build_id() != build_id_ || (build_id_.empty() && !same_file_))
      return std::nullopt;
    return parts.Take();
  }

  // Of this build.
  std::optional<ElfParts> Open(const FileRoot& root, const std::string& path) {
    const Result<OpenFile> file = root.Open(path);
    if (!file.ok()) return std::nullopt;
    Result<ElfParts> parts = ElfParts::Read(*file);
    if (!parts.ok() || parts->elf().build_id() != build_id_) return std::nullopt;
    return parts.Take();
  }

  std::optional<ElfParts> OpenByChecksum(const FileRoot& root, const std::string& path,
                                         const symbols::DebugLink& link) {
    const auto whole = root.Read(path);
    if (!whole.ok() || !link.Matches(*whole)) return std::nullopt;
    Result<ElfParts> parts = ElfParts::Copy(*whole);
    if (!parts.ok()) return std::nullopt;
    return parts.Take();
  }

  const FileRoot& root_;
  const FileRoot own_ = FileRoot::Own();
  const std::vector<std::string>& folders_;
  std::string_view path_;
  std::string build_id_;
  bool same_file_ = false;
  bool unreadable_ = false;
};

}  // namespace

std::shared_ptr<const NativeFunctions> NativeSymbols::Read(const FileRoot& root,
                                                           const MappedFile& mapped) {
  ++counts_.files;
  auto functions = std::make_shared<NativeFunctions>();
  if (mapped.path == kVdsoName) {
    if (auto vdso = OwnVdso()) functions->AddImage(std::move(*vdso));
    functions->Finish();
    return functions;
  }
  Search search(root, mapped, options_.folders);
  std::optional<ElfParts> image = search.Image();
  if (search.unreadable() && !image) ++counts_.unreadable;
  const bool whole = image && image->Has(SHT_SYMTAB);
  if (!whole && (image || !mapped.build_id.empty())) {
    std::optional<symbols::DebugLink> link;
    if (image) link = image->elf().debug_link();
    auto symbols = search.Symbols(link);
    if (!symbols && image)
      if (auto packed = image->elf().UnpackDebugData(); packed.ok())
        functions->AddUnpacked(packed.Take());
    if (!symbols && options_.server != nullptr && !mapped.build_id.empty())
      if (auto found = options_.server->FindElfSymbols(mapped.build_id); found.ok())
        symbols.emplace(found.Take());
    if (symbols) functions->AddSymbols(std::move(*symbols));
  }
  if (image) functions->AddImage(std::move(*image));
  functions->Finish();
  counts_.left_out += functions->left_out();
  return functions;
}

std::shared_ptr<const NativeFunctions> NativeSymbols::Of(const FileRoot& root,
                                                         const MappedFile& mapped) {
  Key key(root.identity(), mapped.path, mapped.build_id);
  const auto [at, is_new] = by_key_.try_emplace(key);
  if (is_new) {
    Known known{std::move(key), Read(root, mapped), 0};
    known.bytes = kEntryBytes + known.functions->bytes();
    bytes_ += known.bytes;
    known_.push_front(std::move(known));
    at->second = known_.begin();
  } else {
    known_.splice(known_.begin(), known_, at->second);
  }
  const std::shared_ptr<const NativeFunctions> functions = known_.front().functions;
  while (bytes_ > options_.most_bytes && known_.size() > 1) {
    bytes_ -= known_.back().bytes;
    by_key_.erase(known_.back().key);
    known_.pop_back();
  }
  return functions->size() == 0 ? nullptr : functions;
}

}  // namespace clrscope::symbol_files
