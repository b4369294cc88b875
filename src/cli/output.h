// SPDX-License-Identifier: Apache-2.0
// Standard output for data, standard error for words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"

namespace clrscope::cli {

using Json = nlohmann::ordered_json;

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
// Says what went wrong and returns its exit code.
int Fail(const Error& error);

// `head` as the beginning of one JSON object whose last member, `rows`, is written row by row.
class JsonDocument {
 public:
  JsonDocument(Output& out, const Json& head, std::string_view rows = "rows");
  void Row(const Json& row);
  void End();

 private:
  Output& out_;
  bool first_ = true;
};

// One line of JSON; bytes that are no UTF-8 are replaced.
std::string Dump(const Json& value, int indent = -1);

// One line of RFC 4180, with LF.
std::string CsvLine(const std::vector<std::string>& cells);

}  // namespace clrscope::cli
