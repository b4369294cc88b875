// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "base/elf_build_id.h"
#include "base/fd.h"
#include "capture/proc/image_reader.h"
#include "capture/proc/maps_line.h"

namespace clrscope::capture {

const std::string& ImageReader::BuildId(const std::string& file, const std::string& path,
                                        unsigned long long inode) {
  if (build_ids_.size() > profile::ImageMap::kMost) build_ids_.clear();
  const auto [at, is_new] = build_ids_.try_emplace(file);
  if (!is_new) return at->second;
  // Another file may have taken its name, or something that is no file at all.
  const Fd fd(::open(fmt::format("/proc/{}/root{}", pid_, path).c_str(),
                     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat s;
  if (fd.valid() && ::fstat(fd.get(), &s) == 0 && S_ISREG(s.st_mode) && s.st_ino == inode)
    at->second = ElfBuildId(fd.get());
  return at->second;
}

std::optional<std::vector<profile::Image>> ImageReader::Read(StringPool& strings) {
  return Parse(MapsOf(pid_), strings);
}

std::optional<std::vector<profile::Image>> ImageReader::Parse(std::string_view maps,
                                                              StringPool& strings) {
  std::vector<profile::Image> images;
  MapsLine line;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    const std::string_view whole = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!ParseMapsLine(whole, line) || !line.executable()) continue;
    profile::Image image;
    image.start = line.start;
    image.end = line.end;
    image.offset = line.offset;
    if (!line.path.starts_with(kRuntimeCodeFile)) image.path = strings.Intern(line.path);
    if (line.path.starts_with('/') && !image.generated()) {
      const std::string path(line.path);
      image.build_id = strings.Intern(
          BuildId(fmt::format("{} {} {}", line.device, line.inode, path), path, line.inode));
    }
    images.push_back(image);
  }
  // One that has ended has none.
  if (images.empty()) return std::nullopt;
  return images;
}

}  // namespace clrscope::capture
