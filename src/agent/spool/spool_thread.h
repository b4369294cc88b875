// SPDX-License-Identifier: Apache-2.0
// Writes the spool's files, on a thread of its own: a disk that stalls stops nobody else, and what
// it cannot take is dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace clrscope::agent {

class SpoolThread {
 public:
  static constexpr size_t kMostFiles = 16, kMostBytes = size_t{32} << 20;  // that wait

  struct Counts {
    uint64_t written = 0, failed = 0, dropped = 0;  // files
    uint64_t waiting = 0;
    std::string error;  // of the last one that failed or was dropped; "" since one was written
  };
  using Write = Status (*)(const std::string& path, std::string_view bytes);

  explicit SpoolThread(Write write);
  // Does not wait: what is queued is still written, by a thread that then ends.
  ~SpoolThread();

  // Without waiting. The file is dropped when too much waits already.
  void Post(std::string path, std::string bytes);
  // Whether everything is written, after `milliseconds` at most.
  bool Flush(int milliseconds);
  Counts counts() const;

 private:
  struct Queue;
  static void* Main(void* queue);
  std::shared_ptr<Queue> queue_;
};

}  // namespace clrscope::agent
