// SPDX-License-Identifier: Apache-2.0
// The values that an interval's sections are written with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/varint_writer.h"
#include "profile/estimate/estimate.h"

namespace clrscope::profile::interval {

inline constexpr uint64_t kMostNameBytes = 64 << 10;

// A section, or the frame that sections are appended to.
class Out : public VarintWriter {
 public:
  void Text(std::string_view s) {
    s = s.substr(0, kMostNameBytes);
    Unsigned(s.size());
    Append(s);
  }
  void Value(const Estimate& e) {
    Unsigned(e.samples << 1 | (e.biased ? 1 : 0));
    if (e.samples == 0) return;
    Number(e.amount);
    Number(e.count);
    Number(e.seen_amount);
    Number(e.seen_count);
    if (e.biased) return;
    for (const double v : {e.var_amount, e.var_count, e.max_amount, e.max_count})
      Fixed(static_cast<float>(v));
  }
  void Section(uint32_t tag, const Out& body) {
    Unsigned(tag);
    Unsigned(body.bytes().size());
    Append(body.bytes());
  }
};

// One section. Errors are sticky, and the whole frame's.
class In {
 public:
  explicit In(Bytes bytes) : reader_(bytes) {}

  uint64_t Unsigned() {
    if (reader_.ok()) at_ = reader_.position();
    return reader_.VarU64();
  }
  uint8_t Byte() { return reader_.Read<uint8_t>(); }
  uint32_t U32() { return static_cast<uint32_t>(Below(uint64_t{1} << 32)); }
  int64_t Signed() {
    const uint64_t v = Unsigned();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  // Times that can be added up: nothing real is larger.
  int64_t Time() {
    constexpr int64_t kFar = int64_t{1} << 61;
    const int64_t v = Signed();
    if (v < -kFar || v > kFar) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  // CPU time of an interval, at most 13 days; -1 = unknown.
  int64_t Cpu() {
    const int64_t v = Signed();
    if (v < -1 || v > int64_t{1} << 50) reader_.Fail();
    return reader_.ok() ? v : -1;
  }
  // An unsigned number below `end`.
  uint64_t Below(uint64_t end) {
    const uint64_t v = Unsigned();
    if (v >= end) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  int8_t Small(int64_t low, int64_t high) {
    const int64_t v = Signed();
    if (v < low || v > high) reader_.Fail();
    return reader_.ok() ? static_cast<int8_t>(v) : int8_t{-1};
  }
  std::string Text() {
    const uint64_t n = Below(kMostNameBytes + 1);
    return std::string(AsText(reader_.Take(static_cast<size_t>(n))));
  }
  // Finite and not below 0, as all that is summed here.
  double Number() {
    const uint64_t v = Unsigned();
    return v & 1 ? Sound(reader_.F64()) : static_cast<double>(v >> 1);
  }
  double Float() { return Sound(static_cast<double>(reader_.Read<float>())); }
  Estimate Value() {
    Estimate e;
    const uint64_t head = Unsigned();
    e.samples = head >> 1;
    e.biased = (head & 1) != 0;
    if (e.samples == 0) return e;
    e.amount = Number();
    e.count = Number();
    e.seen_amount = Number();
    e.seen_count = Number();
    if (e.biased) return e;
    for (double* v : {&e.var_amount, &e.var_count, &e.max_amount, &e.max_count}) *v = Float();
    return e;
  }
  // The number of rows that follow, each of `least` bytes or more.
  size_t Rows(size_t least) {
    const uint64_t n = Unsigned();
    if (n > reader_.remaining() / least) reader_.Fail();
    return reader_.ok() ? static_cast<size_t>(n) : 0;
  }
  void Fail() { reader_.Fail(); }
  bool ok() const { return reader_.ok(); }
  // Where the last value that was read begins: the one that failed.
  size_t position() const { return at_; }

 private:
  double Sound(double v) {
    if (!(v >= 0 && v <= 1e300)) reader_.Fail();
    return reader_.ok() ? v : 0;
  }
  ByteReader reader_;
  size_t at_ = 0;
};

}  // namespace clrscope::profile::interval
