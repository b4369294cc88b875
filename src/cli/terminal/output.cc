// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace clrscope::cli {

Output::~Output() { (void)Flush(); }

void Output::Write(std::string_view text) {
  constexpr size_t kBuffer = 64 * 1024;
  buffer_.append(text);
  if (buffer_.size() >= kBuffer) (void)Flush();
}

Status Output::Flush() {
  std::string_view left = buffer_;
  while (!left.empty() && error_ == 0) {
    const ssize_t n = ::write(STDOUT_FILENO, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) std::_Exit(kExitOk);  // where SIGPIPE is ignored
    if (n < 0) error_ = errno;
    if (n > 0) left.remove_prefix(static_cast<size_t>(n));
  }
  buffer_.clear();
  if (error_ == 0) return OkStatus();
  return Error{ErrorCode::kIo,
               fmt::format("cannot write to standard output: {}", std::strerror(error_))};
}

void Warn(std::string_view sentence) {
  std::string text = "clrscope: ";
  for (const char c : sentence) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 0x20 && c != '\n') || u == 0x7F)
      text += fmt::format("\\x{:02x}", u);
    else
      text.push_back(c);
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void WarnAll(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) Warn(sentence);
}

int Fail(const Error& error) {
  const bool named = error.offset == Error::kNoOffset ||
                     error.message.find(std::to_string(error.offset)) != std::string::npos;
  Warn(named ? error.message : fmt::format("{} (at byte {})", error.message, error.offset));
  return ExitCodeOf(error.code);
}

JsonDocument::JsonDocument(Output& out, const report::Json& head, std::string_view rows)
    : out_(out) {
  std::string text = report::Dump(head);
  text.pop_back();  // the closing brace comes at the end
  out_.Write(fmt::format("{}{}\"{}\":[", text, head.empty() ? "" : ",", rows));
}

void JsonDocument::Row(const report::Json& row) {
  out_.Write(first_ ? "\n" : ",\n");
  first_ = false;
  out_.Write(report::Dump(row));
}

void JsonDocument::End() { out_.Write(first_ ? "]}\n" : "\n]}\n"); }

}  // namespace clrscope::cli
