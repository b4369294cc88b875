// SPDX-License-Identifier: Apache-2.0
// What a process has mapped for execution now.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "profile/stacks/image_map.h"

namespace clrscope::capture {

class ImageReader {
 public:
  explicit ImageReader(pid_t pid) : pid_(pid) {}

  // Memory without a file, and what the runtime writes its code into, has no path. Nothing when the
  // process is gone or may not be looked at. Source: proc(5), /proc/PID/maps.
  std::optional<std::vector<profile::Image>> Read(StringPool& strings);
  // The same by a text of that file, read before.
  std::optional<std::vector<profile::Image>> Parse(std::string_view maps, StringPool& strings);

 private:
  // `file`: device, inode and path, as the system writes them.
  const std::string& BuildId(const std::string& file, const std::string& path,
                             unsigned long long inode);

  pid_t pid_;
  std::map<std::string, std::string> build_ids_;  // by file
};

}  // namespace clrscope::capture
