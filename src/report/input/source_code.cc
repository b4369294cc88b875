// SPDX-License-Identifier: Apache-2.0
#include "report/input/source_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "symbol_files/checksum.h"
#include "symbol_files/file_root.h"

namespace clrscope::report {
namespace {

constexpr uint64_t kMostSourceBytes = uint64_t{16} << 20;

std::string WithSlashes(std::string_view path) {
  std::string out(path);
  std::replace(out.begin(), out.end(), '\\', '/');
  return out;
}

// Whoever made a PDB says where its files are: not outside of the folder that the user named.
bool ClimbsOut(const std::string& path) {
  return ("/" + path + "/").find("/../") != std::string::npos;
}

bool EndsWithPath(const std::string& path, const std::string& end) {
  if (path == end) return true;
  return !end.empty() && path.size() > end.size() && path.ends_with(end) &&
         (end.front() == '/' || path[path.size() - end.size() - 1] == '/');
}

std::vector<std::string> LinesOf(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

Result<uint32_t> FindSourceFile(const profile::Profile& p, std::string_view name) {
  const std::string wanted = WithSlashes(name);
  std::vector<uint32_t> found;
  for (uint32_t i = 1; i < p.source_files.size(); ++i)
    if (EndsWithPath(WithSlashes(p.str(p.source_files[i].path)), wanted)) found.push_back(i);
  if (found.size() == 1) return found.front();
  if (found.empty())
    return Error{ErrorCode::kEmpty,
                 fmt::format("no frame of {} is in a source file {}: `--by line` shows those that "
                             "are known",
                             p.origin, name)};
  std::string names;
  for (const uint32_t i : found)
    names += fmt::format("{}{}", names.empty() ? "" : " and ", p.str(p.source_files[i].path));
  return Error{ErrorCode::kUsage,
               fmt::format("--source {}: that is {}; give more of the path", name, names)};
}

SourceSearch LookForSource(const profile::Profile& p, uint32_t file,
                           const std::vector<std::string>& folders, bool own_path) {
  const profile::SourceFile& source = p.source_files[file];
  if (source.text.value != 0) return {SourceCode{"the PDB", LinesOf(p.str(source.text)), true}, {}};
  const std::string path = WithSlashes(p.str(source.path));
  const std::string_view hash = p.str(source.hash);
  const size_t colon = std::min(hash.find(':'), hash.size());
  SourceSearch out;
  const auto read = [&](const std::string& at) -> std::optional<SourceCode> {
    const auto bytes = symbol_files::FileRoot::Own().Read(at, kMostSourceBytes);
    if (!bytes.ok()) return std::nullopt;
    const std::string is = symbol_files::ChecksumOf(hash.substr(0, colon), *bytes);
    if (!is.empty() && is != hash.substr(std::min(colon + 1, hash.size()))) {
      if (out.another.empty()) out.another = at;
      return std::nullopt;
    }
    return SourceCode{at, LinesOf(AsText(*bytes)), !is.empty()};
  };
  // The whole path below the folder first, the file's name alone last.
  for (const std::string& given : folders) {
    std::error_code error;
    const std::string folder = std::filesystem::absolute(given, error).string();
    for (size_t at = 0; at != std::string::npos; at = path.find('/', at + 1))
      if (const std::string rest = path.substr(at == 0 ? 0 : at + 1); !ClimbsOut(rest))
        if ((out.found = read(fmt::format("{}/{}", folder, rest)))) return out;
  }
  if (own_path) out.found = read(path);
  return out;
}

Result<SourceCode> ReadSource(const profile::Profile& p, uint32_t file,
                              const std::vector<std::string>& folders) {
  SourceSearch search = LookForSource(p, file, folders, true);
  if (search.found) return std::move(*search.found);
  if (!search.another.empty())
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} is not the file that was compiled: its checksum differs; "
                             "--source-path DIR names the folder of that version",
                             search.another)};
  return Error{ErrorCode::kNotFound,
               fmt::format("the text of {} is not at hand: --source-path DIR names the folder of "
                           "the sources",
                           p.str(p.source_files[file].path))};
}

}  // namespace clrscope::report
