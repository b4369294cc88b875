// SPDX-License-Identifier: Apache-2.0
#include "agent/eh_frame.h"

#include <optional>

#include "base/byte_reader.h"

namespace clrscope::agent {
namespace {

constexpr uint64_t kRbp = 6, kRsp = 7, kReturnAddress = 16;
constexpr int kMaxRemembered = 8;

const std::byte* Pointer(uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}
uintptr_t AddressOf(const std::byte* p) { return reinterpret_cast<uintptr_t>(p); }

// From `address` to the end of what is mapped of the module.
ByteReader ReaderAt(const NativeModule& m, uintptr_t address) {
  if (address < m.image || address >= m.image_end) return ByteReader(Bytes{});
  return ByteReader(Bytes{Pointer(address), m.image_end - address});
}

int64_t SignedLeb(ByteReader& r) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t b = r.U8();
    v |= static_cast<uint64_t>(b & 0x7f) << shift;
    if ((b & 0x80) == 0) {
      if ((b & 0x40) != 0 && shift + 7 < 64) v |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(v);
    }
  }
  r.Fail();
  return 0;
}

// DW_EH_PE_*: a pointer in one of the encodings that linkers for x64 write.
std::optional<uintptr_t> Encoded(ByteReader& r, uint8_t encoding, uintptr_t data_base) {
  if (encoding == 0xff) return 0;
  const uintptr_t place = AddressOf(r.data());
  uint64_t v = 0;
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      v = r.U64();
      break;
    case 0x03:
      v = r.U32();
      break;
    case 0x0b:
      v = static_cast<uint64_t>(static_cast<int64_t>(r.I32()));
      break;
    default:
      return std::nullopt;
  }
  switch (encoding & 0x70) {
    case 0x00:
      return v;
    case 0x10:
      return v + place;
    case 0x30:
      return v + data_base;
    default:
      return std::nullopt;
  }
}

// The FDE that may cover `ip`, by the header's sorted table; 0 = none.
uintptr_t FindFde(const NativeModule& m, uintptr_t ip) {
  if (m.header_end - m.header < 12) return 0;
  ByteReader r(Bytes{Pointer(m.header), m.header_end - m.header});
  const uint8_t version = r.U8(), frame_encoding = r.U8(), count_encoding = r.U8(),
                table_encoding = r.U8();
  if (version != 1 || table_encoding != 0x3b || count_encoding != 0x03) return 0;
  if (!Encoded(r, frame_encoding, m.header)) return 0;
  const uint32_t count = r.U32();
  if (!r.ok() || count == 0 || count > r.remaining() / 8) return 0;
  const std::byte* table = r.data();
  const auto entry = [&](uint32_t i, int field) {
    int32_t v;
    std::memcpy(&v, table + size_t{8} * i + 4 * static_cast<size_t>(field), 4);
    return m.header + static_cast<uintptr_t>(static_cast<intptr_t>(v));
  };
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (entry(middle, 0) <= ip ? low : high) = middle;
  }
  return entry(low, 0) <= ip ? entry(low, 1) : 0;
}

struct Cie {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t fde_encoding = 0;
  bool augmented = false;  // FDEs have augmentation data
  Bytes program;
};

