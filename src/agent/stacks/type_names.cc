// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/type_names.h"

#include <utility>

#include "agent/stacks/name_buffer.h"

namespace clrscope::agent {
namespace {

constexpr int kDeepestNesting = 16;
constexpr uint32_t kTypeDefNil = 0x02000000;

}  // namespace

std::string TypeDefinitionName(IMetaDataImport* metadata, uint32_t token) {
  std::string out;
  if (metadata == nullptr) return out;
  for (int depth = 0; depth < kDeepestNesting && token != kTypeDefNil; ++depth) {
    NameBuffer name;
    uint32_t length = 0, flags = 0, extends = 0;
    if (!Succeeded(
            metadata->GetTypeDefProps(token, name.data(), kNameUnits, &length, &flags, &extends)))
      break;
    std::string part = NameText(name, length);
    out = out.empty() ? std::move(part) : std::move(part) + "+" + out;
    constexpr uint32_t kVisibility = 7, kNested = 2;
    if ((flags & kVisibility) < kNested) break;
    uint32_t enclosing = kTypeDefNil;
    if (!Succeeded(metadata->GetNestedClassProps(token, &enclosing))) break;
    token = enclosing;
  }
  return out;
}

TypeNames::TypeNames(ICorProfilerInfo* info, ModuleId module) {
  constexpr uint32_t kForRead = 0;
  IUnknown* raw = nullptr;
  if (Succeeded(info->GetModuleMetaData(module, kForRead, kMetadataImportIid, &raw)) &&
      raw != nullptr)
    metadata_ = ComPtr<IMetaDataImport>(static_cast<IMetaDataImport*>(raw));
}

std::string TypeNames::Field(uint32_t token) const {
  NameBuffer name;
  uint32_t owner = 0, length = 0, attributes = 0, size = 0, element = 0, value_length = 0;
  const uint8_t* signature = nullptr;
  const void* value = nullptr;
  if (!metadata_ || !Succeeded(metadata_->GetFieldProps(token, &owner, name.data(), kNameUnits,
                                                        &length, &attributes, &signature, &size,
                                                        &element, &value, &value_length)))
    return {};
  return NameText(name, length);
}

uint32_t TypeNames::OwnerOf(uint32_t method) const {
  NameBuffer name;
  uint32_t owner = 0, length = 0, attributes = 0, size = 0, rva = 0, implementation = 0;
  const uint8_t* signature = nullptr;
  if (!metadata_ ||
      !Succeeded(metadata_->GetMethodProps(method, &owner, name.data(), kNameUnits, &length,
                                           &attributes, &signature, &size, &rva, &implementation)))
    return 0;
  return owner;
}

bool TypeNames::IsValueType(uint32_t token) const {
  constexpr uint32_t kTable = 0xff000000, kTypeDef = 0x02000000, kTypeRef = 0x01000000;
  NameBuffer name;
  uint32_t length = 0, flags = 0, extends = 0, scope = 0;
  if (!metadata_ || !Succeeded(metadata_->GetTypeDefProps(token, name.data(), kNameUnits, &length,
                                                          &flags, &extends)))
    return false;
  if ((extends & kTable) == kTypeDef) return Type(extends) == "System.ValueType";
  return (extends & kTable) == kTypeRef &&
         Succeeded(metadata_->GetTypeRefProps(extends, &scope, name.data(), kNameUnits, &length)) &&
         NameText(name, length) == "System.ValueType";
}

}  // namespace clrscope::agent
