// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "symbol_files/module_files.h"

namespace clrscope::symbol_files {
namespace {

// Of an executable, where the host lies, which holds the marker: its largest form, with the runtime
// inside, has some 12 MB.
constexpr uint64_t kMostHostBytes = uint64_t{64} << 20;
constexpr uint64_t kHostPart = uint64_t{1} << 20;

// Nothing: it is no host.
std::optional<uint64_t> HeaderOf(const OpenFile& executable) {
  const uint64_t end = std::min(executable.size(), kMostHostBytes);
  // Parts overlap, so that one of them has the marker as a whole.
  for (uint64_t at = 0; at < end; at += kHostPart - symbols::kBundleMarkerSize) {
    const auto part = executable.Read(at, kHostPart);
    if (!part.ok()) return std::nullopt;
    if (const auto header = symbols::FindBundleHeader(*part)) return header;
    if (part->size() < kHostPart) return std::nullopt;
  }
  return std::nullopt;
}

// "/app/" of "/app/shop"; "" when it is not known.
std::string FolderOfExecutable(const std::string& link) {
  std::array<char, 4096> path;
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  if (size <= 0 || static_cast<size_t>(size) == path.size()) return {};
  const std::string_view text(path.data(), static_cast<size_t>(size));
  return std::string(text.substr(0, text.rfind('/') + 1));
}

}  // namespace

Status ModuleFile::CheckSize() const {
  const uint64_t size = bundled() ? bundled_.stored_size() : file_->size();
  if (size <= FileRoot::kMostBytes) return OkStatus();
  return Error{ErrorCode::kRefused,
               fmt::format("a module has {} MB, more than the {} MB that are read", size >> 20,
                           FileRoot::kMostBytes >> 20)};
}

Result<std::vector<std::byte>> ModuleFile::Read() const {
  RETURN_IF_ERROR(CheckSize());
  if (!bundled()) return file_->Read(0, file_->size());
  ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                   file_->Read(bundled_.offset, bundled_.stored_size()));
  return symbols::UnpackBundled(bundled_, std::move(bytes));
}

Result<FileParts> ModuleFile::Parts() const {
  RETURN_IF_ERROR(CheckSize());
  if (bundled_.compressed_size != 0)
    return Error{ErrorCode::kRefused, "a compressed module is read as a whole"};
  return FileParts::Of(file_, bundled_.offset, size());
}

Result<ModuleFiles> ModuleFiles::Of(pid_t pid) {
  ASSIGN_OR_RETURN(FileRoot root, FileRoot::Of(pid));
  ModuleFiles files(std::move(root));
  files.bundle_ = BundleOf(pid);
  return files;
}

// What cannot be read of it is as if it were not there: then modules are not found.
std::shared_ptr<const ModuleFiles::Bundle> ModuleFiles::BundleOf(pid_t pid) {
  // The file itself, even if its name means another one by now. Source: proc(5), /proc/PID/exe.
  const std::string link = fmt::format("/proc/{}/exe", pid);
  Fd fd(::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return nullptr;
  auto executable = OpenFile::Of(std::move(fd), link);
  if (!executable.ok()) return nullptr;
  const std::optional<uint64_t> header = HeaderOf(*executable);
  if (!header || *header == 0 || *header >= executable->size()) return nullptr;
  auto bundle = std::make_shared<Bundle>();
  bundle->folder = FolderOfExecutable(link);
  auto bytes = executable->Read(*header, symbols::kMostBundleManifest);
  if (!bytes.ok() || bundle->folder.empty()) return nullptr;
  bundle->bytes = bytes.Take();
  auto manifest = symbols::ReadBundleManifest(bundle->bytes, executable->size());
  if (!manifest.ok()) return nullptr;
  bundle->manifest = manifest.Take();
  bundle->executable = std::make_shared<const OpenFile>(executable.Take());
  return bundle;
}

Result<ModuleFile> ModuleFiles::Find(std::string_view path) const {
  Result<OpenFile> file = root_.Open(path);
  if (file.ok()) return ModuleFile(std::make_shared<const OpenFile>(file.Take()), {});
  if (bundle_ == nullptr || file.error().code != ErrorCode::kNotFound ||
      !path.starts_with(bundle_->folder))
    return file.error();
  const symbols::BundledFile* bundled = bundle_->manifest.Find(path.substr(bundle_->folder.size()));
  if (bundled == nullptr || bundled->offset == 0) return file.error();
  return ModuleFile(bundle_->executable, *bundled);
}

}  // namespace clrscope::symbol_files
