// SPDX-License-Identifier: Apache-2.0
// Where bytes go: a file, a buffer, a compressor. Exporters know nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace clrscope {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Takes all of `bytes` or fails; after a failure every later call fails too.
  virtual Status Write(std::string_view bytes) = 0;
  // Ends the stream: flushes, and writes the trailer where the format has one.
  virtual Status Finish() { return OkStatus(); }
};

// Who writes in small pieces gathers so many bytes first.
inline constexpr size_t kFlushBytes = 64 * 1024;

class StringSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    text_.append(bytes);
    return OkStatus();
  }
  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace clrscope
