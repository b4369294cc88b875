// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/nested_types.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/hash_bytes.h"

namespace clrscope::symbols {
namespace {

// Compilers nest a handful deep; damaged metadata may nest in circles.
constexpr size_t kMostNesting = 64;
// The runtime loads no type with a name of 1024.
constexpr size_t kMostOwnerBytes = 4096;
// Some hundred closures of a program have one name.
constexpr ptrdiff_t kMostSame = 4096;

// By row of TypeDef, from 1 on. In one pass each: the tables need not be in order.
std::vector<uint32_t> OwnersByRow(const Metadata& metadata) {
  const uint32_t types = metadata.RowCount(Table::kTypeDef);
  std::vector<uint32_t> owners(types + size_t{1});
  for (uint32_t row = 1; row <= metadata.RowCount(Table::kNestedClass); ++row) {
    const uint32_t type = metadata.Cell(Table::kNestedClass, row, column::kNestedType);
    const uint32_t owner = metadata.Cell(Table::kNestedClass, row, column::kNestedOwner);
    if (type != 0 && type <= types && owner <= types && owners[type] == 0) owners[type] = owner;
  }
  return owners;
}

std::vector<uint32_t> ParametersByRow(const Metadata& metadata) {
  std::vector<uint32_t> counts(metadata.RowCount(Table::kTypeDef) + size_t{1});
  for (uint32_t row = 1; row <= metadata.RowCount(Table::kGenericParam); ++row) {
    const Token owner = metadata.TokenAt(Table::kGenericParam, row, column::kGenericOwner);
    if (TableOf(owner) == Table::kTypeDef && RowOf(owner) < counts.size()) ++counts[RowOf(owner)];
  }
  return counts;
}

}  // namespace

std::optional<NestedTypes> NestedTypes::Of(const Metadata& metadata) {
  NestedTypes out;
  const std::vector<uint32_t> owners = OwnersByRow(metadata);
  const std::vector<uint32_t> parameters = ParametersByRow(metadata);
  std::vector<bool> owns(owners.size());
  for (const uint32_t owner : owners) owns[owner] = true;
  std::unordered_map<std::string_view, uint32_t> known;  // views into the metadata
  const auto keep = [&](std::string_view name) {
    const auto [it, is_new] = known.try_emplace(name, static_cast<uint32_t>(out.text_.size()));
    if (is_new) {
      out.text_ += name;
      out.text_ += '\0';
    }
    return it->second;
  };
  for (uint32_t row = 1; row < owners.size(); ++row) {
    const std::string_view type_namespace =
        metadata.StringAt(Table::kTypeDef, row, column::kTypeDefNamespace);
    const bool nested = owners[row] != 0;
    if (out.text_.size() > kMostText) return std::nullopt;
    if (!nested && !owns[row] && !type_namespace.empty()) continue;
    Type type;
    type.row = row;
    type.name = keep(metadata.StringAt(Table::kTypeDef, row, column::kTypeDefName));
    type.type_namespace = keep(type_namespace);
    if (nested) type.owner = owners[row];
    type.parameters = parameters[row];
    if (nested || type_namespace.empty())
      out.by_name_.push_back(
          {HashOf(out.Text(type.name), type.parameters), static_cast<uint32_t>(out.types_.size())});
    out.types_.push_back(type);
  }
  std::sort(out.by_name_.begin(), out.by_name_.end());
  out.types_.shrink_to_fit();
  out.by_name_.shrink_to_fit();
  out.text_.shrink_to_fit();
  return out;
}

uint32_t NestedTypes::HashOf(std::string_view name, size_t parameters) {
  const uint64_t hash = HashBytes(AsBytes(name.data(), name.size())) + parameters;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

const NestedTypes::Type* NestedTypes::FindRow(uint32_t row) const {
  const auto it = std::lower_bound(types_.begin(), types_.end(), row,
                                   [](const Type& type, uint32_t r) { return type.row < r; });
  return it == types_.end() || it->row != row ? nullptr : &*it;
}

std::string_view NestedTypes::NameOf(Token type_def) const {
  const Type* type = TableOf(type_def) == Table::kTypeDef ? FindRow(RowOf(type_def)) : nullptr;
  return type == nullptr ? std::string_view() : Text(type->name);
}

std::string NestedTypes::OwnerOf(Token type_def) const {
  const Type* type = TableOf(type_def) == Table::kTypeDef ? FindRow(RowOf(type_def)) : nullptr;
  std::vector<const Type*> chain;
  while (type != nullptr && type->owner != kNoOwner) {
    if (chain.size() == kMostNesting) return {};
    type = FindRow(type->owner);
    if (type != nullptr) chain.push_back(type);
  }
  std::string out;
  if (chain.empty()) return out;
  out = Text(chain.back()->type_namespace);
  if (!out.empty()) out += '.';
  for (size_t i = chain.size(); i-- > 0;) {
    out += Text(chain[i]->name);
    out += '+';
  }
  if (out.size() > kMostOwnerBytes) out.clear();
  return out;
}

std::vector<Token> NestedTypes::Find(std::string_view name, size_t parameters) const {
  std::vector<Token> out;
  const uint32_t hash = HashOf(name, parameters);
  const auto first = std::lower_bound(by_name_.begin(), by_name_.end(), ByName{hash, 0});
  for (auto it = first; it != by_name_.end() && it->hash == hash && it - first < kMostSame; ++it) {
    const Type& type = types_[it->type];
    if (type.parameters == parameters && Text(type.name) == name)
      out.push_back(TokenOf(Table::kTypeDef, type.row));
  }
  return out;
}

size_t NestedTypes::memory_bytes() const {
  return types_.capacity() * sizeof(Type) + by_name_.capacity() * sizeof(ByName) + text_.capacity();
}

}  // namespace clrscope::symbols
