// SPDX-License-Identifier: Apache-2.0
#include "import/gunzip.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace clrscope::import {
namespace {

constexpr size_t kPiece = 64 << 10;

void End(z_stream* stream) {
  ::inflateEnd(stream);
  delete stream;
}

}  // namespace

Result<ByteSource> OpenSource(const std::string& path) {
  auto file = std::make_shared<Fd>();
  if (path != "-") {
    *file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file->valid())
      return Error{errno == ENOENT   ? ErrorCode::kNotFound
                   : errno == EACCES ? ErrorCode::kPermission
                                     : ErrorCode::kIo,
                   fmt::format("cannot open {}: {}", path, strerror(errno))};
  }
  return ByteSource([file, path](std::span<std::byte> room) -> Result<size_t> {
    for (;;) {
      const ssize_t n =
          ::read(file->valid() ? file->get() : STDIN_FILENO, room.data(), room.size());
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR)
        return Error{ErrorCode::kIo, fmt::format("cannot read {}: {}", path, strerror(errno))};
    }
  });
}

MaybeGzipped::MaybeGzipped(ByteSource source)
    : source_(std::move(source)), stream_(nullptr, &End) {}

// Where nothing is left of what was read.
Status MaybeGzipped::Fill() {
  packed_.resize(kPiece);
  at_ = 0;
  const Result<size_t> n = source_(packed_);
  packed_.resize(n.ok() ? *n : 0);
  if (!n.ok()) return n.error();
  read_ += *n;
  ended_ = *n == 0;
  return OkStatus();
}

Result<size_t> MaybeGzipped::Read(std::span<std::byte> room) {
  if (room.empty()) return size_t{0};
  if (!std::exchange(began_, true)) {
    RETURN_IF_ERROR(Fill());
    if (packed_.size() == 1) {
      const std::byte first = packed_[0];
      RETURN_IF_ERROR(Fill());
      packed_.insert(packed_.begin(), first);
    }
    if (packed_.size() >= 2 && packed_[0] == std::byte{0x1f} && packed_[1] == std::byte{0x8b}) {
      stream_.reset(new z_stream{});
      if (inflateInit2(stream_.get(), 15 + 16) != Z_OK)
        return Error{ErrorCode::kFailed, "zlib does not start"};
    }
  }
  if (gzipped()) return Inflate(room);
  if (at_ == packed_.size()) return source_(room);
  const size_t n = std::min(room.size(), packed_.size() - at_);
  std::memcpy(room.data(), packed_.data() + at_, n);
  at_ += n;
  return n;
}

Result<size_t> MaybeGzipped::Inflate(std::span<std::byte> room) {
  z_stream& z = *stream_;
  const auto damaged = [&](ErrorCode code, std::string_view what) {
    return Error::At(code, read_ - (packed_.size() - at_), fmt::format("the gzip stream {}", what));
  };
  size_t made = 0;
  while (!done_ && made == 0) {
    if (at_ == packed_.size() && !ended_) RETURN_IF_ERROR(Fill());
    z.next_in = reinterpret_cast<Bytef*>(packed_.data() + at_);
    z.avail_in = static_cast<uInt>(packed_.size() - at_);
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(std::min<size_t>(room.size(), 1u << 30));
    const uInt wanted = z.avail_out;
    const int code = inflate(&z, Z_NO_FLUSH);
    made = wanted - z.avail_out;
    at_ = packed_.size() - z.avail_in;
    if (code == Z_STREAM_END) {
      if (at_ == packed_.size() && !ended_) RETURN_IF_ERROR(Fill());
      done_ = at_ == packed_.size();
      if (!done_ && inflateReset(&z) != Z_OK) return damaged(ErrorCode::kCorrupt, "is damaged");
      next_ = true;
    } else if (made == 0 && code != Z_OK && code != Z_BUF_ERROR) {
      constexpr uLong kMagic = 2;
      return damaged(ErrorCode::kCorrupt, next_ && z.total_in <= kMagic
                                              ? "is followed by something else"
                                              : "is damaged");
    } else if (made == 0 && ended_) {
      return damaged(ErrorCode::kTruncated, "ends too early");
    }
  }
  return made;
}

std::string ReadHead(MaybeGzipped& bytes, size_t size) {
  std::string out(size, '\0');
  size_t got = 0;
  while (got < size) {
    const Result<size_t> n = bytes.Read(std::as_writable_bytes(std::span(out).subspan(got)));
    if (!n.ok() || *n == 0) break;
    got += *n;
  }
  out.resize(got);
  return out;
}

Result<std::string> ReadAll(MaybeGzipped& bytes, size_t most) {
  std::string out;
  std::vector<std::byte> piece(kPiece);
  for (;;) {
    ASSIGN_OR_RETURN(const size_t n, bytes.Read(piece));
    if (n == 0) return out;
    if (out.size() + n > most)
      return Error{
          ErrorCode::kFailed,
          fmt::format("it {} more than {} MB", bytes.gzipped() ? "unpacks to" : "has", most >> 20)};
    out.append(reinterpret_cast<const char*>(piece.data()), n);
  }
}

}  // namespace clrscope::import
