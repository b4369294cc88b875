// SPDX-License-Identifier: Apache-2.0
#include "agent/testing/fake_types.h"

#include <algorithm>

namespace clrscope::agent {
namespace {

constexpr uint32_t kRows = 0xffffff, kFieldTable = 0x04000000, kValueTypeRef = 0x01000001,
                   kObjectRef = 0x01000002;

void CopyName(const std::string& text, uint32_t capacity, char16_t* out, uint32_t* length) {
  const auto n = static_cast<uint32_t>(std::min<size_t>(text.size(), capacity - 1));
  for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<char16_t>(text[i]);
  out[n] = 0;
  *length = n + 1;
}

}  // namespace

uintptr_t FakeTypes::Add(Type type) {
  Table& t = tables_.emplace_back();
  t.words[2] = type.base;
  t.words[3] = type.module;
  t.type = std::move(type);
  return reinterpret_cast<uintptr_t>(t.words.data());
}

FakeTypes::Table* FakeTypes::Find(ClassId type, size_t* index) {
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(tables_[i].words.data()) != type) continue;
    *index = i;
    return &tables_[i];
  }
  return nullptr;
}

HResult FakeTypes::IsArrayClass(ClassId type, uint32_t* element_kind, ClassId* element,
                                uint32_t* rank) {
  size_t i = 0;
  const Table* t = Find(type, &i);
  if (t == nullptr || !t->type.is_array) return kFail;
  *element_kind = 0x1c;
  *element = 0;
  *rank = 1;
  return kOk;
}

HResult FakeTypes::GetClassIDInfo2(ClassId type, ModuleId* module, uint32_t* token, ClassId* parent,
                                   uint32_t capacity, uint32_t* count, ClassId* arguments) {
  size_t i = 0;
  const Table* t = Find(type, &i);
  if (t == nullptr) return kFail;
  *module = t->type.module;
  *token = TokenOf(i);
  *parent = t->type.base;
  *count = static_cast<uint32_t>(t->type.arguments.size());
  std::copy_n(t->type.arguments.begin(), std::min(capacity, *count), arguments);
  return kOk;
}

HResult FakeTypes::GetClassLayout(ClassId type, FieldOffset* fields, uint32_t capacity,
                                  uint32_t* count, uint32_t* size) {
  size_t i = 0;
  const Table* t = Find(type, &i);
  if (t == nullptr) return kFail;
  *size = 0;
  *count = static_cast<uint32_t>(t->type.fields.size());
  for (uint32_t f = 0; f < std::min(capacity, *count); ++f)
    fields[f] = {kFieldTable + static_cast<uint32_t>(i) * kFieldsOfType + f,
                 t->type.fields[f].second};
  return kOk;
}

HResult FakeTypes::GetModuleInfo2(ModuleId, const uint8_t**, uint32_t, uint32_t*, char16_t*,
                                  AssemblyId*, uint32_t*) {
  return kOk;  // no image
}

HResult FakeTypes::GetModuleMetaData(ModuleId, uint32_t, const Guid&, IUnknown** out) {
  *out = &metadata_;
  return kOk;
}

HResult FakeTypes::Metadata::GetTypeDefProps(uint32_t token, char16_t* name, uint32_t capacity,
                                             uint32_t* length, uint32_t* flags, uint32_t* extends) {
  const uint32_t index = (token & kRows) - 2;
  if (index >= types_.tables_.size()) return kFail;
  const Type& t = types_.tables_[index].type;
  *flags = 1;
  *extends = t.is_value ? kValueTypeRef : kObjectRef;
  CopyName(t.name, capacity, name, length);
  return kOk;
}

HResult FakeTypes::Metadata::GetTypeRefProps(uint32_t token, uint32_t*, char16_t* name,
                                             uint32_t capacity, uint32_t* length) {
  CopyName(token == kValueTypeRef ? "System.ValueType" : "System.Object", capacity, name, length);
  return kOk;
}

HResult FakeTypes::Metadata::GetFieldProps(uint32_t token, uint32_t*, char16_t* name,
                                           uint32_t capacity, uint32_t* length, uint32_t*,
                                           const uint8_t**, uint32_t*, uint32_t*, const void**,
                                           uint32_t*) {
  const uint32_t row = token & kRows;
  const auto& fields = types_.tables_.at(row / kFieldsOfType).type.fields;
  CopyName(fields.at(row % kFieldsOfType).first, capacity, name, length);
  return kOk;
}

}  // namespace clrscope::agent