bool ReadCie(const NativeModule& m, uintptr_t at, Cie& out) {
  ByteReader r = ReaderAt(m, at);
  const uint32_t length = r.U32();
  if (length == 0 || length == 0xffffffffu || length > r.remaining()) return false;
  ByteReader body(r.Take(length));
  if (body.U32() != 0) return false;
  const uint8_t version = body.U8();
  if (version != 1 && version != 3) return false;
  char augmentation[8] = {};
  for (size_t i = 0;; ++i) {
    if (i == sizeof augmentation) return false;
    augmentation[i] = static_cast<char>(body.U8());
    if (augmentation[i] == 0) break;
  }
  out.code_align = body.VarU64();
  out.data_align = SignedLeb(body);
  const uint64_t return_register = version == 1 ? body.U8() : body.VarU64();
  if (return_register != kReturnAddress) return false;
  if (augmentation[0] == 'z') {
    out.augmented = true;
    const uint64_t size = body.VarU64();
    ByteReader extra(body.Take(size));
    for (const char* c = augmentation + 1; *c != 0; ++c) {
      if (*c == 'R') {
        out.fde_encoding = extra.U8();
      } else if (*c == 'P') {
        const uint8_t encoding = extra.U8();
        if (!Encoded(extra, encoding & 0x7f, 0)) return false;
      } else if (*c == 'L') {
        extra.U8();
      } else if (*c != 'S') {  // S: a signal's frame, whose registers lie elsewhere
        return false;
      } else {
        return false;
      }
    }
    if (!extra.ok()) return false;
  } else if (augmentation[0] != 0) {
    return false;
  }
  out.program = {body.data(), body.remaining()};
  return body.ok();
}

struct Row {
  uint64_t cfa_register = kRsp;
  int64_t cfa_offset = 8;
  bool cfa_known = true;
  enum class Rbp : uint8_t { kSame, kSaved, kUnknown } rbp = Rbp::kSame;
  int64_t rbp_offset = 0;
  bool root = false;        // no return address
  bool odd_return = false;  // a return address elsewhere than below the CFA
};

// Runs a call frame program up to `stop` (an offset in code), from offset 0.
bool Run(Bytes program, const Cie& cie, const Row& initial, uint64_t stop, Row& row) {
  ByteReader r(program);
  Row remembered[kMaxRemembered];
  int depth = 0;
  uint64_t at = 0;
  const auto saved = [&](uint64_t reg, int64_t offset) {
    if (reg == kRbp) {
      row.rbp = Row::Rbp::kSaved;
      row.rbp_offset = offset;
    } else if (reg == kReturnAddress) {
      row.root = false;
      row.odd_return = offset != -8;
    }
  };
  const auto restored = [&](uint64_t reg) {
    if (reg == kRbp) {
      row.rbp = initial.rbp;
      row.rbp_offset = initial.rbp_offset;
    } else if (reg == kReturnAddress) {
      row.root = initial.root;
      row.odd_return = initial.odd_return;
    }
  };
  while (r.ok() && r.remaining() != 0) {
    const uint8_t op = r.U8();
    const uint8_t low = op & 0x3f;
    if ((op & 0xc0) == 0x40) {
      at += low * cie.code_align;
    } else if ((op & 0xc0) == 0x80) {
      saved(low, static_cast<int64_t>(r.VarU64()) * cie.data_align);
    } else if ((op & 0xc0) == 0xc0) {
      restored(low);
    } else {
      switch (op) {
        case 0x00:  // nop
          break;
        case 0x02:
          at += r.U8() * cie.code_align;
          break;
        case 0x03:
          at += r.U16() * cie.code_align;
          break;
        case 0x04:
          at += r.U32() * cie.code_align;
          break;
        case 0x05: {  // offset_extended
          const uint64_t reg = r.VarU64();
          saved(reg, static_cast<int64_t>(r.VarU64()) * cie.data_align);
          break;
        }
        case 0x06:
          restored(r.VarU64());
          break;
        case 0x07: {  // undefined
          const uint64_t reg = r.VarU64();
          if (reg == kRbp) row.rbp = Row::Rbp::kUnknown;
          if (reg == kReturnAddress) row.root = true;
          break;
        }
        case 0x08: {  // same_value
          const uint64_t reg = r.VarU64();
          if (reg == kRbp) row.rbp = Row::Rbp::kSame;
          break;
        }
        case 0x09: {  // register
          const uint64_t reg = r.VarU64();
          r.VarU64();
          if (reg == kRbp) row.rbp = Row::Rbp::kUnknown;
          if (reg == kReturnAddress) row.odd_return = true;
          break;
        }
        case 0x0a:
          if (depth == kMaxRemembered) return false;
          remembered[depth++] = row;
          break;
        case 0x0b:
          if (depth == 0) return false;
          row = remembered[--depth];
          break;
        case 0x0c:
          row.cfa_register = r.VarU64();
          row.cfa_offset = static_cast<int64_t>(r.VarU64());
          row.cfa_known = true;
          break;
        case 0x0d:
          row.cfa_register = r.VarU64();
          break;
        case 0x0e:
          row.cfa_offset = static_cast<int64_t>(r.VarU64());
          break;
        case 0x0f:  // def_cfa_expression
          r.Skip(r.VarU64());
          row.cfa_known = false;
          break;
        case 0x10:    // expression
        case 0x16: {  // val_expression
          const uint64_t reg = r.VarU64();
          r.Skip(r.VarU64());
          if (reg == kRbp) row.rbp = Row::Rbp::kUnknown;
          if (reg == kReturnAddress) row.odd_return = true;
          break;
        }
        case 0x11: {  // offset_extended_sf
          const uint64_t reg = r.VarU64();
          saved(reg, SignedLeb(r) * cie.data_align);
          break;
        }
        case 0x12:
          row.cfa_register = r.VarU64();
          row.cfa_offset = SignedLeb(r) * cie.data_align;
          row.cfa_known = true;
          break;
        case 0x13:
          row.cfa_offset = SignedLeb(r) * cie.data_align;
          break;
        case 0x2e:  // GNU_args_size
          r.VarU64();
          break;
        default:
          return false;
      }
    }
    if (at > stop) break;
  }
  return r.ok();
}

}  // namespace

