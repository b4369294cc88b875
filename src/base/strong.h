// SPDX-License-Identifier: Apache-2.0
// Strong integer types: ids and units that cannot be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace clrscope {

template <class Tag, class Rep>
struct Strong {
  Rep value{};

  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  constexpr auto operator<=>(const Strong&) const = default;
};

// Index into a StringPool; 0 is the empty string.
using StringId = Strong<struct StringIdTag, uint32_t>;
// Node of a stack tree; 0 is the root.
using NodeId = Strong<struct NodeIdTag, uint32_t>;
// Index of a type, per process.
using TypeIndex = Strong<struct TypeIndexTag, uint32_t>;
// A code address in the target.
using Address = Strong<struct AddressTag, uint64_t>;
// Nanoseconds since the start of a recording; negative only for what was there before.
using Nanos = Strong<struct NanosTag, int64_t>;

}  // namespace clrscope

template <class Tag, class Rep>
struct std::hash<clrscope::Strong<Tag, Rep>> {
  size_t operator()(clrscope::Strong<Tag, Rep> v) const noexcept {
    return std::hash<Rep>{}(v.value);
  }
};
