// SPDX-License-Identifier: Apache-2.0
// Finds the functions of mapped files: in the files themselves, in what was stripped from them and
// lies elsewhere, and on a symbol server.
// Source: GDB's manual, "Debugging Information in Separate Files"
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "symbol_files/file_root.h"
#include "symbol_files/native_functions.h"

namespace clrscope::symbol_files {

class SymbolServer;

// One thread at a time.
class NativeSymbols {
 public:
  struct Options {
    std::vector<std::string> folders{};         // of the user's, looked into first
    SymbolServer* server = nullptr;             // asked last; outlives this
    uint64_t most_bytes = uint64_t{256} << 20;  // of functions that are kept in memory
  };
  NativeSymbols() : NativeSymbols(Options()) {}
  explicit NativeSymbols(Options options) : options_(std::move(options)) {}

  // The functions of a file that a process with the root `root` has mapped. Null: nothing is known
  // of them. Files are taken by their build id; one that has none only as MappedFile::same_file.
  std::shared_ptr<const NativeFunctions> Of(const FileRoot& root, const MappedFile& mapped);

  // Of the files that were looked for, each once.
  struct Counts {
    uint64_t files = 0;
    uint64_t unreadable = 0;  // they are there, and may not be read
    uint64_t left_out = 0;    // symbols past SymbolTable::kMostSymbols
  };
  const Counts& counts() const { return counts_; }

 private:
  using Key = std::tuple<uint64_t, std::string, std::string>;  // root, path, build id
  struct Known {
    Key key;
    std::shared_ptr<const NativeFunctions> functions;
    uint64_t bytes = 0;
  };

  std::shared_ptr<const NativeFunctions> Read(const FileRoot& root, const MappedFile& mapped);

  Options options_;
  Counts counts_;
  std::list<Known> known_;  // last used first
  std::map<Key, std::list<Known>::iterator> by_key_;
  uint64_t bytes_ = 0;
};

}  // namespace clrscope::symbol_files
