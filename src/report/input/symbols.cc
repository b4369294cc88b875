// SPDX-License-Identifier: Apache-2.0
#include "report/input/symbols.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "capture/symbols/native_names.h"
#include "symbol_files/native_symbols.h"

namespace clrscope::report {
Result<std::vector<std::string>> SymbolFolders(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(folder, error);
    if (error || !std::filesystem::is_directory(path, error))
      return Error{ErrorCode::kUsage, fmt::format("--symbols {}: no such folder", folder)};
    out.push_back(path.string());
  }
  return out;
}

std::vector<std::string> SymbolSources::Notes() const {
  if (server != nullptr)
    if (auto trouble = server->trouble()) return {*std::move(trouble)};
  return {};
}

Result<SymbolSources> OpenSymbols(const SymbolOptions& options) {
  SymbolSources sources;
  if (!options.server.empty()) {
    auto opened = symbol_files::SymbolServer::Open(options.server);
    if (!opened.ok())
      return Error{opened.error().code, fmt::format("--symbol-server: {}", opened.error().message)};
    sources.server = opened.Take();
  }
  ASSIGN_OR_RETURN(sources.folders, SymbolFolders(options.folders));
  return sources;
}

void AddSymbols(const SymbolSources& sources, profile::Recording& recording) {
  if (!sources.any()) return;
  symbol_files::NativeSymbols symbols({.folders = sources.folders, .server = sources.server.get()});
  for (const auto& process : recording.processes)
    capture::NameNatives(*process, recording.strings, symbols);
}

Result<std::vector<std::string>> AddSymbols(const SymbolOptions& options,
                                            profile::Recording& recording) {
  ASSIGN_OR_RETURN(const SymbolSources sources, OpenSymbols(options));
  AddSymbols(sources, recording);
  return sources.Notes();
}

}  // namespace clrscope::report
