// SPDX-License-Identifier: Apache-2.0
// The target's memory, as clrscope hands it out: this process has no way to the target of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dac/wire.h"

namespace clrscope::dac {

class Remote {
 public:
  explicit Remote(int socket) : socket_(socket) {}

  // How many bytes could be read, from the beginning.
  uint32_t Read(uint64_t address, void* out, uint32_t size);
  template <class T>
  bool Get(uint64_t address, T* out) {
    return Read(address, out, sizeof *out) == sizeof *out;
  }
  uint64_t Word(uint64_t address) {
    uint64_t word = 0;
    return Get(address, &word) ? word : 0;
  }

  // Copies of stacks are made now; what was read before is forgotten.
  void Snapshot(const std::vector<SnapshotThread>& threads);
  void Forget() { pages_.clear(); }
  const ThreadRegisters* RegistersOf(uint64_t os_id) const;
  void SetRegisters(const ThreadRegisters& r) { registers_[r.os_id] = r; }

  void Part(std::string_view json);
  void Done();

 private:
  struct Page {
    uint32_t bytes = 0;
    uint8_t data[kPageBytes];
  };
  const Page& PageAt(uint64_t number);
  void SendAll(const void* data, size_t size);
  void ReceiveAll(void* data, size_t size);

  int socket_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::map<uint64_t, ThreadRegisters> registers_;
};

}  // namespace clrscope::dac
