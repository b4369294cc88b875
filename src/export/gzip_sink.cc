// SPDX-License-Identifier: Apache-2.0
// zlib behind a ByteSink.
#include "export/gzip_sink.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace clrscope::exporter {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // +16 asks zlib for a gzip header and trailer
constexpr int kMemoryLevel = 8;           // zlib's default

}  // namespace

struct GzipSink::Stream {
  z_stream z{};
  std::array<unsigned char, 32 * 1024> buffer;
  ~Stream() { deflateEnd(&z); }
};

GzipSink::GzipSink(ByteSink& out, int level) : out_(out), stream_(std::make_unique<Stream>()) {
  // Fails only for lack of memory or a level that does not exist; Deflate then reports it.
  if (deflateInit2(&stream_->z, level, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    stream_.reset();
  }
}

GzipSink::~GzipSink() = default;

Status GzipSink::Write(std::string_view bytes) {
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMost);
    RETURN_IF_ERROR(Deflate(part, Z_NO_FLUSH));
    bytes.remove_prefix(part.size());
  }
  return OkStatus();
}

Status GzipSink::Finish() {
  RETURN_IF_ERROR(Deflate({}, Z_FINISH));
  stream_.reset();
  return OkStatus();
}

Status GzipSink::Deflate(std::string_view bytes, int flush) {
  if (failure_) return *failure_;
  if (!stream_) return Error{ErrorCode::kIo, "cannot compress: the gzip stream has ended"};
  z_stream& z = stream_->z;
  // zlib's interface lacks a const; it does not write to its input.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  do {
    z.next_out = stream_->buffer.data();
    z.avail_out = static_cast<uInt>(stream_->buffer.size());
    deflate(&z, flush);  // with space for output and a valid stream it cannot fail
    const size_t ready = stream_->buffer.size() - z.avail_out;
    if (ready == 0) continue;
    if (Status written = out_.Write({reinterpret_cast<char*>(stream_->buffer.data()), ready});
        !written.ok()) {
      stream_.reset();
      failure_ = written.error();
      return written;
    }
  } while (z.avail_out == 0);
  return OkStatus();
}

}  // namespace clrscope::exporter
