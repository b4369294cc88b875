// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/type_names.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "clr/type_name.h"
#include "symbols/metadata/type_defs.h"

namespace clrscope::symbols {
namespace {

// Compilers nest a handful deep; damaged metadata may nest in circles.
constexpr size_t kMostOwners = 64;

bool EndsInArity(std::string_view name) {
  const size_t mark = name.rfind('`');
  return mark != std::string_view::npos && mark + 1 < name.size() &&
         name.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
}

// A component with the arity that its compiler left out, as F# does of closures.
std::string WithArity(std::string_view name, size_t own_parameters) {
  std::string out(name);
  if (own_parameters != 0 && !EndsInArity(name)) out += '`' + std::to_string(own_parameters);
  return out;
}

// `components` come innermost first.
std::string Join(std::string_view type_namespace, std::span<const std::string> components) {
  std::string out(type_namespace);
  if (!out.empty()) out += '.';
  for (size_t i = components.size(); i-- > 0;) {
    out += components[i];
    if (i != 0) out += '+';
  }
  return out;
}

std::string TypeDefName(const Metadata& metadata, Token token, bool with_arities) {
  std::vector<std::string> components;
  std::string_view type_namespace;
  for (auto type = FindTypeDef(metadata, token); type && components.size() < kMostOwners;) {
    auto owner = FindTypeDef(metadata, type->owner);
    const size_t inherited = owner ? owner->generic_parameters.size() : 0;
    const size_t all = type->generic_parameters.size();
    components.push_back(with_arities ? WithArity(type->name, all - std::min(all, inherited))
                                      : std::string(type->name));
    type_namespace = type->type_namespace;
    type = std::move(owner);
  }
  return Join(type_namespace, components);
}

std::string TypeRefName(const Metadata& metadata, Token token) {
  std::vector<std::string> components;
  std::string_view type_namespace;
  for (auto type = FindTypeRef(metadata, token); type && components.size() < kMostOwners;
       type = FindTypeRef(metadata, type->scope)) {
    components.emplace_back(type->name);
    type_namespace = type->type_namespace;
  }
  return Join(type_namespace, components);
}

}  // namespace

std::string RuntimeTypeName(const Metadata& metadata, Token type) {
  switch (TableOf(type)) {
    case Table::kTypeDef:
      return TypeDefName(metadata, type, false);
    case Table::kTypeRef:
      return TypeRefName(metadata, type);
    default:
      return {};
  }
}

std::string CsharpNestedName(const Metadata& metadata, Token type_def,
                             std::span<const std::string> arguments) {
  std::string name = TypeDefName(metadata, type_def, true);
  const auto type = FindTypeDef(metadata, type_def);
  if (!type) return {};
  std::vector<std::string> shown(arguments.begin(), arguments.end());
  if (shown.empty()) shown.assign(type->generic_parameters.begin(), type->generic_parameters.end());
  for (size_t i = 0; i < shown.size(); ++i) name += (i == 0 ? '[' : ',') + shown[i];
  if (!shown.empty()) name += ']';
  return clr::CsharpTypeName(name);
}

}  // namespace clrscope::symbols
