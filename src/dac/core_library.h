// SPDX-License-Identifier: Apache-2.0
// Types, fields and statics of System.Private.CoreLib by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dac/runtime.h"

namespace clrscope::dac {

struct Field {
  uint32_t offset = 0;     // of an instance, behind its type's word; of a static, from its base
  Address type = 0;        // its own type, 0 where that is not loaded
  bool is_static = false;  // of the program or of a thread
  bool is_thread_static = false;
};

class CoreLibrary {
 public:
  explicit CoreLibrary(Runtime& runtime);

  // Whether its types could be read.
  bool whole() const { return whole_; }

  // 0 when it is not loaded. `outer`: "" or the type that it is nested in.
  Address Type(std::string_view name, std::string_view outer = {});
  // Of the type itself, not of its base types.
  std::optional<Field> FieldOf(Address type, std::string_view name);
  // The object that a static field refers to.
  Address StaticObject(Address type, std::string_view field);
  // The same of a field that is marked ThreadStatic, and of the runtime's Thread at `thread`.
  Address ThreadStaticObject(Address type, std::string_view field, Address thread);

  // The type of an object; 0 when it cannot be read.
  Address TypeOf(Address object);
  // Where a field of an object lies, 0 when there is none of that name.
  Address At(Address object, std::string_view field);
  Address Reference(Address object, std::string_view field);

 private:
  uint32_t Token(std::string_view name, uint32_t enclosing);
  const std::map<std::string, Field, std::less<>>& Fields(Address type);

  Runtime& runtime_;
  bool whole_ = false;
  Address module_ = 0;
  ComPtr<IUnknown> holder_;
  ComPtr<IMetaDataImport> metadata_;
  std::unordered_map<uint32_t, Address> loaded_;  // row of the type → its method table
  std::map<Address, std::map<std::string, Field, std::less<>>> fields_;
};

}  // namespace clrscope::dac
