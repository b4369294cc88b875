// SPDX-License-Identifier: Apache-2.0
// A folder that is TMPDIR for as long as this lives.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace clrscope::agent {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (const char* old = std::getenv("TMPDIR")) old_ = old;
    path_ = std::filesystem::temp_directory_path() / "clrscope-agent-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
    ::setenv("TMPDIR", path_.c_str(), 1);
  }
  ~TemporaryFolder() {
    if (old_) {
      ::setenv("TMPDIR", old_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::optional<std::string> old_;
  std::string path_;
};

}  // namespace clrscope::agent
