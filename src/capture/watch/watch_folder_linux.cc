// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/units.h"
#include "capture/watch/watch_folder.h"
#include "store/leftover.h"

namespace clrscope::capture {
namespace {

constexpr std::string_view kPrefix = "clrscope.", kSuffix = ".clrscope";
constexpr const char* kLock = ".clrscope-watch.lock";
// What SQLite keeps beside a capture; the capture itself goes last.
constexpr const char* kFiles[] = {"-wal", "-shm", "-journal", ""};

bool IsOurs(std::string_view name) {
  // clrscope.20261121T060000Z.clrscope, with a number behind when a second saw two.
  name.remove_prefix(std::min(name.size(), kPrefix.size()));
  return name.size() >= 16 + kSuffix.size() && name[8] == 'T' && name[15] == 'Z' &&
         std::all_of(name.begin(), name.begin() + 8, [](char c) { return c >= '0' && c <= '9'; });
}

Error FolderError(const std::string& what) {
  return Error{
      errno == EACCES || errno == EPERM || errno == EROFS ? ErrorCode::kPermission : ErrorCode::kIo,
      fmt::format("{}: {}", what, strerror(errno))};
}

}  // namespace

uint64_t WatchFolder::BytesOf(const std::string& path) {
  uint64_t bytes = 0;
  struct stat info {};
  for (const char* suffix : kFiles)
    if (::stat((path + suffix).c_str(), &info) == 0) bytes += static_cast<uint64_t>(info.st_size);
  return bytes;
}

Result<std::unique_ptr<WatchFolder>> WatchFolder::Open(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return FolderError(fmt::format("cannot make {}", path));
  std::unique_ptr<WatchFolder> folder(new WatchFolder);
  folder->path_ = path;
  const std::string lock = path + "/" + kLock;
  folder->lock_ = Fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!folder->lock_.valid()) return FolderError(fmt::format("cannot write in {}", path));
  if (::flock(folder->lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = {};
    (void)!::pread(folder->lock_.get(), owner, sizeof(owner) - 1, 0);
    return Error{ErrorCode::kFailed,
                 fmt::format("another clrscope (process {}) writes into {}: choose another folder",
                             std::string(owner, strcspn(owner, "\n")), path)};
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  (void)!::ftruncate(folder->lock_.get(), 0);
  (void)!::pwrite(folder->lock_.get(), pid.data(), pid.size(), 0);
  return folder;
}

std::vector<std::string> WatchFolder::TakeStock() {
  std::vector<std::string> words;
  files_.clear();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) || !IsOurs(name)) continue;
    const std::string path = entry.path().string();
    const bool left_behind = std::filesystem::exists(path + "-wal", error) ||
                             std::filesystem::exists(path + "-journal", error);
    const Result<store::CaptureSpan> span =
        left_behind ? store::CloseLeftover(path) : store::ReadSpan(path);
    if (!span.ok()) {
      if (span.error().code == ErrorCode::kEmpty) {
        for (const char* suffix : kFiles) std::filesystem::remove(path + suffix, error);
        continue;
      }
      words.push_back(
          fmt::format("{} cannot be read and is left alone: {}", path, span.error().message));
      continue;
    }
    if (left_behind || !span->complete)
      words.push_back(fmt::format("{} was not closed by the watch that wrote it; it holds {} s",
                                  path, span->length_ns / kSecond));
    Add(path, span->start_unix_ns, span->start_unix_ns + span->length_ns);
  }
  return words;
}

std::string WatchFolder::PathFor(int64_t start_unix_ns) const {
  const std::string stem = fmt::format("{}/{}{:%Y%m%dT%H%M%SZ}", path_, kPrefix,
                                       fmt::gmtime(static_cast<time_t>(start_unix_ns / kSecond)));
  std::string path = stem + std::string(kSuffix);
  for (int n = 2; ::access(path.c_str(), F_OK) == 0; ++n)
    path = fmt::format("{}.{}{}", stem, n, kSuffix);
  return path;
}

void WatchFolder::Add(const std::string& path, int64_t start_unix_ns, int64_t end_unix_ns) {
  File file{path, start_unix_ns, end_unix_ns, BytesOf(path)};
  const auto at = std::upper_bound(
      files_.begin(), files_.end(), file,
      [](const File& a, const File& b) { return a.start_unix_ns < b.start_unix_ns; });
  files_.insert(at, std::move(file));
}

uint64_t WatchFolder::bytes() const {
  uint64_t bytes = 0;
  for (const File& f : files_) bytes += f.bytes;
  return bytes;
}

std::string WatchFolder::Delete(size_t file, const std::string& why) {
  const std::string path = files_[file].path;
  bool gone = true;
  for (const char* suffix : kFiles)
    gone = (::unlink((path + suffix).c_str()) == 0 || errno == ENOENT) && gone;
  const std::string words = gone ? fmt::format("deleted {}: {}", path, why)
                                 : fmt::format("cannot delete {}: {}", path, strerror(errno));
  files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(file));
  return words;
}

std::vector<std::string> WatchFolder::Prune(int64_t oldest_unix_ns, uint64_t max_bytes,
                                            uint64_t open_bytes) {
  std::vector<std::string> words;
  for (size_t i = 0; i < files_.size();)
    if (files_[i].end_unix_ns < oldest_unix_ns)
      words.push_back(Delete(i, "its time is over"));
    else
      ++i;
  while (!files_.empty() && bytes() + open_bytes > max_bytes)
    words.push_back(Delete(0, "the folder has reached its size"));
  return words;
}

}  // namespace clrscope::capture
