// SPDX-License-Identifier: Apache-2.0
// The folder of a watch: one watch at a time, captures named by their start, the oldest deleted
// first. Files of other names are never touched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace clrscope::capture {

class WatchFolder {
 public:
  struct File {
    std::string path;
    int64_t start_unix_ns = 0, end_unix_ns = 0;
    uint64_t bytes = 0;
  };

  // Makes the folder when it is not there and locks it. errors: another watch has it, permission
  static Result<std::unique_ptr<WatchFolder>> Open(const std::string& path);

  // Takes stock. Captures that a watch which was killed left behind are closed; a sentence for each
  // of those, and for files that should be captures and are not.
  std::vector<std::string> TakeStock();

  // The path of a capture that starts now. It is not there yet.
  std::string PathFor(int64_t start_unix_ns) const;
  // A capture was closed.
  void Add(const std::string& path, int64_t start_unix_ns, int64_t end_unix_ns);
  // Deletes what ended before `oldest_unix_ns`, then the oldest until all files and `open_bytes`
  // take no more than `max_bytes`. A sentence for each deleted file.
  std::vector<std::string> Prune(int64_t oldest_unix_ns, uint64_t max_bytes, uint64_t open_bytes);

  // Oldest first.
  const std::vector<File>& files() const { return files_; }
  uint64_t bytes() const;
  const std::string& path() const { return path_; }

  // Of a capture and the log beside it.
  static uint64_t BytesOf(const std::string& path);

 private:
  WatchFolder() = default;
  std::string Delete(size_t file, const std::string& why);

  std::string path_;
  Fd lock_;
  std::vector<File> files_;
};

}  // namespace clrscope::capture
