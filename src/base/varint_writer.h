// SPDX-License-Identifier: Apache-2.0
// Bytes made of numbers; ByteReader::VarU64() reads the variable ones. Needs neither libm nor
// anything else that the agent must not link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clrscope {

class VarintWriter {
 public:
  // LEB128.
  void Unsigned(uint64_t v) {
    if (bytes_.size() - size_ < kLongest) Grow(kLongest);
    char* to = bytes_.data() + size_;
    for (; v >= 0x80; v >>= 7) *to++ = static_cast<char>(v | 0x80);
    *to++ = static_cast<char>(v);
    size_ = static_cast<size_t>(to - bytes_.data());
  }
  // Zigzag-coded LEB128.
  void Signed(int64_t v) {
    Unsigned(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63));
  }
  // As it lies in memory, little endian.
  template <class T>
  void Fixed(T v) {
    Append({reinterpret_cast<const char*>(&v), sizeof(v)});
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
  void Append(std::string_view bytes) {
    if (bytes_.size() - size_ < bytes.size()) Grow(bytes.size());
    bytes.copy(bytes_.data() + size_, bytes.size());
    size_ += bytes.size();
  }

  std::string_view bytes() const { return {bytes_.data(), size_}; }
  // The writer is empty afterwards.
  std::string Take() {
    bytes_.resize(std::exchange(size_, 0));
    return std::exchange(bytes_, {});
  }

 private:
  static constexpr double kWholeLimit = 1e15;
  static constexpr size_t kLongest = 10;

  void Grow(size_t room) { bytes_.resize(std::max(2 * bytes_.size(), size_ + room)); }

  std::string bytes_;  // the first size_ of them; the rest is room
  size_t size_ = 0;
};

}  // namespace clrscope
