// SPDX-License-Identifier: Apache-2.0
// Symbols of files by their build, from a server that the user named.
// Source: dotnet/symstore docs/specs/SSQP_Key_Conventions.md, Simple_Symbol_Query_Protocol.md
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "symbol_files/elf_parts.h"
#include "symbol_files/symbol_cache.h"
#include "symbols/pdb_id.h"

namespace clrscope::symbol_files {

// Any thread may ask; one is answered at a time. What was had, and what was not, is in a cache.
class SymbolServer {
 public:
  static constexpr std::string_view kMicrosoft = "https://msdl.microsoft.com/download/symbols";

  // `url`: HTTPS, or HTTP of this machine; "microsoft" is kMicrosoft.
  // errors: kUsage (no such address), as SymbolCache::DefaultFolder()
  static Result<std::unique_ptr<SymbolServer>> Open(std::string_view url);
  SymbolServer(std::string url, SymbolCache cache)
      : url_(std::move(url)), cache_(std::move(cache)) {}

  // Where a server, or a folder of what it has, keeps what was stripped from the ELF file with this
  // build id.
  static std::string KeyOf(std::string_view build_id);

  // What was stripped from the ELF file with this build id (hex).
  // errors: kNotFound (the server does not have it), those of fetch::HttpsGet() and of the cache;
  // once the server could not be asked, that error at once
  Result<ElfParts> FindElfSymbols(std::string_view build_id);
  // The portable PDB `name` ("Orders.pdb"; folders of either kind in it are left away) with this
  // id. A stamp of 0 is any: the server knows the GUID alone. errors: the same
  Result<std::vector<std::byte>> FindPdb(std::string_view name, const symbols::PdbId& id);

  // Why the server is not asked any more, as a sentence for people; nothing: it answers.
  std::optional<std::string> trouble() const;

 private:
  Result<OpenFile> Find(const std::string& key,
                        const std::function<Status(const OpenFile&)>& check);

  const std::string url_;
  const SymbolCache cache_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<Error> gone_;
  int refusals_ = 0;
};

}  // namespace clrscope::symbol_files
