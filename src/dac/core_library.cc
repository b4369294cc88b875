// SPDX-License-Identifier: Apache-2.0
#include "dac/core_library.h"

#include <algorithm>
#include <array>

#include "base/utf.h"
#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr uint32_t kRowMask = 0x00ffffff;
constexpr int kMaxFields = 500;
constexpr size_t kMaxTypes = 200'000;
constexpr size_t kMaxFieldName = 256;
constexpr uint64_t kObjectHeaderMask = ~uint64_t{7};  // the GC marks objects in the low bits

struct TypeMap {
  std::unordered_map<uint32_t, Address>* loaded;
};

void Visit(uint32_t index, Address type, void* token) {
  const OurCode inserts;
  auto& loaded = *static_cast<TypeMap*>(token)->loaded;
  if (loaded.size() < kMaxTypes) loaded[index] = type;
}

}  // namespace

CoreLibrary::CoreLibrary(Runtime& runtime) : runtime_(runtime) {
  module_ = runtime.CoreModule();
  if (module_ == 0) return;
  if (!Succeeds([&] { return runtime.sos().GetModule(module_, holder_.out()); })) return;
  if (!Succeeds([&] { return holder_->QueryInterface(kMetadataImportIid, metadata_.raw_out()); }))
    return;
  TypeMap map{&loaded_};
  whole_ = Succeeds([&] {
    return runtime.sos().TraverseModuleMap(kTypeDefToMethodTable, module_, &Visit, &map);
  });
}

uint32_t CoreLibrary::Token(std::string_view name, uint32_t enclosing) {
  uint32_t token = 0;
  if (!metadata_) return 0;
  const std::u16string wide = ToUtf16(name);
  return Succeeds([&] { return metadata_->FindTypeDefByName(wide.c_str(), enclosing, &token); })
             ? token
             : 0;
}

Address CoreLibrary::Type(std::string_view name, std::string_view outer) {
  uint32_t enclosing = 0;
  if (!outer.empty()) {
    enclosing = Token(outer, 0);
    if (enclosing == 0) return 0;
  }
  const uint32_t token = Token(name, enclosing);
  const auto found = loaded_.find(token & kRowMask);
  return token == 0 || found == loaded_.end() ? 0 : found->second & kObjectHeaderMask;
}

const std::map<std::string, Field, std::less<>>& CoreLibrary::Fields(Address type) {
  const auto [at, fresh] = fields_.try_emplace(type);
  if (!fresh || !metadata_) return at->second;
  MethodTableFieldData all, inherited;
  MethodTableData table;
  if (!Succeeds([&] { return runtime_.sos().GetMethodTableFieldData(type, &all); }) ||
      !Succeeds([&] { return runtime_.sos().GetMethodTableData(type, &table); }))
    return at->second;
  if (table.parent != 0 &&
      !Succeeds([&] { return runtime_.sos().GetMethodTableFieldData(table.parent, &inherited); }))
    return at->second;
  const int count =
      std::min(kMaxFields, all.instance_fields - inherited.instance_fields + all.static_fields);
  // Those of threads are among the static ones.
  Address next = all.first;
  for (int i = 0; i < count && next != 0; ++i) {
    FieldDescData field;
    if (!Succeeds([&] { return runtime_.sos().GetFieldDescData(next, &field); })) break;
    next = field.next;
    std::array<char16_t, kMaxFieldName> name{};
    uint32_t owner = 0, length = 0, attributes = 0, signature_size = 0, element = 0, value_size = 0;
    const uint8_t* signature = nullptr;
    const void* value = nullptr;
    if (!Succeeds([&] {
          return metadata_->GetFieldProps(field.token, &owner, name.data(), kMaxFieldName - 1,
                                          &length, &attributes, &signature, &signature_size,
                                          &element, &value, &value_size);
        }))
      continue;
    const bool of_thread = field.is_thread_local != 0;
    at->second[Utf8(name.data(), kMaxFieldName)] = {field.offset, field.type_of_field,
                                                    field.is_static != 0 || of_thread, of_thread};
  }
  return at->second;
}

std::optional<Field> CoreLibrary::FieldOf(Address type, std::string_view name) {
  if (type == 0) return std::nullopt;
  const auto& fields = Fields(type);
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

Address CoreLibrary::StaticObject(Address type, std::string_view name) {
  const std::optional<Field> field = FieldOf(type, name);
  if (!field || !field->is_static || field->is_thread_static) return 0;
  Address base = 0, other = 0;
  if (runtime_.sos14() != nullptr) {
    if (!Succeeds([&] { return runtime_.sos14()->GetStaticBaseAddress(type, &other, &base); }))
      return 0;
  } else {
    DomainLocalModuleData data;
    if (!Succeeds(
            [&] { return runtime_.sos().GetDomainLocalModuleDataFromModule(module_, &data); }))
      return 0;
    base = data.gc_statics;
  }
  return base == 0 ? 0 : runtime_.remote().Word(base + field->offset);
}

Address CoreLibrary::ThreadStaticObject(Address type, std::string_view name, Address thread) {
  const std::optional<Field> field = FieldOf(type, name);
  if (!field || !field->is_thread_static) return 0;
  Address base = 0, other = 0;
  if (runtime_.sos14() != nullptr) {
    if (!Succeeds([&] {
          return runtime_.sos14()->GetThreadStaticBaseAddress(type, thread, &other, &base);
        }))
      return 0;
  } else {
    ModuleData module;
    ThreadLocalModuleData data;
    if (!Succeeds([&] { return runtime_.sos().GetModuleData(module_, &module); }) || !Succeeds([&] {
          return runtime_.sos().GetThreadLocalModuleData(
              thread, static_cast<uint32_t>(module.module_index), &data);
        }))
      return 0;
    base = data.gc_statics;
  }
  return base == 0 ? 0 : runtime_.remote().Word(base + field->offset);
}

Address CoreLibrary::TypeOf(Address object) {
  if (object == 0 || object % 8 != 0) return 0;
  return runtime_.remote().Word(object) & kObjectHeaderMask;
}

Address CoreLibrary::At(Address object, std::string_view name) {
  const std::optional<Field> field = FieldOf(TypeOf(object), name);
  return !field || field->is_static ? 0 : object + 8 + field->offset;
}

Address CoreLibrary::Reference(Address object, std::string_view name) {
  const Address at = At(object, name);
  return at == 0 ? 0 : runtime_.remote().Word(at);
}

}  // namespace clrscope::dac
