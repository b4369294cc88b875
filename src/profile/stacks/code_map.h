// SPDX-License-Identifier: Apache-2.0
// The code of one process over time: which method owned an address when.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/strong.h"
#include "profile/stacks/code_rows.h"
#include "profile/stacks/method_pool.h"

namespace clrscope::profile {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // not unloaded yet

// One extent of one version of a method's code.
struct MethodCode {
  uint64_t start = 0;
  uint64_t method_id = 0;
  uint64_t module_id = 0;
  int64_t load_ns = kAlways, unload_ns = kNever;
  uint32_t size = 0;
  uint32_t token = 0;
  uint32_t flags = 0;               // the runtime's method flags
  StringId owner, name, signature;  // as the runtime writes them
};

struct ModuleImage {
  uint64_t id = 0;
  StringId path;  // IL path, or the name of a dynamic module
  StringId native_path;
  StringId mvid;  // PDB signature in hex, "" when unknown
};

struct MethodMatch {
  std::optional<MethodCode> method;  // nothing: nobody is known to have owned it
  uint32_t index = 0;                // of the method, when there is one
  bool ambiguous = false;            // several methods may have owned it at that time
};

class CodeMap {
 public:
  // `pool`: what the maps of several processes share; null: this one has its own.
  explicit CodeMap(std::shared_ptr<MethodPool> pool = nullptr) : pool_(std::move(pool)) {}

  // Whether this very code is known already (same start, size and method, not unloaded): then names
  // need not be read again.
  bool Knows(uint64_t start, uint32_t size, uint64_t method_id) const;
  // Adds code. A method that began at the same place and was not unloaded ends when this one
  // begins.
  void Add(const MethodCode& method);
  // Adds code of which only the entry point is known (size 0): precompiled methods at their first
  // call. An address belongs to the nearest entry before it, since every method that runs has one.
  void AddEntry(const MethodCode& method);
  void Unload(uint64_t start, uint64_t method_id, int64_t time_ns);
  // The owner of `address` at `time_ns`.
  MethodMatch Find(uint64_t address, int64_t time_ns) const;
  // Everyone who ever owned `address`.
  struct Owner {
    uint32_t index;
    MethodCode method;
  };
  std::vector<Owner> Owners(uint64_t address) const;

  // Methods are counted from 0 in order of arrival.
  uint32_t size() const { return size_; }
  bool unloaded(uint32_t index) const { return unloads_.contains(index); }
  bool any_unloaded() const { return !unloads_.empty(); }
  // Calls visit(index, method) for every method: those that begin at one place in order of arrival.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    const auto each = [&](const CodeRow& row) { visit(row.index, Method(row)); };
    sized_.ForEach(each);
    entries_.ForEach(each);
  }
  // When no more comes for a while: takes no more memory than is needed.
  void Settle() {
    sized_.Settle();
    entries_.Settle();
  }

  void AddModule(const ModuleImage& module);
  const ModuleImage* FindModule(uint64_t id) const;
  const std::vector<ModuleImage>& modules() const { return modules_; }

 private:
  // Pointers of a program have 48 bits (x86-64 and arm64, four levels of pages; wider ones are
  // cut).
  static constexpr uint64_t kPointerMask = (uint64_t{1} << CodeRows::kPointerBits) - 1;

  CodeRow Append(const MethodCode& method);
  MethodCode Method(const CodeRow& row) const;
  uint32_t ModuleIndex(uint64_t module_id);
  int64_t UnloadOf(uint32_t index) const;
  std::optional<CodeRow> NearestEntry(uint64_t address) const;
  template <class Visit>
  void ForEachOwner(uint64_t address, Visit&& visit) const;

  std::shared_ptr<MethodPool> pool_;
  CodeRows sized_, entries_;  // entries: size unknown
  uint32_t size_ = 0;
  std::unordered_map<uint32_t, int64_t> unloads_;  // few, by index
  std::vector<uint64_t> module_ids_;
  std::unordered_map<uint64_t, uint32_t> module_index_;
  std::vector<ModuleImage> modules_;
  std::unordered_map<uint64_t, uint32_t> module_at_;
};

}  // namespace clrscope::profile
