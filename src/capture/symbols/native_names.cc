// SPDX-License-Identifier: Apache-2.0
#include "capture/symbols/native_names.h"

#include <map>

#include "profile/stacks/code_at.h"
#include "profile/stacks/made_up_frames.h"

namespace clrscope::capture {

std::vector<NativeQuery> QueriesOf(const profile::ProcessTables& tables, const StringPool& strings,
                                   std::span<const uint32_t> addresses,
                                   std::vector<uint32_t>* elsewhere) {
  std::vector<NativeQuery> out;
  std::map<const profile::Image*, size_t> by_image;
  for (const uint32_t index : addresses) {
    const profile::CodeAddress& a = tables.stacks.addresses()[index];
    const profile::Place* known = tables.places.At(index);
    if (profile::IsOfKernel(a.address) || (known != nullptr && known->symbol.value != 0)) continue;
    const profile::CodeAt at = profile::WhatIsAt(tables.code, tables.images, a.address, a.first_ns);
    if (at.kind == profile::CodeAt::Kind::kUnknown && elsewhere != nullptr)
      elsewhere->push_back(index);
    if (at.kind != profile::CodeAt::Kind::kImage) continue;
    const profile::Image& image = *at.image;
    const auto [found, is_new] = by_image.try_emplace(&image, out.size());
    if (is_new) {
      NativeQuery& query = out.emplace_back();
      query.file.path = strings.Get(image.path);
      query.file.build_id = strings.Get(image.build_id);
      query.file.offset = image.offset;
      query.file.size = image.end - image.start;
      query.start = image.start;
    }
    out[found->second].addresses.push_back({index, a.address - image.start + image.offset});
  }
  return out;
}

std::vector<NativeName> NamesOf(const NativeQuery& query, const symbol_files::FileRoot& root,
                                symbol_files::NativeSymbols& symbols) {
  std::vector<NativeName> out;
  const auto functions = symbols.Of(root, query.file);
  if (functions == nullptr) return out;
  for (const NativeQuery::Address& a : query.addresses)
    if (std::string name = functions->NameAt(a.offset, query.file); !name.empty())
      out.push_back({a.index, std::move(name)});
  return out;
}

void SetNames(std::span<const NativeName> names, profile::ProcessTables& tables,
              StringPool& strings) {
  for (const NativeName& n : names) {
    if (n.index >= tables.stacks.addresses().size()) continue;
    const profile::Place* const known = tables.places.At(n.index);
    profile::Place place = known == nullptr ? profile::Place() : *known;
    place.symbol = strings.Intern(n.name);
    tables.places.Set(n.index, place);
  }
}

void NameNatives(profile::ProcessTables& tables, StringPool& strings,
                 symbol_files::NativeSymbols& symbols) {
  std::vector<uint32_t> all(tables.stacks.addresses().size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  for (const NativeQuery& query : QueriesOf(tables, strings, all, nullptr))
    if (!query.file.build_id.empty())
      SetNames(NamesOf(query, symbol_files::FileRoot::Own(), symbols), tables, strings);
}

}  // namespace clrscope::capture
