// SPDX-License-Identifier: Apache-2.0
// Metadata that answers nothing: tests override what they need.
#pragma once

#include "agent/testing/failing_calls.h"
#include "base/com/metadata.h"

namespace clrscope::agent {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class DeafMetadata : public IMetaDataImport, protected FailingCalls {
 public:
  virtual ~DeafMetadata() = default;
  HResult QueryInterface(const Guid&, void** out) override {
    *out = this;
    return kOk;
  }
  uint32_t AddRef() override { return 2; }
  uint32_t Release() override { return 1; }
  HResult CloseEnum() override { return Fail(); }
  HResult CountEnum() override { return Fail(); }
  HResult ResetEnum() override { return Fail(); }
  HResult EnumTypeDefs() override { return Fail(); }
  HResult EnumInterfaceImpls() override { return Fail(); }
  HResult EnumTypeRefs() override { return Fail(); }
  HResult FindTypeDefByName(const char16_t*, uint32_t, uint32_t*) override { return Fail(); }
  HResult GetScopeProps(char16_t*, uint32_t, uint32_t*, Guid*) override { return Fail(); }
  HResult GetModuleFromScope() override { return Fail(); }
  HResult GetTypeDefProps(uint32_t, char16_t*, uint32_t, uint32_t*, uint32_t*, uint32_t*) override {
    return Fail();
  }
  HResult GetInterfaceImplProps() override { return Fail(); }
  HResult GetTypeRefProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*) override {
    return Fail();
  }
  HResult ResolveTypeRef() override { return Fail(); }
  HResult EnumMembers() override { return Fail(); }
  HResult EnumMembersWithName() override { return Fail(); }
  HResult EnumMethods() override { return Fail(); }
  HResult EnumMethodsWithName() override { return Fail(); }
  HResult EnumFields() override { return Fail(); }
  HResult EnumFieldsWithName() override { return Fail(); }
  HResult EnumParams() override { return Fail(); }
  HResult EnumMemberRefs() override { return Fail(); }
  HResult EnumMethodImpls() override { return Fail(); }
  HResult EnumPermissionSets() override { return Fail(); }
  HResult FindMember() override { return Fail(); }
  HResult FindMethod() override { return Fail(); }
  HResult FindField() override { return Fail(); }
  HResult FindMemberRef() override { return Fail(); }
  HResult GetMethodProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*, uint32_t*,
                         const uint8_t**, uint32_t*, uint32_t*, uint32_t*) override {
    return Fail();
  }
  HResult GetMemberRefProps() override { return Fail(); }
  HResult EnumProperties() override { return Fail(); }
  HResult EnumEvents() override { return Fail(); }
  HResult GetEventProps() override { return Fail(); }
  HResult EnumMethodSemantics() override { return Fail(); }
  HResult GetMethodSemantics() override { return Fail(); }
  HResult GetClassLayout() override { return Fail(); }
  HResult GetFieldMarshal() override { return Fail(); }
  HResult GetRVA() override { return Fail(); }
  HResult GetPermissionSetProps() override { return Fail(); }
  HResult GetSigFromToken() override { return Fail(); }
  HResult GetModuleRefProps() override { return Fail(); }
  HResult EnumModuleRefs() override { return Fail(); }
  HResult GetTypeSpecFromToken(uint32_t, const uint8_t**, uint32_t*) override { return Fail(); }
  HResult GetNameFromToken() override { return Fail(); }
  HResult EnumUnresolvedMethods() override { return Fail(); }
  HResult GetUserString() override { return Fail(); }
  HResult GetPinvokeMap() override { return Fail(); }
  HResult EnumSignatures() override { return Fail(); }
  HResult EnumTypeSpecs() override { return Fail(); }
  HResult EnumUserStrings() override { return Fail(); }
  HResult GetParamForMethodIndex() override { return Fail(); }
  HResult EnumCustomAttributes() override { return Fail(); }
  HResult GetCustomAttributeProps() override { return Fail(); }
  HResult FindTypeRef() override { return Fail(); }
  HResult GetMemberProps() override { return Fail(); }
  HResult GetFieldProps(uint32_t, uint32_t*, char16_t*, uint32_t, uint32_t*, uint32_t*,
                        const uint8_t**, uint32_t*, uint32_t*, const void**, uint32_t*) override {
    return Fail();
  }
  HResult GetPropertyProps() override { return Fail(); }
  HResult GetParamProps() override { return Fail(); }
  HResult GetCustomAttributeByName() override { return Fail(); }
  HResult IsValidToken() override { return Fail(); }
  HResult GetNestedClassProps(uint32_t, uint32_t*) override { return Fail(); }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::agent
