// SPDX-License-Identifier: Apache-2.0
// What is known of the addresses of a process's stacks beside their methods: source lines, and the
// functions of native code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/strong.h"

namespace clrscope::profile {

// A source file, as a PDB tells of it.
struct SourceFile {
  StringId path;  // the compiler's, perhaps of another machine
  StringId hash;  // "sha256:…" in hex, "" when the PDB has none
  StringId url;   // by SourceLink, "" when there is none
  StringId text;  // that the PDB itself holds, "" otherwise
};

struct Place {
  static constexpr int32_t kNoIl = -1;
  enum class Sure : uint8_t {
    kExact,
    kApproximate,  // the line may be another one of the method
    kAfterThrow,   // … of what a catch does: its exceptions are thrown here
  };

  StringId symbol;            // native code: its function as people write it, "" when unknown
  int32_t il_offset = kNoIl;  // managed code: in its method
  uint32_t il_next = ~0u;     // … and the next IL that has code of its own
  uint32_t file = 0;          // into Places::files; 0: unknown
  uint32_t line = 0;          // from 1; 0: unknown
  Sure sure = Sure::kExact;

  bool none() const { return symbol.value == 0 && il_offset == kNoIl && line == 0; }
  bool operator==(const Place&) const = default;
};

class Places {
 public:
  // Null: nothing is known.
  const Place* At(uint32_t address_index) const {
    if (address_index >= of_address_.size() || of_address_[address_index].none()) return nullptr;
    return &of_address_[address_index];
  }
  // By index into StackTree::addresses().
  void Set(uint32_t address_index, const Place& place) {
    if (address_index >= of_address_.size()) of_address_.resize(address_index + size_t{1});
    if (of_address_[address_index] == place) return;
    of_address_[address_index] = place;
    changed_.push_back(address_index);
  }
  // The index of a file, which is added when it is new.
  uint32_t FileOf(const SourceFile& file) {
    const auto [at, is_new] =
        file_index_.try_emplace({file.path, file.hash}, static_cast<uint32_t>(files_.size()));
    if (is_new) files_.push_back(file);
    return at->second;
  }
  const std::vector<SourceFile>& files() const { return files_; }  // 0 is none
  // Each address whose place was set, in the order of the changes.
  const std::vector<uint32_t>& changed() const { return changed_; }

 private:
  std::vector<Place> of_address_;
  std::vector<SourceFile> files_{1};
  std::map<std::pair<StringId, StringId>, uint32_t> file_index_;  // by path and hash
  std::vector<uint32_t> changed_;
};

}  // namespace clrscope::profile
