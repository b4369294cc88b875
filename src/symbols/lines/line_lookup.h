// SPDX-License-Identifier: Apache-2.0
// IL → source line, by a method's sequence points. IL that the compiler made for no statement is
// hidden: the one before it is told, as System.Diagnostics.StackTrace does.
#pragma once

#include <cstdint>
#include <span>

#include "symbols/lines/il_code.h"
#include "symbols/lines/il_map.h"
#include "symbols/pdb/sequence_points.h"

namespace clrscope::symbols {

// The visible point whose IL `il_offset` belongs to: the last at or before it that is not hidden.
// Where only hidden ones come before, the first visible one. Null: the method has none.
// `points` are in the order of their IL.
const SequencePoint* PointAt(std::span<const SequencePoint> points, uint32_t il_offset);
// Whether it is no statement's own, but comes after one. What a method begins with, its closures,
// counts as its first statement's.
bool IsHidden(std::span<const SequencePoint> points, uint32_t il_offset);

struct CallPoint {
  const SequencePoint* point = nullptr;  // null: the method has none
  bool certain = true;       // false: several statements were merged, and it is any of them
  bool hidden = false;       // it may be of IL that is no statement's own
  bool after_throw = false;  // it throws, and a catch in this method may go on
};
// How far a map can be trusted: that of optimised code may mean what follows a call.
enum class MapOf : uint8_t { kPlainCode, kOptimisedCode };
// The point of a call in the code that was made of the IL from `il_offset` up to `next`, which the
// map does not tell apart: of the statements there only those that can call count. Where nothing of
// it can but leave a try block, the call is that of its finally: the runtime's stacks show it so.
CallPoint PointOfCall(std::span<const SequencePoint> points, const IlCode& code, uint32_t il_offset,
                      uint32_t next, MapOf map);

// Both steps: the point of the code at `native_offset`.
const SequencePoint* PointOfCode(const IlMap& map, std::span<const SequencePoint> points,
                                 uint32_t native_offset, AddressKind kind);

}  // namespace clrscope::symbols
