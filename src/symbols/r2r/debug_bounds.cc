// SPDX-License-Identifier: Apache-2.0
#include "symbols/r2r/debug_bounds.h"

#include <fmt/format.h>

#include "symbols/r2r/native_array.h"

namespace clrscope::symbols {
namespace {

// From these on entries are packed by bits, and the header may be long.
constexpr uint16_t kPackedMajor = 16, kLongHeaderMajor = 17;
// IL offsets are stored with it added, so that those that mean no IL are positive.
constexpr uint32_t kIlBias = 3;

Error BadBounds() {
  return Error{ErrorCode::kCorrupt, "a precompiled method's debug information is damaged"};
}

// Numbers of as many nibbles as they need: the low half of a byte first, three bits in each, the
// highest first, and one that says that more follow.
class NibbleReader {
 public:
  explicit NibbleReader(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size() * 2 - at_; }
  // From the next whole byte on.
  Bytes Rest() const { return bytes_.subspan((at_ + 1) / 2); }

  uint32_t Number() {
    constexpr int kMostNibbles = 11;  // of 32 bits
    uint32_t value = 0;
    for (int i = 0; i < kMostNibbles && at_ < bytes_.size() * 2; ++i) {
      const auto byte = static_cast<uint32_t>(bytes_[at_ / 2]);
      const uint32_t nibble = at_ % 2 == 0 ? byte & 15 : byte >> 4;
      ++at_;
      value = value << 3 | (nibble & 7);
      if ((nibble & 8) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// The lowest bits of each byte first. Whoever reads has checked how many there are.
class BitReader {
 public:
  explicit BitReader(Bytes bytes) : bytes_(bytes) {}

  uint32_t Take(unsigned count) {  // at most 32
    uint64_t value = 0;
    for (unsigned have = 0; have < count;) {
      const auto shift = static_cast<unsigned>(at_ % 8);
      value |= (static_cast<uint64_t>(bytes_[at_ / 8]) >> shift) << have;
      have += 8 - shift;
      at_ += 8 - shift;
      if (have > count) at_ -= have - count;
    }
    return static_cast<uint32_t>(value & ((uint64_t{1} << count) - 1));
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
};

Result<std::vector<IlMapEntry>> DecodeNibbles(Bytes bounds) {
  NibbleReader in(bounds);
  const uint32_t count = in.Number();
  if (count > in.remaining() / 3) return BadBounds();
  std::vector<IlMapEntry> out(count);
  uint32_t native = 0;
  for (IlMapEntry& entry : out) {
    entry.native_offset = native += in.Number();
    entry.il_offset = static_cast<int32_t>(in.Number() - kIlBias);
    in.Number();  // whether it is a call, or the IL stack is empty
  }
  if (!in.ok()) return BadBounds();
  return out;
}

Result<std::vector<IlMapEntry>> DecodeBits(Bytes bounds, unsigned source_bits) {
  NibbleReader header(bounds);
  const uint32_t count = header.Number();
  const uint32_t native_bits = header.Number(), il_bits = header.Number();  // less one
  if (!header.ok() || native_bits > 31 || il_bits > 31) return BadBounds();
  const size_t entry_bits = size_t{native_bits} + 1 + il_bits + 1 + source_bits;
  if (count > header.Rest().size() * 8 / entry_bits) return BadBounds();
  BitReader in(header.Rest());
  std::vector<IlMapEntry> out(count);
  uint32_t native = 0;
  for (IlMapEntry& entry : out) {
    in.Take(source_bits);
    entry.native_offset = native += in.Take(native_bits + 1);
    entry.il_offset = static_cast<int32_t>(in.Take(il_bits + 1) - kIlBias);
  }
  return out;
}

}  // namespace

Result<std::vector<IlMapEntry>> DecodeDebugBounds(Bytes section, uint32_t offset, uint16_t major) {
  if (major < kOldestDebugInfo || major > kNewestDebugInfo)
    return Error{ErrorCode::kRefused,
                 fmt::format("precompiled images of version {} have debug information that is "
                             "not known here",
                             major)};
  if (offset >= section.size()) return BadBounds();
  // Methods whose information is the same share it: it lies so many bytes before.
  ByteReader in(section.subspan(offset));
  const uint32_t lookback = ReadNativeUnsigned(in);
  if (!in.ok() || lookback > offset) return BadBounds();
  const size_t at = lookback != 0 ? offset - lookback : offset + in.position();

  NibbleReader header(section.subspan(at));
  uint32_t bounds_size = header.Number();
  uint32_t after = 1;  // sizes of variables and others
  if (major >= kLongHeaderMajor && bounds_size == 0) {
    bounds_size = header.Number();
    after = 5;
  }
  for (uint32_t i = 0; i < after; ++i) header.Number();
  if (!header.ok() || bounds_size > header.Rest().size()) return BadBounds();
  if (bounds_size == 0) return std::vector<IlMapEntry>();
  const Bytes bounds = header.Rest().first(bounds_size);
  if (major < kPackedMajor) return DecodeNibbles(bounds);
  return DecodeBits(bounds, major >= kLongHeaderMajor ? 3 : 2);
}

}  // namespace clrscope::symbols
