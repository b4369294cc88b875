// SPDX-License-Identifier: Apache-2.0
// Bytes made of numbers; ByteReader::VarU64() reads the variable ones. Needs neither libm nor
// anything else that the agent must not link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clrscope {

class VarintWriter {
 public:
  // LEB128.
  void Unsigned(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<char>(v | 0x80));
    bytes_.push_back(static_cast<char>(v));
  }
  // Zigzag-coded LEB128.
  void Signed(int64_t v) {
    Unsigned(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63));
  }
  // As it lies in memory, little endian.
  template <class T>
  void Fixed(T v) {
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof(v));
  }
  // 2·v when v is whole, else 1 and an IEEE double: whole numbers are short, others nine bytes.
  void Number(double v) {
    if (v >= 0 && v < kWholeLimit && v == static_cast<double>(static_cast<uint64_t>(v))) {
      Unsigned(static_cast<uint64_t>(v) << 1);
    } else {
      Unsigned(1);
      Fixed(v);
    }
  }
  void Append(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }
  // The writer is empty afterwards.
  std::string Take() { return std::exchange(bytes_, {}); }

 private:
  static constexpr double kWholeLimit = 1e15;
  std::string bytes_;
};

}  // namespace clrscope
