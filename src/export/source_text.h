// SPDX-License-Identifier: Apache-2.0
// The text of a source file, for formats that carry it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace clrscope::exporter {

struct SourceText {
  enum class Is : uint8_t {
    kAbsent,   // nobody has it
    kAnother,  // what was found is of another version
    kText,
  };
  Is is = Is::kAbsent;
  std::string text;      // UTF-8, or nearly so
  bool checked = false;  // it is the text that was compiled, by its checksum
};

// `file`: index into Profile::source_files, not 0. An empty function knows no text.
using SourceTextOf = std::function<SourceText(uint32_t file)>;

}  // namespace clrscope::exporter
