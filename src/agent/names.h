// SPDX-License-Identifier: Apache-2.0
// FunctionIDs and ClassIDs → dictionaries of methods and types, by the runtime's metadata. On the
// agent's thread, for which the unloading of code waits (see Agent::AwaitUnload).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/com/corprof.h"
#include "agent/com/metadata.h"
#include "profile/interval_frame.h"

namespace clrscope::agent {

class Names {
 public:
  explicit Names(ICorProfilerInfo* info);

  // Indexes into methods(); these are always there.
  static constexpr uint32_t kUnknownMethod = 0, kNativeMethod = 1, kTruncatedMethod = 2,
                            kNoStackMethod = 3, kOtherMethod = 4;
  struct Method {
    uint32_t id = kUnknownMethod;
    bool collectible = false;  // its code can be unloaded
  };
  Method MethodOf(FunctionId function);
  // Type ids: indexes into types() + 1; 0 = unknown.
  uint32_t TypeOf(ClassId type);

  const std::vector<profile::IntervalMethod>& methods() const { return methods_; }
  const std::vector<profile::IntervalType>& types() const { return types_; }
  uint64_t unnamed_methods() const { return unnamed_methods_; }
  uint64_t unnamed_types() const { return unnamed_types_; }

  // Ids of what is unloaded may be given to something else.
  void Forget(ModuleId module);
  void ForgetFunction(FunctionId function) { method_ids_.erase(function); }

 private:
  struct Module {
    std::string name, mvid;
    bool collectible = false;
    ComPtr<IMetaDataImport> metadata;
  };
  Module& ModuleOf(ModuleId id);
  std::string DefinitionName(Module& module, uint32_t token);
  std::string RawTypeName(ClassId type, int depth);
  profile::IntervalMethod Describe(FunctionId function);
  bool touched_collectible_ = false;  // by what was described last

  ICorProfilerInfo* info_;
  std::unordered_map<ModuleId, Module> modules_;
  std::unordered_map<FunctionId, Method> method_ids_;
  std::unordered_map<ClassId, uint32_t> type_ids_;
  std::unordered_map<std::string, uint32_t> method_keys_;  // one entry for all codes of a method
  std::unordered_map<std::string, uint32_t> type_keys_;
  std::vector<profile::IntervalMethod> methods_;
  std::vector<profile::IntervalType> types_;
  uint64_t unnamed_methods_ = 0, unnamed_types_ = 0;
};

}  // namespace clrscope::agent
