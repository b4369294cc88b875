// SPDX-License-Identifier: Apache-2.0
// The table of formats that a profile can be written in; a new format is one more row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/result.h"
#include "export/folded.h"
#include "export/source_text.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// What all formats understand; a format ignores what it has no use for.
struct ExportOptions {
  bool keep_machinery = false;
  bool only_shown = false;                      // one measure was asked for: a file holds no other
  std::optional<FoldedWeight> folded_weight{};  // none: the measure's first quantity
  SourceTextOf source_text{};                   // of formats that carry it
};

struct Format {
  std::string_view name;                         // of --format
  std::span<const std::string_view> extensions;  // with their dot; the first is the usual one
  std::string_view description;                  // one line for --help
  bool binary;                                   // not to be written to a terminal
  // Writes the whole document; does not finish the sink.
  Status (*write)(const profile::Profile&, const ExportOptions&, ByteSink&);
};

std::span<const Format> Formats();

// By its --format name; kUsage with the list of names when there is none.
Result<const Format*> FormatByName(std::string_view name);
// By the longest extension that `path` ends with, in any case; kUsage with the list of extensions.
Result<const Format*> FormatByPath(std::string_view path);

}  // namespace clrscope::exporter
