// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/pdb_finder.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/file_name.h"
#include "base/guid.h"
#include "symbols/pdb/portable_pdb.h"
#include "symbols/pe/debug_directory.h"

namespace clrscope::symbol_files {
namespace {

using symbols::PortablePdb;

std::string WithPdb(std::string_view path) {
  const size_t name = path.size() - FileNameOf(path).size();
  const size_t dot = path.rfind('.');
  return std::string(
             path.substr(0, dot == std::string_view::npos || dot < name ? path.size() : dot)) +
         ".pdb";
}

std::string Upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace

Result<PdbFinder::Found> PdbFinder::Find(std::string_view module, const Guid& guid,
                                         const symbols::PeImage* image) const {
  Guid wanted = guid;
  std::optional<symbols::DebugDirectory> debug;
  if (image != nullptr)
    if (auto read = symbols::ReadDebugDirectory(*image); read.ok()) debug = read.Take();
  const symbols::CodeView* const view = debug ? debug->ManagedPdb() : nullptr;
  if (wanted == Guid{} && view != nullptr) wanted = view->id.guid;
  if (view != nullptr && !view->portable)
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has a Windows PDB, which is not read: build it with "
                             "DebugType=portable",
                             FileNameOf(module))};
  if (wanted == Guid{})
    return Error{ErrorCode::kNotFound, fmt::format("{} names no PDB", FileNameOf(module))};
  std::string other;  // where one of another build is
  const auto matches = [&](Bytes bytes, const std::string& where) {
    const Result<PortablePdb> pdb = PortablePdb::Parse(bytes);
    if (!pdb.ok()) return false;
    const bool same = pdb->id().guid == wanted &&
                      (view == nullptr || view->id.guid != wanted || pdb->CheckMatches(*view).ok());
    if (!same) other = where;
    return same;
  };
  if (debug && !debug->embedded.deflated.empty())
    if (auto bytes = symbols::UnpackEmbeddedPdb(debug->embedded);
        bytes.ok() && matches(*bytes, "the module"))
      return Found{bytes.Take(), "in the module"};
  const auto at = [&](const ModuleFiles& files, const std::string& path) -> std::optional<Found> {
    if (path.empty() || path.front() != '/') return std::nullopt;
    const auto file = files.Find(path);
    if (!file.ok()) return std::nullopt;
    auto bytes = file->Read();
    if (!bytes.ok() || !matches(*bytes, path)) return std::nullopt;
    return Found{bytes.Take(), path};
  };
  const ModuleFiles own = ModuleFiles::Own();
  if (auto found = at(files_, WithPdb(module))) return std::move(*found);
  std::string name(FileNameOf(WithPdb(module)));
  if (view != nullptr && !view->path.empty()) {
    if (auto found = at(files_, std::string(view->path))) return std::move(*found);
    // A build of this machine that runs in a container.
    if (auto found = at(own, std::string(view->path))) return std::move(*found);
    name = FileNameOf(view->path);
  }
  for (const std::string& folder : folders_)
    for (const std::string& below :
         {name, fmt::format("{}/{}/{}", name, symbols::PortablePdbKey(wanted), name),
          fmt::format("{}/{}/{}", name, Upper(symbols::PortablePdbKey(wanted)), name)})
      if (auto found = at(own, fmt::format("{}/{}", folder, below))) return std::move(*found);
  if (server_) {
    auto bytes = server_(name, wanted);
    if (bytes.ok() && matches(*bytes, "the symbol server"))
      return Found{bytes.Take(), "the symbol server"};
  }
  return Error{ErrorCode::kNotFound,
               other.empty() ? fmt::format("{} has no PDB", FileNameOf(module))
                             : fmt::format("{} has no PDB of its own build: {} is of another one",
                                           FileNameOf(module), other)};
}

}  // namespace clrscope::symbol_files
