// SPDX-License-Identifier: Apache-2.0
// The assemblies of tests/golden/symbols, and bytes to damage.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/testing/source_dir.h"

namespace clrscope::symbols {

// Empty when it cannot be read.
inline std::vector<std::byte> ReadFileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(chars.data());
  return {bytes, bytes + chars.size()};
}

inline std::vector<std::byte> ReadSample(const std::string& name) {
  std::vector<std::byte> bytes = ReadFileBytes(SourceDir() + "/tests/golden/symbols/" + name);
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

// Calls `read` with `whole` cut short and with single bytes changed: it must return.
template <class Read>
void ReadDamaged(std::vector<std::byte> whole, size_t step, Read&& read) {
  for (size_t size = 0; size < whole.size(); size += step) {
    // A copy of its own, so that a sanitizer sees a read past its end.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    read(Bytes(cut));
  }
  for (size_t at = 0; at < whole.size(); at += step) {
    const std::byte good = whole[at];
    for (const std::byte bad : {std::byte{0}, std::byte{0x7f}, std::byte{0xff}}) {
      whole[at] = bad;
      read(Bytes(whole));
    }
    whole[at] = good;
  }
}

}  // namespace clrscope::symbols
