// SPDX-License-Identifier: Apache-2.0
// FunctionIDs and ClassIDs → dictionaries of methods and types, by the runtime's metadata. On the
// agent's thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/com/corprof.h"
#include "agent/host/lookup.h"
#include "agent/samples/thrown_names.h"
#include "agent/stacks/module_metadata.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class Names {
 public:
  explicit Names(Lookup& lookup);

  // Indexes into methods(); these are always there.
  static constexpr uint32_t kUnknownMethod = 0, kNativeMethod = 1, kTruncatedMethod = 2,
                            kNoStackMethod = 3, kOtherMethod = 4;
  // More than that between two trims are "(other)" and unknown.
  static constexpr size_t kMostMethods = 128 * 1024, kMostTypes = 64 * 1024;
  struct Method {
    uint32_t id = kUnknownMethod;
    bool collectible = false;  // its code can be unloaded
  };
  // After the lookup was begun for it. Where it has gone meanwhile: unknown, and not remembered.
  Method MethodOf(FunctionId function);
  // The caller that a state machine of this type is: "[async] Shop.Cart.AddAsync". Alike.
  Method AsyncCaller(ClassId machine);
  // Type ids: indexes into types() + 1; 0 = unknown. `epoch`: of the gate, when the type was seen.
  // `gone` is set when it was unloaded before all was asked, or the gate is shut. Begins a lookup
  // of its own.
  uint32_t TypeOf(ClassId type, uint32_t epoch, bool* gone);

  // The type id of an exception, by the id that thrown() gave its name.
  uint32_t TypeThrown(uint32_t id);
  ThrownNames& thrown() { return thrown_; }

  const std::vector<profile::IntervalMethod>& methods() const { return methods_; }
  const std::vector<profile::IntervalType>& types() const { return types_; }
  uint64_t unnamed_methods() const { return unnamed_methods_; }
  uint64_t unnamed_types() const { return unnamed_types_; }

  // Ids of what is unloaded may be given to something else.
  void Forget();
  void ForgetFunction(FunctionId function) { method_ids_.erase(function); }
  // Everything that was seen in earlier epochs has been taken in.
  void ForgetEarlierEpochs() { earlier_type_ids_.clear(); }

  // Drops the methods and types that are not kept and numbers the others anew, in their order.
  // Indexes and results: by index into methods() and by type id; kDropped.
  static constexpr uint32_t kDropped = ~0u;
  struct Numbers {
    std::vector<uint32_t> methods, types;
  };
  Numbers Trim(const std::vector<bool>& keep_methods, const std::vector<bool>& keep_types);
  size_t memory_bytes() const;

 private:
  struct Module {
    std::string name, mvid;
    bool collectible = false;
    ModuleMetadata metadata;
  };
  void EnterEpoch();
  Module& ModuleOf(ModuleId id);
  void DropCollectible();
  uint32_t AddTypeNamed(uint64_t id, std::string raw);
  std::string RawTypeName(ClassId type, int depth);
  profile::IntervalMethod Describe(FunctionId function);
  bool touched_collectible_ = false;  // by what was described last

  Lookup& lookup_;
  uint32_t epoch_ = 0, earlier_epoch_ = 0;
  std::unordered_map<ModuleId, Module> modules_;
  // Their metadata is given back at once: nobody tells in time that it goes.
  std::vector<ModuleId> collectible_modules_;
  std::unordered_map<FunctionId, Method> method_ids_;
  // Of this epoch, and of the last one before it that has any: a program that drops many dynamic
  // methods at once goes through many epochs. What was named in an epoch is right for all that was
  // seen in it.
  std::unordered_map<ClassId, uint32_t> type_ids_, earlier_type_ids_;
  ThrownNames thrown_;
  std::unordered_map<uint32_t, uint32_t> thrown_ids_;
  std::unordered_map<std::string, uint32_t> method_keys_;  // one entry for all codes of a method
  std::unordered_map<std::string, uint32_t> type_keys_;
  std::vector<profile::IntervalMethod> methods_;
  std::vector<profile::IntervalType> types_;
  uint64_t unnamed_methods_ = 0, unnamed_types_ = 0;
};

}  // namespace clrscope::agent
