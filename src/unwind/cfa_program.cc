// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfa_program.h"

namespace clrscope::unwind {
namespace {

constexpr int kMaxRemembered = 8;

// DW_CFA_*. The first three hold an operand in their low six bits.
enum CfaOp : uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
};

class CfaMachine {
 public:
  CfaMachine(Bytes program, const CfaFactors& factors, const CfaRow& initial, CfaRow& row)
      : reader_(program), factors_(factors), initial_(initial), row_(row) {}

  bool Run(uint64_t stop) {
    while (reader_.ok() && reader_.remaining() != 0) {
      if (!Step(reader_.U8())) return false;
      if (at_ > stop) break;
    }
    return reader_.ok();
  }

 private:
  // Return false for what is not known.
  bool Step(uint8_t op);
  bool StepExtended(uint8_t op);
  bool RememberState();
  bool RestoreState();

  void SetRegister(uint8_t op);
  void SetCfa(uint8_t op);
  void Advance(uint64_t delta) { at_ += delta * factors_.code; }
  void Save(uint64_t reg, int64_t factored_offset);
  void Restore(uint64_t reg);
  void MoveElsewhere(uint64_t reg);
  int64_t Unsigned() { return static_cast<int64_t>(reader_.VarU64()); }

  ByteReader reader_;
  const CfaFactors& factors_;
  const CfaRow& initial_;
  CfaRow& row_;
  CfaRow remembered_[kMaxRemembered];
  int depth_ = 0;
  uint64_t at_ = 0;
};

bool CfaMachine::Step(uint8_t op) {
  const uint8_t low = op & 0x3f;
  switch (op & 0xc0) {
    case kAdvanceLoc:
      Advance(low);
      return true;
    case kOffset:
      Save(low, Unsigned());
      return true;
    case kRestore:
      Restore(low);
      return true;
    default:
      return StepExtended(op);
  }
}

bool CfaMachine::StepExtended(uint8_t op) {
  switch (op) {
    case kNop:
      return true;
    case kAdvanceLoc1:
      Advance(reader_.U8());
      return true;
    case kAdvanceLoc2:
      Advance(reader_.U16());
      return true;
    case kAdvanceLoc4:
      Advance(reader_.U32());
      return true;
    case kOffsetExtended:
    case kOffsetExtendedSf:
    case kRestoreExtended:
    case kUndefined:
    case kSameValue:
    case kRegister:
    case kExpression:
    case kValExpression:
      SetRegister(op);
      return true;
    case kRememberState:
      return RememberState();
    case kRestoreState:
      return RestoreState();
    case kDefCfa:
    case kDefCfaSf:
    case kDefCfaRegister:
    case kDefCfaOffset:
    case kDefCfaOffsetSf:
    case kDefCfaExpression:
      SetCfa(op);
      return true;
    case kGnuArgsSize:
      reader_.VarU64();
      return true;
    default:
      return false;
  }
}

bool CfaMachine::RememberState() {
  if (depth_ == kMaxRemembered) return false;
  remembered_[depth_++] = row_;
  return true;
}

bool CfaMachine::RestoreState() {
  if (depth_ == 0) return false;
  row_ = remembered_[--depth_];
  return true;
}

// All of these begin with the register.
void CfaMachine::SetRegister(uint8_t op) {
  const uint64_t reg = reader_.VarU64();
  switch (op) {
    case kOffsetExtended:
      return Save(reg, Unsigned());
    case kOffsetExtendedSf:
      return Save(reg, SignedLeb(reader_));
    case kRestoreExtended:
      return Restore(reg);
    case kUndefined:
      if (reg == kRbp) row_.rbp = CfaRow::Rbp::kUnknown;
      if (reg == kReturnAddress) row_.root = true;
      return;
    case kSameValue:
      if (reg == kRbp) row_.rbp = CfaRow::Rbp::kSame;
      return;
    case kRegister:
      reader_.VarU64();
      return MoveElsewhere(reg);
    default:  // expressions
      reader_.Skip(reader_.VarU64());
      return MoveElsewhere(reg);
  }
}

void CfaMachine::SetCfa(uint8_t op) {
  switch (op) {
    case kDefCfa:
      row_.cfa_register = reader_.VarU64();
      row_.cfa_offset = Unsigned();
      row_.cfa_known = true;
      return;
    case kDefCfaSf:
      row_.cfa_register = reader_.VarU64();
      row_.cfa_offset = SignedLeb(reader_) * factors_.data;
      row_.cfa_known = true;
      return;
    case kDefCfaRegister:
      row_.cfa_register = reader_.VarU64();
      return;
    case kDefCfaOffset:
      row_.cfa_offset = Unsigned();
      return;
    case kDefCfaOffsetSf:
      row_.cfa_offset = SignedLeb(reader_) * factors_.data;
      return;
    default:  // an expression
      reader_.Skip(reader_.VarU64());
      row_.cfa_known = false;
      return;
  }
}

void CfaMachine::Save(uint64_t reg, int64_t factored_offset) {
  const int64_t offset = factored_offset * factors_.data;
  if (reg == kRbp) {
    row_.rbp = CfaRow::Rbp::kSaved;
    row_.rbp_offset = offset;
  } else if (reg == kReturnAddress) {
    row_.root = false;
    row_.odd_return = offset != -8;
  }
}

void CfaMachine::Restore(uint64_t reg) {
  if (reg == kRbp) {
    row_.rbp = initial_.rbp;
    row_.rbp_offset = initial_.rbp_offset;
  } else if (reg == kReturnAddress) {
    row_.root = initial_.root;
    row_.odd_return = initial_.odd_return;
  }
}

// In another register, or where an expression says.
void CfaMachine::MoveElsewhere(uint64_t reg) {
  if (reg == kRbp) row_.rbp = CfaRow::Rbp::kUnknown;
  if (reg == kReturnAddress) row_.odd_return = true;
}

}  // namespace

bool RunCfaProgram(Bytes program, const CfaFactors& factors, const CfaRow& initial, uint64_t stop,
                   CfaRow& row) {
  return CfaMachine(program, factors, initial, row).Run(stop);
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

}  // namespace clrscope::unwind
