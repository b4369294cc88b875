// SPDX-License-Identifier: Apache-2.0
// A sink that makes a whole file or none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_sink.h"
#include "base/fd.h"
#include "base/result.h"

namespace clrscope::exporter {

enum class IfExists : uint8_t { kRefuse, kReplace };

// Writes to `PATH.tmp-XXXXXXXX` beside the file and renames that on Finish; without Finish nothing
// is left. "-" is standard output; a path that is no regular file (/dev/null, a FIFO) is written
// directly. A symbolic link keeps pointing where it did.
// Errors name the path and the system's reason: kUsage when the file exists and may not be
// replaced, kNotFound without its directory, kPermission, else kIo.
class FileSink final : public ByteSink {
 public:
  static Result<std::unique_ptr<FileSink>> Create(const std::string& path,
                                                  IfExists if_exists = IfExists::kReplace);
  ~FileSink() override;

  Status Write(std::string_view bytes) override;
  Status Finish() override;

 private:
  FileSink(std::string path, IfExists if_exists) : path_(std::move(path)), if_exists_(if_exists) {}
  Status Open();
  Status Flush();
  Status Fail(int error);
  Status Rename();
  void Discard();

  std::string path_;       // the file to make; "" = standard output
  std::string temporary_;  // what is written to until Finish; "" = path_ itself
  IfExists if_exists_;
  Fd file_;
  std::string buffer_;
  std::string failure_;  // not empty: every later call fails with it
};

}  // namespace clrscope::exporter
