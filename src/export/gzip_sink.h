// SPDX-License-Identifier: Apache-2.0
// A sink that compresses on the way to another one.
#pragma once

#include <memory>
#include <optional>

#include "base/byte_sink.h"

namespace clrscope::exporter {

// Compresses to gzip (RFC 1952) without a time or name in the header, so equal input gives equal
// output. Borrows `out`. Finish writes the trailer but does not finish `out`: its owner does.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& out, int level = 6);
  ~GzipSink() override;

  Status Write(std::string_view bytes) override;
  Status Finish() override;

 private:
  struct Stream;
  Status Deflate(std::string_view bytes, int flush);

  ByteSink& out_;
  std::unique_ptr<Stream> stream_;  // null once finished or failed
  std::optional<Error> failure_;    // what every later call fails with
};

}  // namespace clrscope::exporter
