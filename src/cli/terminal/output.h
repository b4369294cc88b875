// SPDX-License-Identifier: Apache-2.0
// Standard output for data, standard error for words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "report/json.h"

namespace clrscope::cli {

// Writes to standard output, buffered; a reader that went away ends the program quietly.
class Output {
 public:
  ~Output();
  void Write(std::string_view text);
  // errors: kIo (the disk is full)
  Status Flush();

 private:
  std::string buffer_;
  int error_ = 0;
};

// "clrscope: …" on standard error; control characters in it are made visible.
void Warn(std::string_view sentence);
// Each of them.
void WarnAll(const std::vector<std::string>& sentences);
// Says what went wrong and returns its exit code.
int Fail(const Error& error);

// `head` as the beginning of one JSON object whose last member, `rows`, is written row by row.
class JsonDocument {
 public:
  JsonDocument(Output& out, const report::Json& head, std::string_view rows = "rows");
  void Row(const report::Json& row);
  void End();

 private:
  Output& out_;
  bool first_ = true;
};

}  // namespace clrscope::cli
