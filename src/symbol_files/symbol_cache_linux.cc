// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "symbol_files/symbol_cache.h"

namespace clrscope::symbol_files {
namespace {

constexpr std::string_view kMiss = ".missing";

Error CacheError(const std::string& path, int error) {
  return {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          fmt::format("{}: {}", path, std::strerror(error))};
}

class DescriptorSink final : public ByteSink {
 public:
  explicit DescriptorSink(int fd) : fd_(fd) {}
  Status Write(std::string_view bytes) override {
    while (!bytes.empty() && error_ == 0) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) error_ = errno;
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    }
    if (error_ == 0) return OkStatus();
    return Error{ErrorCode::kIo, std::strerror(error_)};
  }

 private:
  int fd_;
  int error_ = 0;
};

// Every folder above the last '/' of `path`, for this user alone.
void MakeFolders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    (void)::mkdir(path.substr(0, at).c_str(), 0700);
}

Result<OpenFile> OpenAt(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return CacheError(path, errno);
  return OpenFile::Of(std::move(fd), path);
}

}  // namespace

Result<std::string> SymbolCache::DefaultFolder() {
  const auto absolute = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";  // as the XDG specification has it
  };
  if (const std::string cache = absolute("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/clrscope/symbols";
  if (const std::string home = absolute("HOME"); !home.empty())
    return home + "/.cache/clrscope/symbols";
  return Error{ErrorCode::kNotFound,
               "a symbol server needs a folder for what comes from it: set XDG_CACHE_HOME"};
}

std::string SymbolCache::PathOf(std::string_view key) const {
  return fmt::format("{}/{}", folder_, key);
}

Result<OpenFile> SymbolCache::Find(std::string_view key) const {
  const std::string path = PathOf(key);
  Result<OpenFile> file = OpenAt(path);
  if (file.ok() || file.error().code != ErrorCode::kNotFound) return file;
  struct stat s;
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  constexpr auto kHolds = std::chrono::seconds(kMissesHold).count();
  if (::stat((path + std::string(kMiss)).c_str(), &s) == 0 && s.st_mtime <= now.tv_sec &&
      now.tv_sec - s.st_mtime < kHolds)
    return Error{ErrorCode::kRefused, fmt::format("the server did not have {} before", key)};
  return file;
}

Result<OpenFile> SymbolCache::Add(std::string_view key, const std::function<Status(ByteSink&)>& get,
                                  const std::function<Status(const OpenFile&)>& check) const {
  const std::string path = PathOf(key);
  MakeFolders(path);
  std::string part = path + ".XXXXXX";
  const Fd fd(::mkostemp(part.data(), O_CLOEXEC));
  if (!fd.valid())
    return Error{ErrorCode::kIo,
                 fmt::format("{}: {}; name another folder in XDG_CACHE_HOME",
                             path.substr(0, path.rfind('/')), std::strerror(errno))};
  const auto fill = [&]() -> Status {
    DescriptorSink sink(fd.get());
    RETURN_IF_ERROR(get(sink));
    ASSIGN_OR_RETURN(const OpenFile file, OpenAt(part));
    RETURN_IF_ERROR(check(file));
    if (::rename(part.c_str(), path.c_str()) != 0) return CacheError(path, errno);
    return OkStatus();
  };
  if (const Status filled = fill(); !filled.ok()) {
    ::unlink(part.c_str());
    return filled.error();
  }
  ::unlink((path + std::string(kMiss)).c_str());
  return OpenAt(path);
}

void SymbolCache::NoteMiss(std::string_view key) const {
  const std::string path = PathOf(key) + std::string(kMiss);
  MakeFolders(path);
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.valid()) (void)::futimens(fd.get(), nullptr);
}

}  // namespace clrscope::symbol_files
