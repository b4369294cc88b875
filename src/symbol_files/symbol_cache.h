// SPDX-License-Identifier: Apache-2.0
// What came from a symbol server, kept on disk by its key, and what the server did not have.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/result.h"
#include "symbol_files/file_root.h"

namespace clrscope::symbol_files {

class SymbolCache {
 public:
  // A symbol that a server did not have may be there later.
  static constexpr std::chrono::hours kMissesHold{24};

  // Files lie below `folder`, which is made when it is needed.
  explicit SymbolCache(std::string folder) : folder_(std::move(folder)) {}

  // clrscope/symbols in $XDG_CACHE_HOME, or in ~/.cache. errors: kNotFound (neither is set)
  static Result<std::string> DefaultFolder();

  // `key`: a relative path, of which each part is a plain name. errors: kNotFound (it is not
  // known), kRefused (it is known not to be there), kIo
  Result<OpenFile> Find(std::string_view key) const;
  // `get` writes the file, `check` looks at it before it gets its name; others see all of it or
  // nothing. An error of either is returned, and nothing is left behind.
  Result<OpenFile> Add(std::string_view key, const std::function<Status(ByteSink&)>& get,
                       const std::function<Status(const OpenFile&)>& check) const;
  void NoteMiss(std::string_view key) const;

 private:
  std::string PathOf(std::string_view key) const;

  std::string folder_;
};

}  // namespace clrscope::symbol_files
