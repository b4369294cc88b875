// SPDX-License-Identifier: Apache-2.0
// What a recording lacks of names, from symbols that are to be had where it is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/tables/process_tables.h"
#include "symbol_files/symbol_server.h"

namespace clrscope::report {

// As the user says. Nothing is looked for, and nobody asked, by default.
struct SymbolOptions {
  std::vector<std::string> folders;
  std::string server;  // "microsoft", or an address; "" = none

  bool any() const { return !folders.empty() || !server.empty(); }
};

// Absolute paths of folders. errors: kUsage (there is none of that name)
Result<std::vector<std::string>> SymbolFolders(const std::vector<std::string>& folders);

// Where symbols are looked for.
struct SymbolSources {
  std::vector<std::string> folders;
  std::unique_ptr<symbol_files::SymbolServer> server;  // null: none

  bool any() const { return !folders.empty() || server != nullptr; }
  // What the user should know of them, a sentence each.
  std::vector<std::string> Notes() const;
};
// errors: kUsage (no such folder, no such address)
Result<SymbolSources> OpenSymbols(const SymbolOptions& options);

// Names native code of the recording's processes.
void AddSymbols(const SymbolSources& sources, profile::Recording& recording);
// The same of what options say. Returns what the user should know. errors: as OpenSymbols()
Result<std::vector<std::string>> AddSymbols(const SymbolOptions& options,
                                            profile::Recording& recording);

}  // namespace clrscope::report
