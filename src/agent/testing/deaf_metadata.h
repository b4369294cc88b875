// SPDX-License-Identifier: Apache-2.0
// Metadata that answers nothing: tests override what they need.
#pragma once

#include "base/com/metadata.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class DeafMetadata : public IMetaDataImport {
 public:
  virtual ~DeafMetadata() = default;
  HResult QueryInterface(const Guid&, void** out) override {
    *out = this;
    return kOk;
  }
  uint32_t AddRef() override { return 2; }
  uint32_t Release() override { return 1; }
  HResult CloseEnum() override { return kFail; }
  HResult CountEnum() override { return kFail; }
  HResult ResetEnum() override { return kFail; }
  HResult EnumTypeDefs() override { return kFail; }
  HResult EnumInterfaceImpls() override { return kFail; }
  HResult EnumTypeRefs() override { return kFail; }
  HResult FindTypeDefByName(const char16_t*, uint32_t, uint32_t*) override { return kFail; }
  HResult GetScopeProps(char16_t*, uint32_t, uint32_t*, Guid*) override { return kFail; }
  HResult GetModuleFromScope() override { return kFail; }
  HResult GetTypeDefProps(uint32_t, char16_t*, uint32_t, uint32_t*, uint32_t*, uint32_t*) override {
    return kFail;
  }
  HResult GetInterfaceImplProps() override { return kFail; }
  HResult GetTypeRefProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*) override {
    return kFail;
  }
  HResult ResolveTypeRef() override { return kFail; }
  HResult EnumMembers() override { return kFail; }
  HResult EnumMembersWithName() override { return kFail; }
  HResult EnumMethods() override { return kFail; }
  HResult EnumMethodsWithName() override { return kFail; }
  HResult EnumFields() override { return kFail; }
  HResult EnumFieldsWithName() override { return kFail; }
  HResult EnumParams() override { return kFail; }
  HResult EnumMemberRefs() override { return kFail; }
  HResult EnumMethodImpls() override { return kFail; }
  HResult EnumPermissionSets() override { return kFail; }
  HResult FindMember() override { return kFail; }
  HResult FindMethod() override { return kFail; }
  HResult FindField() override { return kFail; }
  HResult FindMemberRef() override { return kFail; }
  HResult GetMethodProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*, uint32_t*,
                         const uint8_t**, uint32_t*, uint32_t*, uint32_t*) override {
    return kFail;
  }
  HResult GetMemberRefProps() override { return kFail; }
  HResult EnumProperties() override { return kFail; }
  HResult EnumEvents() override { return kFail; }
  HResult GetEventProps() override { return kFail; }
  HResult EnumMethodSemantics() override { return kFail; }
  HResult GetMethodSemantics() override { return kFail; }
  HResult GetClassLayout() override { return kFail; }
  HResult GetFieldMarshal() override { return kFail; }
  HResult GetRVA() override { return kFail; }
  HResult GetPermissionSetProps() override { return kFail; }
  HResult GetSigFromToken() override { return kFail; }
  HResult GetModuleRefProps() override { return kFail; }
  HResult EnumModuleRefs() override { return kFail; }
  HResult GetTypeSpecFromToken(uint32_t, const uint8_t**, uint32_t*) override { return kFail; }
  HResult GetNameFromToken() override { return kFail; }
  HResult EnumUnresolvedMethods() override { return kFail; }
  HResult GetUserString() override { return kFail; }
  HResult GetPinvokeMap() override { return kFail; }
  HResult EnumSignatures() override { return kFail; }
  HResult EnumTypeSpecs() override { return kFail; }
  HResult EnumUserStrings() override { return kFail; }
  HResult GetParamForMethodIndex() override { return kFail; }
  HResult EnumCustomAttributes() override { return kFail; }
  HResult GetCustomAttributeProps() override { return kFail; }
  HResult FindTypeRef() override { return kFail; }
  HResult GetMemberProps() override { return kFail; }
  HResult GetFieldProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*, uint32_t*,
                        const uint8_t**, uint32_t*, uint32_t*, const void**, uint32_t*) override {
    return kFail;
  }
  HResult GetPropertyProps() override { return kFail; }
  HResult GetParamProps() override { return kFail; }
  HResult GetCustomAttributeByName() override { return kFail; }
  HResult IsValidToken() override { return kFail; }
  HResult GetNestedClassProps(uint32_t, uint32_t*) override { return kFail; }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
