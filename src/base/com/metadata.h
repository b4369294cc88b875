// SPDX-License-Identifier: Apache-2.0
// IMetaDataImport up to the last method that is used; the others only hold their slot.
// Source: dotnet/runtime src/coreclr/inc/cor.h
#pragma once

#include <cstdint>

#include "base/com/unknown.h"

namespace clrscope {

inline constexpr Guid kMetadataImportIid = {
    0x7DAC8207, 0xD3AE, 0x4c75, {0x9B, 0x67, 0x92, 0x80, 0x1A, 0x49, 0x7D, 0x44}};

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class IMetaDataImport : public IUnknown {
 public:
  virtual HResult CloseEnum() = 0;
  virtual HResult CountEnum() = 0;
  virtual HResult ResetEnum() = 0;
  virtual HResult EnumTypeDefs() = 0;
  virtual HResult EnumInterfaceImpls() = 0;
  virtual HResult EnumTypeRefs() = 0;
  virtual HResult FindTypeDefByName(const char16_t* name, uint32_t enclosing, uint32_t* token) = 0;
  virtual HResult GetScopeProps(char16_t* name, uint32_t capacity, uint32_t* length,
                                Guid* mvid) = 0;
  virtual HResult GetModuleFromScope() = 0;
  virtual HResult GetTypeDefProps(uint32_t token, char16_t* name, uint32_t capacity,
                                  uint32_t* length, uint32_t* flags, uint32_t* extends) = 0;
  virtual HResult GetInterfaceImplProps() = 0;
  virtual HResult GetTypeRefProps(uint32_t token, uint32_t* scope, char16_t* name,
                                  uint32_t capacity, uint32_t* length) = 0;
  virtual HResult ResolveTypeRef() = 0;
  virtual HResult EnumMembers() = 0;
  virtual HResult EnumMembersWithName() = 0;
  virtual HResult EnumMethods() = 0;
  virtual HResult EnumMethodsWithName() = 0;
  virtual HResult EnumFields() = 0;
  virtual HResult EnumFieldsWithName() = 0;
  virtual HResult EnumParams() = 0;
  virtual HResult EnumMemberRefs() = 0;
  virtual HResult EnumMethodImpls() = 0;
  virtual HResult EnumPermissionSets() = 0;
  virtual HResult FindMember() = 0;
  virtual HResult FindMethod() = 0;
  virtual HResult FindField() = 0;
  virtual HResult FindMemberRef() = 0;
  virtual HResult GetMethodProps(uint32_t token, uint32_t* owner, char16_t* name, uint32_t capacity,
                                 uint32_t* length, uint32_t* attributes, const uint8_t** signature,
                                 uint32_t* signature_size, uint32_t* rva, uint32_t* impl_flags) = 0;
  virtual HResult GetMemberRefProps() = 0;
  virtual HResult EnumProperties() = 0;
  virtual HResult EnumEvents() = 0;
  virtual HResult GetEventProps() = 0;
  virtual HResult EnumMethodSemantics() = 0;
  virtual HResult GetMethodSemantics() = 0;
  virtual HResult GetClassLayout() = 0;
  virtual HResult GetFieldMarshal() = 0;
  virtual HResult GetRVA() = 0;
  virtual HResult GetPermissionSetProps() = 0;
  virtual HResult GetSigFromToken() = 0;
  virtual HResult GetModuleRefProps() = 0;
  virtual HResult EnumModuleRefs() = 0;
  virtual HResult GetTypeSpecFromToken(uint32_t token, const uint8_t** signature,
                                       uint32_t* size) = 0;
  virtual HResult GetNameFromToken() = 0;
  virtual HResult EnumUnresolvedMethods() = 0;
  virtual HResult GetUserString() = 0;
  virtual HResult GetPinvokeMap() = 0;
  virtual HResult EnumSignatures() = 0;
  virtual HResult EnumTypeSpecs() = 0;
  virtual HResult EnumUserStrings() = 0;
  virtual HResult GetParamForMethodIndex() = 0;
  virtual HResult EnumCustomAttributes() = 0;
  virtual HResult GetCustomAttributeProps() = 0;
  virtual HResult FindTypeRef() = 0;
  virtual HResult GetMemberProps() = 0;
  virtual HResult GetFieldProps(uint32_t token, uint32_t* owner, char16_t* name, uint32_t capacity,
                                uint32_t* length, uint32_t* attributes, const uint8_t** signature,
                                uint32_t* signature_size, uint32_t* element_type,
                                const void** value, uint32_t* value_length) = 0;
  virtual HResult GetPropertyProps() = 0;
  virtual HResult GetParamProps() = 0;
  virtual HResult GetCustomAttributeByName() = 0;
  virtual HResult IsValidToken() = 0;
  virtual HResult GetNestedClassProps(uint32_t token, uint32_t* enclosing) = 0;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope
