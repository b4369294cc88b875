// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/symbol_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/file_name.h"
#include "base/guid.h"
#include "base/hash_bytes.h"
#include "fetch/https_get.h"
#include "fetch/url.h"
#include "symbols/pdb/portable_pdb.h"

namespace clrscope::symbol_files {
namespace {

constexpr size_t kMostPdbName = 200;
constexpr int kMostRefusals = 3;  // one after the other

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

Error AnotherFile(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("the symbol server answers with {}", what)};
}

Status CheckPdb(Bytes bytes, const symbols::PdbId& id) {
  const auto pdb = symbols::PortablePdb::Parse(bytes);
  if (!pdb.ok()) return AnotherFile(fmt::format("no portable PDB: {}", pdb.error().message));
  if (pdb->id().guid != id.guid || (id.stamp != 0 && pdb->id().stamp != id.stamp))
    return AnotherFile("the PDB of another build");
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<SymbolServer>> SymbolServer::Open(std::string_view url) {
  std::string text(url == "microsoft" ? kMicrosoft : url);
  while (text.ends_with('/')) text.pop_back();
  ASSIGN_OR_RETURN(const fetch::Url parsed, fetch::ParseUrl(text));
  ASSIGN_OR_RETURN(const std::string folder, SymbolCache::DefaultFolder());
  // Each server has its own: one must not answer for another.
  const std::string own =
      fmt::format("{}/{}-{:08x}", folder, fetch::EncodePathPart(parsed.host),
                  static_cast<uint32_t>(HashBytes(AsBytes(text.data(), text.size()))));
  return std::make_unique<SymbolServer>(std::move(text), SymbolCache(own));
}

Result<OpenFile> SymbolServer::Find(const std::string& key,
                                    const std::function<Status(const OpenFile&)>& check) {
  const std::lock_guard lock(mutex_);
  Result<OpenFile> known = cache_.Find(key);
  if (known.ok() && check(*known).ok()) return known;
  if (!known.ok() && known.error().code == ErrorCode::kRefused)
    return Error{ErrorCode::kNotFound, known.error().message};
  if (gone_) return *gone_;
  Result<OpenFile> file = cache_.Add(
      key,
      [&](ByteSink& sink) { return fetch::HttpsGet(fmt::format("{}/{}", url_, key), {}, sink); },
      check);
  if (file.ok()) {
    refusals_ = 0;
    return file;
  }
  // What a server does not have, or has wrongly, is no reason to ask it no more. Some refuse what
  // they do not have, others refuse everything.
  const ErrorCode why = file.error().code;
  if (why == ErrorCode::kNotFound || why == ErrorCode::kCorrupt)
    cache_.NoteMiss(key);
  else if (why != ErrorCode::kRefused || ++refusals_ == kMostRefusals)
    gone_ = file.error();
  return file;
}

std::string SymbolServer::KeyOf(std::string_view build_id) {
  constexpr size_t kDigits = 40;
  std::string padded(build_id.substr(0, kDigits));
  padded.resize(kDigits, '0');
  return fmt::format("_.debug/elf-buildid-sym-{}/_.debug", padded);
}

Result<ElfParts> SymbolServer::FindElfSymbols(std::string_view build_id) {
  if (build_id.empty() || build_id.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return Error{ErrorCode::kNotFound, "symbols are found by a build id alone"};
  const auto read = [&](const OpenFile& file) -> Result<ElfParts> {
    Result<ElfParts> parts = ElfParts::Read(file);
    if (!parts.ok()) return AnotherFile(fmt::format("no ELF file: {}", parts.error().message));
    if (parts->elf().build_id() != build_id) return AnotherFile("the symbols of another build");
    return parts;
  };
  ASSIGN_OR_RETURN(const OpenFile file, Find(KeyOf(build_id), [&](const OpenFile& found) -> Status {
                     const auto parts = read(found);
                     return parts.ok() ? OkStatus() : Status(parts.error());
                   }));
  return read(file);
}

Result<std::vector<std::byte>> SymbolServer::FindPdb(std::string_view name,
                                                     const symbols::PdbId& id) {
  const std::string file_name = fetch::EncodePathPart(LowerCase(FileNameOf(name)));
  if (file_name.empty() || file_name.size() > kMostPdbName || file_name == "." || file_name == "..")
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' is no name of a PDB", name.substr(0, kMostPdbName))};
  std::vector<std::byte> bytes;
  RETURN_IF_ERROR(
      Find(fmt::format("{}/{}/{}", file_name, symbols::PortablePdbKey(id.guid), file_name),
           [&](const OpenFile& file) -> Status {
             if (file.size() > FileRoot::kMostBytes) return AnotherFile("a file that is too large");
             ASSIGN_OR_RETURN(bytes, file.Read(0, file.size()));
             return CheckPdb(bytes, id);
           }));
  return bytes;
}

std::optional<std::string> SymbolServer::trouble() const {
  const std::lock_guard lock(mutex_);
  if (!gone_) return std::nullopt;
  return fmt::format("the symbol server is not asked any more: {}", gone_->message);
}

}  // namespace clrscope::symbol_files
