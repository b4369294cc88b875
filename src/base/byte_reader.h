// SPDX-License-Identifier: Apache-2.0
// Bounds-checked little-endian reader over bytes that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace clrscope {

using Bytes = std::span<const std::byte>;

inline Bytes AsBytes(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}
inline std::string_view AsText(Bytes b) {
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

// What lies there, at any alignment; nobody checks that it does.
template <class T>
T LoadAt(const std::byte* at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// UTF-16 text as it lies in a payload: perhaps unaligned, perhaps ill-formed. Decode with
// AppendUtf8.
struct Utf16View {
  const std::byte* data = nullptr;
  size_t units = 0;

  bool empty() const { return units == 0; }
  char16_t operator[](size_t i) const {
    char16_t c;
    std::memcpy(&c, data + 2 * i, 2);
    return c;
  }
  Bytes bytes() const { return {data, units * 2}; }
};

// Failure is sticky: once a read runs past the end every later read gives zero, so a decoder reads
// all its fields and asks ok() once.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(Bytes bytes)
      : begin_(bytes.data()), pos_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return !failed_; }
  size_t remaining() const { return static_cast<size_t>(end_ - pos_); }
  size_t position() const { return static_cast<size_t>(pos_ - begin_); }
  const std::byte* data() const { return pos_; }
  void Fail() {
    failed_ = true;
    pos_ = end_;
  }

  template <class T>
  T Read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (sizeof(T) > remaining()) {
      Fail();
      return value;
    }
    std::memcpy(&value, pos_, sizeof(T));
    pos_ += sizeof(T);
    return value;
  }
  uint8_t U8() { return Read<uint8_t>(); }
  uint16_t U16() { return Read<uint16_t>(); }
  uint32_t U32() { return Read<uint32_t>(); }
  uint64_t U64() { return Read<uint64_t>(); }
  int32_t I32() { return Read<int32_t>(); }
  int64_t I64() { return Read<int64_t>(); }
  double F64() { return Read<double>(); }
  // A pointer-sized field of the *target*: 4 or 8 bytes.
  uint64_t Pointer(int pointer_size) { return pointer_size == 4 ? U32() : U64(); }

  Bytes Take(size_t n) {
    if (n > remaining()) {
      Fail();
      return {};
    }
    Bytes out{pos_, n};
    pos_ += n;
    return out;
  }
  void Skip(size_t n) { (void)Take(n); }

  // LEB128; more than 5 (10) bytes, or bits past the type, fail.
  uint32_t VarU32() {
    const uint64_t v = VarU64();
    if (v > 0xffffffffu) Fail();
    return failed_ ? 0 : static_cast<uint32_t>(v);
  }
  uint64_t VarU64() {
    if (pos_ != end_ && static_cast<uint8_t>(*pos_) < 0x80) return static_cast<uint8_t>(*pos_++);
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (pos_ == end_) break;
      const auto b = static_cast<uint8_t>(*pos_++);
      if (shift == 63 && b > 1) break;
      value |= static_cast<uint64_t>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }

  // UTF-16 up to and without its two-byte NUL. Text that lacks the NUL fails.
  Utf16View Utf16Z() {
    const std::byte* start = pos_;
    size_t units = 0;
    const std::byte* p = pos_;
#ifdef __SSE2__
    for (; end_ - p >= 16; p += 16, units += 8) {
      const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const int zero = _mm_movemask_epi8(_mm_cmpeq_epi16(eight, _mm_setzero_si128()));
      if (zero == 0) continue;
      const int at = __builtin_ctz(static_cast<unsigned>(zero));
      pos_ = p + at + 2;
      return {start, units + static_cast<size_t>(at) / 2};
    }
#endif
    for (; end_ - p >= 2; p += 2, ++units) {
      if (p[0] == std::byte{0} && p[1] == std::byte{0}) {
        pos_ = p + 2;
        return {start, units};
      }
    }
    Fail();
    return {};
  }

 private:
  const std::byte* begin_ = nullptr;
  const std::byte* pos_ = nullptr;
  const std::byte* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace clrscope
