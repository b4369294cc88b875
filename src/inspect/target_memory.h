// SPDX-License-Identifier: Apache-2.0
// The memory of another process: as it is now, under what was copied of it before.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace clrscope::inspect {

class TargetMemory {
 public:
  explicit TargetMemory(pid_t pid) : pid_(pid) {}

  // How many bytes could be read, from the beginning: copies first, then the process.
  size_t Read(uint64_t address, std::span<std::byte> out) const;
  // The process itself; 0 and errno when that is refused.
  size_t ReadLive(uint64_t address, std::span<std::byte> out) const;
  void Keep(uint64_t address, std::vector<std::byte> bytes);

 private:
  pid_t pid_;
  std::map<uint64_t, std::vector<std::byte>> copies_;
};

}  // namespace clrscope::inspect
