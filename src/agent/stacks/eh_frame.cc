// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/eh_frame.h"

#include <optional>

#include "agent/stacks/cfa_program.h"
#include "base/byte_reader.h"

namespace clrscope::agent {
namespace {

const std::byte* Pointer(uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}
uintptr_t AddressOf(const std::byte* p) { return reinterpret_cast<uintptr_t>(p); }

// From `address` to the end of what is mapped of the module.
ByteReader ReaderAt(const NativeModule& m, uintptr_t address) {
  if (address < m.image || address >= m.image_end) return ByteReader(Bytes{});
  return ByteReader(Bytes{Pointer(address), m.image_end - address});
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
  CfaFactors factors;
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
  out.factors.code = body.VarU64();
  out.factors.data = SignedLeb(body);
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
  CfaRow initial;
  if (!RunCfaProgram(cie.program, cie.factors, CfaRow{}, ~uint64_t{0}, initial)) return out;
  CfaRow row = initial;
  if (!RunCfaProgram({body.data(), body.remaining()}, cie.factors, initial, call - *begin, row))
    return out;
  if (row.root) {
    out.state = RuleState::kRoot;
    return out;
  }
  if (!row.cfa_known || row.odd_return || row.rbp == CfaRow::Rbp::kUnknown) return out;
  if (row.cfa_register != kRsp && row.cfa_register != kRbp) return out;
  if (row.cfa_offset <= 0 || row.cfa_offset % 8 != 0 || row.cfa_offset > FrameRule::kMaxOffset)
    return out;
  if (row.rbp == CfaRow::Rbp::kSaved) {
    if (row.rbp_offset >= 0 || row.rbp_offset % 8 != 0 || -row.rbp_offset / 8 > 0xffff) return out;
    out.rbp_slot = static_cast<uint16_t>(-row.rbp_offset / 8);
  }
  out.from_rbp = row.cfa_register == kRbp;
  out.cfa_offset = static_cast<uint32_t>(row.cfa_offset);
  out.state = RuleState::kKnown;
  return out;
}

}  // namespace clrscope::agent
