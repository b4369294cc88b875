// SPDX-License-Identifier: Apache-2.0
// The code of one process over time: which method owned an address when.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/strong.h"
#include "profile/method_pool.h"

namespace clrscope::profile {

inline constexpr int64_t kAlways =
    std::numeric_limits<int64_t>::min();  // loaded before anyone looked
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
  // Everyone who ever owned `address`, by index.
  std::vector<uint32_t> Owners(uint64_t address) const;

  // Methods are counted from 0 in order of arrival.
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  MethodCode method(uint32_t index) const;
  bool unloaded(uint32_t index) const { return unloads_.contains(index); }

  void AddModule(const ModuleImage& module);
  const ModuleImage* FindModule(uint64_t id) const;
  const std::vector<ModuleImage>& modules() const { return modules_; }

 private:
  // A process has thousands of methods, and a machine many processes: no more than is needed.
  // Pointers of a program have 48 bits (x86-64 and arm64, four levels of pages; wider ones are
  // cut).
  static constexpr unsigned kPointerBits = 48, kPointerFree = 16;
  static constexpr uint64_t kPointerMask = (uint64_t{1} << kPointerBits) - 1;
  struct Row {
    uint64_t start : kPointerBits, module_low : kPointerFree;
    uint64_t method_id : kPointerBits, module_high : kPointerFree;
    uint32_t size;
    uint32_t info;             // in the pool
    uint32_t module() const {  // in module_ids_
      return static_cast<uint32_t>(module_high << kPointerFree | module_low);
    }
  };
  using Rows = std::deque<Row>;  // no copies when it grows, next to no room to spare
  // From a method's start to its index: places, index + 1; 0 = empty.
  class StartIndex {
   public:
    // The place of `start`: its method's, or the empty one where it belongs and is to be put now.
    uint32_t& Place(const Rows& rows, uint64_t start);
    const uint32_t* Find(const Rows& rows, uint64_t start) const;

   private:
    static size_t Hash(uint64_t start) {
      start *= 0x9E3779B97F4A7C15u;
      return static_cast<size_t>(start ^ (start >> 32));
    }
    std::vector<uint32_t> places_;
    size_t used_ = 0;
  };

  uint32_t Append(const MethodCode& method);
  uint32_t ModuleIndex(uint64_t module_id);
  int64_t LoadOf(uint32_t index) const;
  int64_t UnloadOf(uint32_t index) const;
  uint64_t EndOf(uint32_t index) const { return rows_[index].start + rows_[index].size; }
  void Index() const;
  uint32_t NearestEntry(uint64_t address) const;  // size() = none

  std::shared_ptr<MethodPool> pool_;
  Rows rows_;
  std::vector<std::pair<uint32_t, int64_t>> loads_;  // of the methods that were not always there
  std::unordered_map<uint32_t, int64_t> unloads_;    // few, by index
  StartIndex latest_at_;                             // the newest code there
  StartIndex entry_at_;                              // size unknown
  std::vector<uint64_t> module_ids_;
  std::unordered_map<uint64_t, uint32_t> module_index_;
  std::vector<ModuleImage> modules_;
  std::unordered_map<uint64_t, uint32_t> module_at_;
  // Built when asked for: method indexes by start, and which of those up to each ends last (empty
  // when that is always the method itself: no two overlap).
  mutable std::vector<uint32_t> by_start_;
  mutable std::vector<uint32_t> ends_last_;
  mutable std::vector<uint32_t> entries_;  // of size 0, by start
};

}  // namespace clrscope::profile
