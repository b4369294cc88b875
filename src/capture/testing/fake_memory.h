// SPDX-License-Identifier: Apache-2.0
// Memory of a process that is not there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kernel/process_memory.h"

namespace clrscope::capture {

class FakeMemory final : public ProcessMemory {
 public:
  size_t Read(uint64_t address, std::span<std::byte> to) override {
    if (refuses) return 0;
    auto it = pieces.upper_bound(address);
    if (it == pieces.begin()) return 0;
    --it;
    const uint64_t at = address - it->first;
    if (at >= it->second.size()) return 0;
    const size_t n = std::min<uint64_t>(to.size(), it->second.size() - at);
    std::copy_n(it->second.begin() + static_cast<std::ptrdiff_t>(at), n, to.begin());
    return n;
  }
  bool refused() const override { return refuses; }

  // "4883ec28": code as a disassembler shows it.
  void Put(uint64_t address, std::string_view hex) {
    std::vector<std::byte>& to = pieces[address];
    to.clear();
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      to.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  void PutWords(uint64_t address, const std::vector<uint64_t>& words) {
    const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
    pieces[address].assign(bytes, bytes + words.size() * 8);
  }

  std::map<uint64_t, std::vector<std::byte>> pieces;
  bool refuses = false;
};

}  // namespace clrscope::capture