FrameRule RuleOf(const NativeModule& m, uintptr_t ip) {
  FrameRule out;
  out.state = RuleState::kSnapshot;
  const uintptr_t call = ip - 1;  // the call's own instruction
  const uintptr_t fde = FindFde(m, call);
  if (fde == 0) return out;
  ByteReader r = ReaderAt(m, fde);
  const uint32_t length = r.U32();
  if (length == 0 || length == 0xffffffffu || length > r.remaining()) return out;
  ByteReader body(r.Take(length));
  const uintptr_t place = AddressOf(body.data());
  const uint32_t back = body.U32();
  Cie cie;
  if (back == 0 || back > place || !ReadCie(m, place - back, cie)) return out;
  const auto begin = Encoded(body, cie.fde_encoding, m.header);
  const auto size = Encoded(body, cie.fde_encoding & 0x0f, 0);
  if (!begin || !size || call < *begin || call - *begin >= *size) return out;
  if (cie.augmented) body.Skip(body.VarU64());
  if (!body.ok()) return out;
  Row initial;
  if (!Run(cie.program, cie, Row{}, ~uint64_t{0}, initial)) return out;
  Row row = initial;
  if (!Run({body.data(), body.remaining()}, cie, initial, call - *begin, row)) return out;
  if (row.root) {
    out.state = RuleState::kRoot;
    return out;
  }
  if (!row.cfa_known || row.odd_return || row.rbp == Row::Rbp::kUnknown) return out;
  if (row.cfa_register != kRsp && row.cfa_register != kRbp) return out;
  if (row.cfa_offset <= 0 || row.cfa_offset % 8 != 0 || row.cfa_offset > FrameRule::kMaxOffset)
    return out;
  if (row.rbp == Row::Rbp::kSaved) {
    if (row.rbp_offset >= 0 || row.rbp_offset % 8 != 0 || -row.rbp_offset / 8 > 0xffff) return out;
    out.rbp_slot = static_cast<uint16_t>(-row.rbp_offset / 8);
  }
  out.from_rbp = row.cfa_register == kRbp;
  out.cfa_offset = static_cast<uint32_t>(row.cfa_offset);
  out.state = RuleState::kKnown;
  return out;
}

}  // namespace clrscope::agent
