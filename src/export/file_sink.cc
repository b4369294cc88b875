// SPDX-License-Identifier: Apache-2.0
// Temporary file, buffered writes, rename.
#include "export/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

namespace clrscope::exporter {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;

Error IoError(int error, std::string message) {
  const ErrorCode code = error == EACCES || error == EPERM || error == EROFS
                             ? ErrorCode::kPermission
                         : error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                                                               : ErrorCode::kIo;
  return Error{code, fmt::format("{}: {}", message, std::strerror(error))};
}

Error ExistsError(const std::string& path) {
  return Error{
      ErrorCode::kUsage,
      fmt::format("{} exists already: choose another name or allow it to be replaced", path)};
}

}  // namespace

Result<std::unique_ptr<FileSink>> FileSink::Create(const std::string& path, IfExists if_exists) {
  std::unique_ptr<FileSink> sink(new FileSink(path == "-" ? "" : path, if_exists));
  RETURN_IF_ERROR(sink->Open());
  return sink;
}

FileSink::~FileSink() { Discard(); }

Status FileSink::Open() {
  buffer_.reserve(kBufferBytes);
  if (path_.empty()) {
    file_ = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!file_.valid()) return IoError(errno, "cannot write to standard output");
    return OkStatus();
  }
  struct stat info {};
  const bool exists = ::stat(path_.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    file_ = Fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_.valid()) return IoError(errno, "cannot open " + path_);
    return OkStatus();
  }
  if (exists && if_exists_ == IfExists::kRefuse) return ExistsError(path_);
  if (char resolved[PATH_MAX]; exists && ::realpath(path_.c_str(), resolved) != nullptr) {
    path_ = resolved;
  }
  std::random_device random;
  do {
    temporary_ = fmt::format("{}.tmp-{:08x}", path_, random());
    file_ = Fd(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!file_.valid() && errno == EEXIST);
  if (!file_.valid()) {
    const int error = errno;
    temporary_.clear();
    return IoError(error, "cannot create " + path_);
  }
  return OkStatus();
}

Status FileSink::Write(std::string_view bytes) {
  if (!failure_.empty()) return Error{ErrorCode::kIo, failure_};
  if (!file_.valid()) return Error{ErrorCode::kIo, path_ + " is finished already"};
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes ? OkStatus() : Flush();
}

Status FileSink::Flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t n = ::write(file_.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(errno);
    left.remove_prefix(static_cast<size_t>(n));
  }
  buffer_.clear();
  return OkStatus();
}

Status FileSink::Finish() {
  if (!failure_.empty()) return Error{ErrorCode::kIo, failure_};
  if (!file_.valid()) return OkStatus();
  RETURN_IF_ERROR(Flush());
  if (::close(file_.release()) != 0) return Fail(errno);  // NFS and quotas may speak up only here
  return temporary_.empty() ? OkStatus() : Rename();
}

Status FileSink::Rename() {
  if (if_exists_ == IfExists::kRefuse) {
    // link() is the rename that refuses; file systems without hard links get the plain one.
    if (::link(temporary_.c_str(), path_.c_str()) == 0) {
      Discard();
      return OkStatus();
    }
    if (errno == EEXIST) {
      Discard();
      failure_ = ExistsError(path_).message;
      return ExistsError(path_);
    }
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Fail(errno);
  temporary_.clear();
  return OkStatus();
}

Status FileSink::Fail(int error) {
  Discard();
  Error e =
      IoError(error, "cannot write " + (path_.empty() ? std::string("to standard output") : path_));
  failure_ = e.message;
  return e;
}

void FileSink::Discard() {
  file_.reset();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace clrscope::exporter
