// SPDX-License-Identifier: Apache-2.0
#include "symbols/lines/line_lookup.h"

#include <algorithm>
#include <iterator>

namespace clrscope::symbols {
namespace {

// The first point past `il_offset`.
auto PointAfter(std::span<const SequencePoint> points, uint32_t il_offset) {
  return std::upper_bound(
      points.begin(), points.end(), il_offset,
      [](uint32_t offset, const SequencePoint& point) { return offset < point.il_offset; });
}

}  // namespace

const SequencePoint* PointAt(std::span<const SequencePoint> points, uint32_t il_offset) {
  const auto after = PointAfter(points, il_offset);
  for (auto at = after; at != points.begin();)
    if (!(--at)->hidden()) return &*at;
  const auto visible =
      std::find_if(after, points.end(), [](const SequencePoint& point) { return !point.hidden(); });
  return visible == points.end() ? nullptr : &*visible;
}

bool IsHidden(std::span<const SequencePoint> points, uint32_t il_offset) {
  const auto after = PointAfter(points, il_offset);
  return after != points.begin() && std::prev(after)->hidden() &&
         std::any_of(points.begin(), after,
                     [](const SequencePoint& point) { return !point.hidden(); });
}

namespace {

// Of the calls from `from` up to `end`; no point where there is none.
CallPoint PointOfCalls(std::span<const SequencePoint> points, const IlCode& code, uint32_t from,
                       uint32_t end, const SequencePoint* preferred) {
  CallPoint found;
  for (const IlCode::Call& call : code.calls) {
    if (call.il_offset < from || call.il_offset >= end) continue;
    const SequencePoint* const point = PointAt(points, call.il_offset);
    if (found.point != nullptr && point != found.point) found.certain = false;
    if (found.point == nullptr || point == preferred) found.point = point;
    found.hidden = found.hidden || IsHidden(points, call.il_offset);
    for (const IlCode::Try& t : code.tries)
      if (call.throws && t.catches && t.Holds(call.il_offset)) found.after_throw = true;
  }
  return found;
}

bool HasHelper(const IlCode& code, uint32_t from, uint32_t end) {
  return std::any_of(code.helpers.begin(), code.helpers.end(),
                     [&](uint32_t at) { return at >= from && at < end; });
}

// The finally that code from `from` up to `end` calls as it leaves its try block.
const IlCode::Try* FinallyLeft(const IlCode& code, uint32_t from, uint32_t end) {
  for (const uint32_t leave : code.leaves)
    for (const IlCode::Try& t : code.tries)
      if (leave >= from && leave < end && !t.catches && t.Holds(leave)) return &t;
  return nullptr;
}

}  // namespace

CallPoint PointOfCall(std::span<const SequencePoint> points, const IlCode& code, uint32_t il_offset,
                      uint32_t next, MapOf map) {
  const SequencePoint* const at = PointAt(points, il_offset);
  CallPoint found = PointOfCalls(points, code, il_offset, next, at);
  // The map may mean what follows the call in its statement.
  const uint32_t begin = at == nullptr ? il_offset : std::min(il_offset, at->il_offset);
  if (found.point != nullptr && map == MapOf::kOptimisedCode) {
    found = PointOfCalls(points, code, begin, next, at);
  } else if (found.point == nullptr) {
    const IlCode::Try* const left = FinallyLeft(code, il_offset, next);
    if (left != nullptr && map == MapOf::kPlainCode)
      found = PointOfCalls(points, code, left->handler_begin, left->handler_end, nullptr);
    if (found.point == nullptr) {
      found = PointOfCalls(points, code, begin, next, at);
      found.certain = found.certain && left == nullptr;
    }
  }
  // Nothing calls there: a block that was moved away from its statement.
  if (found.point == nullptr)
    found = {at, code.calls.empty() || HasHelper(code, begin, next), IsHidden(points, il_offset)};
  return found;
}

const SequencePoint* PointOfCode(const IlMap& map, std::span<const SequencePoint> points,
                                 uint32_t native_offset, AddressKind kind) {
  return PointAt(points, map.IlOffsetAt(native_offset, kind));
}

}  // namespace clrscope::symbols
