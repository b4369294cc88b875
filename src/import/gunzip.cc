// SPDX-License-Identifier: Apache-2.0
#include "import/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace clrscope::import {

Result<std::string> Gunzip(Bytes bytes, size_t most) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) return Error{ErrorCode::kFailed, "zlib does not start"};
  const std::unique_ptr<z_stream, int (*)(z_streamp)> end(&z, &inflateEnd);
  std::string out;
  char chunk[64 << 10];
  size_t at = 0;
  const auto damaged = [&](ErrorCode code, std::string_view what) {
    return Error::At(code, at - z.avail_in, fmt::format("the gzip stream {}", what));
  };
  for (;;) {
    if (z.avail_in == 0 && at < bytes.size()) {
      const size_t n = std::min<size_t>(bytes.size() - at, 1u << 20);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + at));
      z.avail_in = static_cast<uInt>(n);
      at += n;
    }
    z.next_out = reinterpret_cast<Bytef*>(chunk);
    z.avail_out = sizeof(chunk);
    const int code = inflate(&z, Z_NO_FLUSH);
    out.append(chunk, sizeof(chunk) - z.avail_out);
    if (out.size() > most)
      return Error{ErrorCode::kFailed, fmt::format("it unpacks to more than {} MB", most >> 20)};
    if (code == Z_STREAM_END) {
      if (z.avail_in == 0 && at == bytes.size()) return out;
      if (inflateReset(&z) != Z_OK) return damaged(ErrorCode::kCorrupt, "is damaged");
    } else if (code == Z_BUF_ERROR && z.avail_in == 0 && at == bytes.size()) {
      return damaged(ErrorCode::kTruncated, "ends too early");
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged(ErrorCode::kCorrupt, "is damaged");
    }
  }
}

Result<std::string> ReadMaybeGzipped(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("{}: {}", path, std::strerror(errno))};
  std::string bytes;
  char chunk[64 << 10];
  for (size_t n; (n = std::fread(chunk, 1, sizeof(chunk), file.get())) > 0;) {
    bytes.append(chunk, n);
    if (bytes.size() > kMostBytes)
      return Error{ErrorCode::kFailed,
                   fmt::format("{} is larger than {} MB", path, kMostBytes >> 20)};
  }
  if (std::ferror(file.get()) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))};
  const Bytes view = AsBytes(bytes.data(), bytes.size());
  if (!LooksGzipped(view)) return bytes;
  Result<std::string> out = Gunzip(view);
  if (!out.ok()) out.error().message = fmt::format("{}: {}", path, out.error().message);
  return out;
}

}  // namespace clrscope::import
