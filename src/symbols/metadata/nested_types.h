// SPDX-License-Identifier: Apache-2.0
// What a name that lacks the owner of its type may mean in one module: the nested types, and those
// without a namespace. Some 30 bytes a type; nothing of the metadata is referred to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/metadata/metadata.h"

namespace clrscope::symbols {

class NestedTypes {
 public:
  // Nothing where their names have more than kMostText bytes, which those of no program have.
  static constexpr size_t kMostText = size_t{16} << 20;
  static std::optional<NestedTypes> Of(const Metadata& metadata);

  // "" where it is none of these types.
  std::string_view NameOf(Token type_def) const;
  // "Shop.Box`1+" of Shop.Box`1+Slot, as the runtime writes it; "" of a type that is not
  // nested, and of what is nested in more than the runtime loads.
  std::string OwnerOf(Token type_def) const;
  // All that are called `name` and have so many generic parameters, those of their owners included.
  std::vector<Token> Find(std::string_view name, size_t parameters) const;

  size_t size() const { return types_.size(); }
  size_t memory_bytes() const;

 private:
  NestedTypes() = default;
  static constexpr uint32_t kNoOwner = ~0u;
  // Names are offsets into text_.
  struct Type {
    uint32_t row = 0, name = 0, type_namespace = 0, owner = kNoOwner;  // owner: a row
    uint32_t parameters = 0;
  };
  struct ByName {
    uint32_t hash = 0, type = 0;
    auto operator<=>(const ByName&) const = default;
  };

  const Type* FindRow(uint32_t row) const;
  std::string_view Text(uint32_t offset) const { return text_.data() + offset; }
  static uint32_t HashOf(std::string_view name, size_t parameters);

  std::vector<Type> types_;  // by row
  std::vector<ByName> by_name_;
  std::string text_;  // each name once, with a NUL behind it
};

}  // namespace clrscope::symbols
