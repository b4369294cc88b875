// SPDX-License-Identifier: Apache-2.0
#include "symbols/lines/il_code.h"

namespace clrscope::symbols {
namespace {

constexpr uint32_t kTiny = 2, kFat = 3, kMoreSections = 8;
constexpr uint32_t kEhSection = 0x01, kFatSection = 0x40, kMore = 0x80;
// Clauses without these flags catch; a filter decides whether it does.
constexpr uint32_t kFinallyOrFault = 2 | 4;

constexpr uint8_t kPrefix = 0xFE, kSwitch = 0x45, kThrow = 0x7A, kRethrow = 0x1A, kLeave = 0xDD,
                  kLeaveShort = 0xDE;

// Bytes of an operand, of all but `switch`.
size_t OperandSize(uint8_t op) {
  if ((op >= 0x0E && op <= 0x13) || op == 0x1F || (op >= 0x2B && op <= 0x37) || op == 0xDE)
    return 1;
  if (op == 0x21 || op == 0x23) return 8;
  if (op == 0x20 || op == 0x22 || (op >= 0x27 && op <= 0x29) || (op >= 0x38 && op <= 0x44) ||
      (op >= 0x6F && op <= 0x75) || op == 0x79 || (op >= 0x7B && op <= 0x81) || op == 0x8C ||
      op == 0x8D || op == 0x8F || (op >= 0xA3 && op <= 0xA5) || op == 0xC2 || op == 0xC6 ||
      op == 0xD0 || op == 0xDD)
    return 4;
  return 0;
}

size_t OperandSizeAfterPrefix(uint8_t op) {
  if (op == 0x06 || op == 0x07 || op == 0x15 || op == 0x16 || op == 0x1C) return 4;
  if (op >= 0x09 && op <= 0x0E) return 2;
  return op == 0x12 || op == 0x19 ? 1 : 0;
}

// call, calli, callvirt, newobj, box, newarr
bool MayCall(uint8_t op) {
  return op == 0x28 || op == 0x29 || op == 0x6F || op == 0x73 || op == 0x8C || op == 0x8D;
}

// castclass, isinst, unbox, static fields, ldelema, stelem.ref, stelem, unbox.any, ldstr, ldtoken
bool MayCallHelper(uint8_t op) {
  return op == 0x72 || op == 0x74 || op == 0x75 || op == 0x79 || (op >= 0x7E && op <= 0x80) ||
         op == 0x8F || op == 0xA2 || op == 0xA4 || op == 0xA5 || op == 0xD0;
}

bool ReadInstructions(Bytes code, IlCode& out) {
  ByteReader in(code);
  while (in.ok() && in.remaining() > 0) {
    const auto at = static_cast<uint32_t>(in.position());
    const uint8_t op = in.U8();
    if (op == kPrefix) {
      const uint8_t second = in.U8();
      if (second == kRethrow) out.calls.push_back({at, true});
      in.Skip(OperandSizeAfterPrefix(second));
    } else if (op == kSwitch) {
      const uint32_t targets = in.U32();
      in.Skip(size_t{targets} * 4);
    } else {
      if (op == kThrow || MayCall(op)) out.calls.push_back({at, op == kThrow});
      if (MayCallHelper(op)) out.helpers.push_back(at);
      if (op == kLeave || op == kLeaveShort) out.leaves.push_back(at);
      in.Skip(OperandSize(op));
    }
  }
  return in.ok();
}

bool ReadClauses(ByteReader& in, bool fat, size_t size, std::vector<IlCode::Try>& tries) {
  const size_t clause = fat ? 24 : 12;
  for (size_t left = size; left >= clause; left -= clause) {
    const uint32_t flags = fat ? in.U32() : in.U16();
    const uint32_t begin = fat ? in.U32() : in.U16();
    const uint32_t length = fat ? in.U32() : in.U8();
    const uint32_t handler = fat ? in.U32() : in.U16();
    const uint32_t handler_length = fat ? in.U32() : in.U8();
    in.Skip(4);  // the class, or where the filter is
    constexpr uint64_t kMost = 0xFFFFFFFF;
    if (!in.ok() || begin + uint64_t{length} > kMost || handler + uint64_t{handler_length} > kMost)
      return false;
    tries.push_back(
        {begin, begin + length, handler, handler + handler_length, (flags & kFinallyOrFault) == 0});
  }
  in.Skip(size % clause);
  return in.ok();
}

Error Broken(const ByteReader& in) {
  return Error::At(ErrorCode::kCorrupt, in.position(), "the method's body is damaged");
}

}  // namespace

Result<IlCode> ReadIlCode(Bytes body) {
  IlCode out;
  ByteReader in(body);
  const uint8_t first = in.U8();
  if ((first & 3) == kTiny) {
    const Bytes code = in.Take(first >> 2);
    if (!in.ok() || !ReadInstructions(code, out)) return Broken(in);
    return out;
  }
  if ((first & 3) != kFat || in.U8() >> 4 != 3) return Broken(in);  // three words of header
  in.Skip(2);                                                       // the stack's depth
  const uint32_t size = in.U32();
  in.Skip(4);  // the locals' signature
  const Bytes code = in.Take(size);
  if (!in.ok() || !ReadInstructions(code, out)) return Broken(in);
  for (bool more = (first & kMoreSections) != 0; more;) {
    in.Skip((4 - in.position() % 4) % 4);
    const uint8_t kind = in.U8();
    const bool fat = (kind & kFatSection) != 0;
    size_t bytes = in.U8();
    const uint16_t high = in.U16();  // of a small section: nothing
    if (fat) bytes |= size_t{high} << 8;
    if (!in.ok() || bytes < 4 || bytes - 4 > in.remaining()) return Broken(in);
    if ((kind & kEhSection) == 0)
      in.Skip(bytes - 4);
    else if (!ReadClauses(in, fat, bytes - 4, out.tries))
      return Broken(in);
    more = (kind & kMore) != 0;
  }
  return out;
}

}  // namespace clrscope::symbols
