// SPDX-License-Identifier: Apache-2.0
// A runtime of types with fields, whose method tables lie in this process as a real one's do: base
// and module behind two words. Tokens are numbers of types, fields and methods.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "agent/testing/deaf_info.h"
#include "agent/testing/deaf_metadata.h"

namespace clrscope::agent {

class FakeTypes final : public DeafInfo {
 public:
  static constexpr ModuleId kCore = 0x10000, kProgram = 0x20000;

  struct Type {
    std::string name;
    ModuleId module = kCore;
    uintptr_t base = 0;
    std::vector<std::pair<std::string, uint32_t>> fields{};  // name, offset
    std::vector<uintptr_t> arguments{};
    bool is_value = false;
    bool is_array = false;
  };
  // Its method table.
  uintptr_t Add(Type type);
  static constexpr uint32_t TokenOf(size_t index) {
    return 0x02000000 + static_cast<uint32_t>(index) + 2;
  }

  // NOLINTBEGIN(readability-identifier-naming): the runtime's names
  HResult IsArrayClass(ClassId type, uint32_t* element_kind, ClassId* element,
                       uint32_t* rank) override;
  HResult GetClassIDInfo2(ClassId type, ModuleId* module, uint32_t* token, ClassId* parent,
                          uint32_t capacity, uint32_t* count, ClassId* arguments) override;
  HResult GetClassLayout(ClassId type, FieldOffset* fields, uint32_t capacity, uint32_t* count,
                         uint32_t* size) override;
  HResult GetModuleInfo2(ModuleId module, const uint8_t** base, uint32_t capacity, uint32_t* length,
                         char16_t* name, AssemblyId* assembly, uint32_t* flags) override;
  HResult GetModuleMetaData(ModuleId module, uint32_t open_flags, const Guid& iid,
                            IUnknown** out) override;
  // NOLINTEND(readability-identifier-naming)

 private:
  class Metadata final : public DeafMetadata {
   public:
    explicit Metadata(FakeTypes& types) : types_(types) {}
    // NOLINTBEGIN(readability-identifier-naming)
    HResult GetTypeDefProps(uint32_t token, char16_t* name, uint32_t capacity, uint32_t* length,
                            uint32_t* flags, uint32_t* extends) override;
    HResult GetTypeRefProps(uint32_t token, uint32_t* scope, char16_t* name, uint32_t capacity,
                            uint32_t* length) override;
    HResult GetFieldProps(uint32_t token, uint32_t* owner, char16_t* name, uint32_t capacity,
                          uint32_t* length, uint32_t* attributes, const uint8_t** signature,
                          uint32_t* signature_size, uint32_t* element_type, const void** value,
                          uint32_t* value_length) override;
    // NOLINTEND(readability-identifier-naming)
   private:
    FakeTypes& types_;
  };
  struct Table {
    std::array<uintptr_t, 4> words{};
    Type type;
  };
  static constexpr uint32_t kFieldsOfType = 64;
  Table* Find(ClassId type, size_t* index);

  std::deque<Table> tables_;
  Metadata metadata_{*this};
};

}  // namespace clrscope::agent
