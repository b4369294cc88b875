// SPDX-License-Identifier: Apache-2.0
#include "unwind/eh_frame.h"

#include <algorithm>
#include <optional>

#include "unwind/call_site.h"
#include "unwind/cfa_program.h"

namespace clrscope::unwind {
namespace {

// The tables of one module are read in pieces: whole, where they lie in this process.
class TableReader {
 public:
  TableReader(const NativeModule& module, ModuleMemory& memory) : m_(module), memory_(memory) {}

  // A piece of the module; shorter at its end.
  Bytes At(uint64_t address, uint64_t size) {
    if (address < m_.image || address >= m_.image_end) return {};
    return memory_.At(address, static_cast<size_t>(std::min(size, m_.image_end - address)));
  }
  // A record that begins with its length, without that; empty: it is damaged or too long.
  Bytes Record(uint64_t address) {
    constexpr uint64_t kFirst = 256, kMost = 1 << 16;
    Bytes bytes = At(address, kFirst);
    ByteReader r(bytes);
    const uint32_t length = r.U32();
    if (!r.ok() || length == 0 || length > kMost) return {};
    if (length > r.remaining()) bytes = At(address, uint64_t{4} + length);
    return bytes.size() < 4 + size_t{length} ? Bytes{} : bytes.subspan(4, length);
  }

 private:
  const NativeModule& m_;
  ModuleMemory& memory_;
};

// DW_EH_PE_*: a pointer in one of the encodings that linkers for x64 write.
// `place`: where the reader's begin is in the process.
std::optional<uint64_t> Encoded(ByteReader& r, uint8_t encoding, uint64_t place,
                                uint64_t data_base) {
  if (encoding == 0xff) return 0;
  place += r.position();
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

// The FDE that may cover `at`, by the header's sorted table; 0 = none.
uint64_t FindFde(const NativeModule& m, uint64_t at, TableReader& tables, uint64_t* begin) {
  constexpr uint64_t kEntry = 8;  // where code begins and where its FDE is, both from the header
  constexpr uint64_t kPiece = 128;
  if (m.header_end - m.header < 12) return 0;
  ByteReader r(tables.At(m.header, 20));
  const uint8_t version = r.U8(), frame_encoding = r.U8(), count_encoding = r.U8(),
                table_encoding = r.U8();
  if (version != 1 || table_encoding != 0x3b || count_encoding != 0x03) return 0;
  if (!Encoded(r, frame_encoding, m.header, m.header)) return 0;
  uint64_t count = r.U32();
  const uint64_t table = m.header + r.position();
  if (!r.ok() || count == 0 || count > (m.header_end - table) / kEntry) return 0;
  const auto field = [&](const std::byte* place) {
    return m.header + static_cast<uint64_t>(int64_t{LoadAt<int32_t>(place)});
  };
  uint64_t low = 0;
  while (count > kPiece) {
    const Bytes middle = tables.At(table + (low + count / 2) * kEntry, kEntry);
    if (middle.size() < kEntry) return 0;
    if (field(middle.data()) <= at) {
      low += count / 2;
      count -= count / 2;
    } else {
      count /= 2;
    }
  }
  const Bytes piece = tables.At(table + low * kEntry, count * kEntry);
  if (piece.size() < count * kEntry) return 0;
  uint64_t fde = 0;
  for (uint64_t i = 0; i < count && field(piece.data() + i * kEntry) <= at; ++i) {
    *begin = field(piece.data() + i * kEntry);
    fde = field(piece.data() + i * kEntry + 4);
  }
  return fde;
}

struct Cie {
  CfaFactors factors;
  uint8_t fde_encoding = 0;
  bool augmented = false;  // FDEs have augmentation data
  Bytes program;
};

bool ReadCie(uint64_t at, TableReader& tables, Cie& out) {
  ByteReader body(tables.Record(at));
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
        if (!Encoded(extra, encoding & 0x7f, 0, 0)) return false;
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

FrameRule RuleAt(const NativeModule& m, uint64_t at, ModuleMemory& memory) {
  FrameRule out;
  out.state = RuleState::kSnapshot;
  TableReader tables(m, memory);
  uint64_t first = 0;
  const uint64_t fde = FindFde(m, at, tables, &first);
  if (fde == 0) return out;
  ByteReader body(tables.Record(fde));
  const uint64_t place = fde + 4;
  const uint32_t back = body.U32();
  Cie cie;
  if (back == 0 || back > place || !ReadCie(place - back, tables, cie)) return out;
  const auto begin = Encoded(body, cie.fde_encoding, place, m.header);
  const auto size = Encoded(body, cie.fde_encoding & 0x0f, 0, 0);
  if (!begin || !size || at < *begin || at - *begin >= *size) return out;
  if (cie.augmented) body.Skip(body.VarU64());
  if (!body.ok()) return out;
  CfaRow initial;
  if (!RunCfaProgram(cie.program, cie.factors, CfaRow{}, ~uint64_t{0}, initial)) return out;
  CfaRow row = initial;
  if (!RunCfaProgram({body.data(), body.remaining()}, cie.factors, initial, at - *begin, row))
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

FrameRule RuleOfReturn(const NativeModule& m, uint64_t ip, ModuleMemory& memory) {
  TableReader tables(m, memory);
  uint64_t begin = 0;
  // A call that does not return may be the last instruction of the function before.
  if (FindFde(m, ip, tables, &begin) != 0 && begin == ip &&
      !EndsWithCall(tables.At(ip - kLongestCall, kLongestCall))) {
    FrameRule unknown;
    unknown.state = RuleState::kSnapshot;
    return unknown;
  }
  return RuleAt(m, ip - 1, memory);
}

}  // namespace clrscope::unwind
