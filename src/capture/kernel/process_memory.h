// SPDX-License-Identifier: Apache-2.0
// Memory of another process, read while it goes on: what is read may be old the next moment.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace clrscope::capture {

class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  // Returns how many bytes from `address` on could be read: fewer, or none, where nothing is mapped
  // or it is not allowed.
  virtual size_t Read(uint64_t address, std::span<std::byte> to) = 0;
  // It is not allowed: it takes the right to trace the process.
  virtual bool refused() const { return false; }
};

class RemoteMemory final : public ProcessMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}
  size_t Read(uint64_t address, std::span<std::byte> to) override;
  bool refused() const override { return refused_; }
  // The process has ended. A zombie has no memory either.
  bool gone() const { return gone_; }

 private:
  pid_t pid_;
  bool refused_ = false, gone_ = false;
};

}  // namespace clrscope::capture
