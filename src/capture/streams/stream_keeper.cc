// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <string_view>

namespace clrscope::capture {
namespace {

constexpr int kMostNumbers = 1000;

Error WriteError(const std::string& path, int error) {
  return Error{
      error == EACCES || error == EPERM || error == EROFS ? ErrorCode::kPermission : ErrorCode::kIo,
      fmt::format("cannot write {}: {}", path, strerror(error))};
}

// errno, or 0.
int WriteAll(int fd, Bytes bytes, uint64_t& written) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    written += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

std::vector<std::byte> AlignmentBlock(uint64_t file_offset, uint64_t alignment) {
  std::string block;
  const auto u32 = [&block](uint32_t v) {
    block.append(reinterpret_cast<const char*>(&v), sizeof(v));
  };
  const auto u16 = [&block](uint16_t v) {
    block.append(reinterpret_cast<const char*>(&v), sizeof(v));
  };
  constexpr std::string_view kName = "EventBlock";
  constexpr uint16_t kHeaderBytes = 20;
  block.append("\x05\x05\x01", 3);  // begin object, begin type, no type of its own
  u32(2);                           // version and minimum reader of blocks since V4
  u32(2);
  u32(kName.size());
  block.append(kName);
  block.push_back('\x06');
  // The content begins at a multiple of 4 and the end tag follows it, so its length decides.
  const auto header = static_cast<uint16_t>(kHeaderBytes + (alignment + 3) % 4);
  u32(header);
  while ((file_offset + block.size()) % 4 != 0) block.push_back('\0');
  u16(header);
  u16(1);                                             // compressed rows
  block.append(header - 2 * sizeof(uint16_t), '\0');  // times of the first and last event
  block.push_back('\x06');
  const auto* begin = reinterpret_cast<const std::byte*>(block.data());
  return {begin, begin + block.size()};
}

void StreamKeeper::File::Append(StreamRing::Item&& item, uint32_t version) {
  stream_bytes_ += item.skipped_bytes;
  // From V6 on blocks are not aligned.
  if (version < 6 && !item.bytes.empty() && stream_bytes_ % 4 != file_bytes_ % 4) {
    std::vector<std::byte> block = AlignmentBlock(file_bytes_, stream_bytes_ % 4);
    file_bytes_ += block.size();
    keeper_->Append(*this, std::move(block));
  }
  stream_bytes_ += item.bytes.size();
  file_bytes_ += item.bytes.size();
  keeper_->Append(*this, std::move(item.bytes));
}

StreamKeeper::StreamKeeper(std::string base, bool replace, size_t backlog_bytes)
    : base_(std::move(base)), replace_(replace), backlog_bytes_(backlog_bytes) {
  thread_ = std::thread([this] { Run(); });
}

StreamKeeper::~StreamKeeper() { Finish(); }

Result<std::shared_ptr<StreamKeeper::File>> StreamKeeper::Create(const std::string& suffix) {
  std::string path;
  int error = EEXIST;
  for (int number = 1; error == EEXIST && number < kMostNumbers; ++number) {
    path = number == 1 ? fmt::format("{}{}.nettrace", base_, suffix)
                       : fmt::format("{}{}.{}.nettrace", base_, suffix, number);
    if (used_.contains(path)) continue;
    const int mode = replace_ ? O_TRUNC : O_EXCL;
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666));
    if (!fd.valid()) {
      error = errno;
      continue;
    }
    used_.insert(path);
    files_.push_back(std::shared_ptr<File>(new File(this, std::move(path), std::move(fd))));
    return files_.back();
  }
  return WriteError(path, error);
}

std::vector<std::string> StreamKeeper::Paths() const {
  std::vector<std::string> paths;
  for (const std::shared_ptr<File>& f : files_) paths.push_back(f->path());
  return paths;
}

void StreamKeeper::Append(File& file, std::vector<std::byte>&& bytes) {
  if (bytes.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!file.error_ && waiting_ + bytes.size() > backlog_bytes_)
      file.error_ =
          Error{ErrorCode::kIo, fmt::format("{} ends early: the disk was too slow", file.path_)};
    if (file.error_) {
      file.lost_ += bytes.size();
      return;
    }
    waiting_ += bytes.size();
    pieces_.push_back({&file, std::move(bytes)});
  }
  work_.notify_one();
}

void StreamKeeper::Run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are the main thread's
  pthread_setname_np(pthread_self(), "keep-nettrace");
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    uint64_t written = 0;
    int error = 0;
    if (piece.file->fd_.valid()) {
      lock.unlock();
      error = WriteAll(piece.file->fd_.get(), piece.bytes, written);
      lock.lock();
    }
    waiting_ -= piece.bytes.size();
    piece.file->written_ += written;
    piece.file->lost_ += piece.bytes.size() - written;
    if (error != 0) {
      if (!piece.file->error_) piece.file->error_ = WriteError(piece.file->path_, error);
      piece.file->fd_.reset();
    }
  }
}

void StreamKeeper::Finish() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (const std::shared_ptr<File>& f : files_)
    if (f->fd_.valid() && ::close(f->fd_.release()) != 0 && !f->error_)
      f->error_ = WriteError(f->path_, errno);
}

}  // namespace clrscope::capture
