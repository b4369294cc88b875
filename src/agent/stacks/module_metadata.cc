// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/module_metadata.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "agent/stacks/module_image.h"
#include "agent/stacks/name_buffer.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"

namespace clrscope::agent {
namespace {

using symbols::Table;

constexpr int kDeepestNesting = 16;
constexpr uint32_t kOpenForRead = 0;

std::atomic<uint64_t> opened{0};

}  // namespace

ModuleMetadata::ModuleMetadata(Lookup& lookup, ModuleId module, const uint8_t* base, uint32_t flags)
    : lookup_(&lookup), module_(module), flags_(flags) {
  if (base == nullptr || (flags & kModuleDynamic) != 0) return;
  const bool flat = (flags & kModuleFlat) != 0;
  const auto layout = flat ? symbols::PeLayout::kFile : symbols::PeLayout::kMapped;
  auto image = Look([&] { return MetadataInPlace(base, layout, OwnReader::OfThisProcess()); });
  if (image) image_ = std::make_unique<const symbols::Metadata>(*std::move(image));
}

ModuleMetadata::ModuleMetadata(Lookup& lookup, ModuleId module) {
  const uint8_t* base = nullptr;
  uint32_t length = 0, flags = 0;
  AssemblyId assembly = 0;
  if (Succeeded(lookup.Ask<&ICorProfilerInfo::GetModuleInfo2>(module, &base, 0u, &length, nullptr,
                                                              &assembly, &flags)))
    *this = ModuleMetadata(lookup, module, base, flags);
}

template <class Out, class View>
Out ModuleMetadata::CopyOf(View there) const {
  Out out;
  out.resize(there.size());
  (void)Look([&] { return std::copy(there.begin(), there.end(), out.begin()); });
  return out;
}

std::string ModuleMetadata::NameOf(std::string_view type_namespace, std::string_view name) const {
  std::string out = CopyOf<std::string>(type_namespace);
  if (!out.empty()) out += '.';
  return out += CopyOf<std::string>(name);
}

uint64_t ModuleMetadata::opened_by_runtime() { return opened.load(std::memory_order_relaxed); }

bool ModuleMetadata::IsInImage(symbols::Table table, uint32_t token) const {
  return image_ != nullptr && symbols::RowOf(token) <= image_->RowCount(table);
}

IMetaDataImport* ModuleMetadata::Importer() {
  if (importer_ != nullptr || lookup_ == nullptr) return importer_.get();
  IUnknown* raw = nullptr;
  if (!Succeeded(lookup_->Ask<&ICorProfilerInfo::GetModuleMetaData>(module_, kOpenForRead,
                                                                    kMetadataImportIid, &raw)) ||
      raw == nullptr)
    return nullptr;
  if (image_ == nullptr && (flags_ & kModuleDynamic) == 0)
    opened.fetch_add(1, std::memory_order_relaxed);
  importer_ = {static_cast<IMetaDataImport*>(raw), Releaser{lookup_, MayGo(flags_)}};
  return importer_.get();
}

std::optional<ModuleMetadata::Scope> ModuleMetadata::FindScope() {
  if (image_ != nullptr) {
    const auto name = Look([&] { return symbols::ModuleFileName(*image_); });
    return Scope{CopyOf<std::string>(name), Look([&] { return symbols::ModuleMvid(*image_); })};
  }
  NameBuffer name;
  uint32_t length = 0;
  Scope out;
  if (Importer() == nullptr || !Succeeded(lookup_->AskOf<&IMetaDataImport::GetScopeProps>(
                                   *Importer(), name.data(), kNameUnits, &length, &out.mvid)))
    return std::nullopt;
  out.name = NameText(name, length);
  return out;
}

std::optional<ModuleMetadata::Method> ModuleMetadata::FindMethod(uint32_t token) {
  if (IsInImage(Table::kMethodDef, token)) {
    const auto method = Look([&] { return symbols::FindMethodDef(*image_, token); });
    if (!method) return std::nullopt;
    return Method{CopyOf<std::string>(method->name), method->owner,
                  CopyOf<std::vector<std::byte>>(method->signature)};
  }
  NameBuffer name;
  uint32_t length = 0, attributes = 0, size = 0, rva = 0, implementation = 0;
  const uint8_t* signature = nullptr;
  Method out;
  if (Importer() == nullptr || !Succeeded(lookup_->AskOf<&IMetaDataImport::GetMethodProps>(
                                   *Importer(), token, &out.owner, name.data(), kNameUnits, &length,
                                   &attributes, &signature, &size, &rva, &implementation)))
    return std::nullopt;
  out.name = NameText(name, length);
  if (signature != nullptr)
    out.signature = CopyOf<std::vector<std::byte>>(AsBytes(signature, size));
  return out;
}

std::optional<ModuleMetadata::TypeDef> ModuleMetadata::FindTypeDef(uint32_t token) {
  if (symbols::TableOf(token) != Table::kTypeDef || symbols::RowOf(token) == 0) return std::nullopt;
  if (IsInImage(Table::kTypeDef, token)) {
    const auto type = Look([&] { return symbols::FindTypeDef(*image_, token); });
    if (!type) return std::nullopt;
    return TypeDef{NameOf(type->type_namespace, type->name), type->owner, type->extends};
  }
  NameBuffer name;
  uint32_t length = 0, flags = 0;
  TypeDef out;
  if (Importer() == nullptr ||
      !Succeeded(lookup_->AskOf<&IMetaDataImport::GetTypeDefProps>(
          *Importer(), token, name.data(), kNameUnits, &length, &flags, &out.extends)))
    return std::nullopt;
  out.name = NameText(name, length);
  constexpr uint32_t kVisibility = 7, kNested = 2;
  if ((flags & kVisibility) >= kNested &&
      !Succeeded(
          lookup_->AskOf<&IMetaDataImport::GetNestedClassProps>(*Importer(), token, &out.owner)))
    out.owner = 0;
  return out;
}

std::string ModuleMetadata::TypeName(uint32_t token) {
  std::string out;
  auto type = FindTypeDef(token);
  for (int depth = 0; type && depth < kDeepestNesting; ++depth) {
    out = out.empty() ? std::move(type->name) : std::move(type->name) + "+" + out;
    type = FindTypeDef(type->owner);
  }
  return out;
}

std::string ModuleMetadata::OwnName(uint32_t token) {
  if (auto type = FindTypeDef(token)) return std::move(type->name);
  if (symbols::TableOf(token) != Table::kTypeRef) return {};
  if (IsInImage(Table::kTypeRef, token)) {
    const auto type = Look([&] { return symbols::FindTypeRef(*image_, token); });
    return type ? NameOf(type->type_namespace, type->name) : std::string();
  }
  NameBuffer name;
  uint32_t scope = 0, length = 0;
  if (Importer() == nullptr || !Succeeded(lookup_->AskOf<&IMetaDataImport::GetTypeRefProps>(
                                   *Importer(), token, &scope, name.data(), kNameUnits, &length)))
    return {};
  return NameText(name, length);
}

std::string ModuleMetadata::FieldName(uint32_t token) {
  if (IsInImage(Table::kField, token))
    return CopyOf<std::string>(Look([&] {
      return image_->StringAt(Table::kField, symbols::RowOf(token), symbols::column::kFieldName);
    }));
  NameBuffer name;
  uint32_t owner = 0, length = 0, attributes = 0, size = 0, element = 0, value_length = 0;
  const uint8_t* signature = nullptr;
  const void* value = nullptr;
  if (Importer() == nullptr ||
      !Succeeded(lookup_->AskOf<&IMetaDataImport::GetFieldProps>(
          *Importer(), token, &owner, name.data(), kNameUnits, &length, &attributes, &signature,
          &size, &element, &value, &value_length)))
    return {};
  return NameText(name, length);
}

std::vector<std::byte> ModuleMetadata::TypeSpec(uint32_t token) {
  if (IsInImage(Table::kTypeSpec, token))
    return CopyOf<std::vector<std::byte>>(Look([&] {
      return image_->BlobAt(Table::kTypeSpec, symbols::RowOf(token),
                            symbols::column::kTypeSpecSignature);
    }));
  const uint8_t* signature = nullptr;
  uint32_t size = 0;
  if (Importer() == nullptr ||
      !Succeeded(lookup_->AskOf<&IMetaDataImport::GetTypeSpecFromToken>(*Importer(), token,
                                                                        &signature, &size)) ||
      signature == nullptr)
    return {};
  return CopyOf<std::vector<std::byte>>(AsBytes(signature, size));
}

bool ModuleMetadata::IsValueType(uint32_t type_def) {
  const auto type = FindTypeDef(type_def);
  return type && OwnName(type->extends) == "System.ValueType";
}

}  // namespace clrscope::agent
