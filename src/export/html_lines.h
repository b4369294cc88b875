// SPDX-License-Identifier: Apache-2.0
// Source lines of a page's frames, and the files that they are in.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "export/html_columns.h"
#include "export/html_data.h"
#include "export/source_text.h"
#include "profile/profile.h"

namespace clrscope::exporter {

// The texts of a page's files. Each is asked for once, however often the page is packed.
class PageTexts {
 public:
  // At most `most_bytes` of text go onto a page, before it is compressed.
  PageTexts(SourceTextOf of, uint64_t most_bytes) : of_(std::move(of)), most_bytes_(most_bytes) {}
  const SourceText& Of(uint32_t file);
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  SourceTextOf of_;
  uint64_t most_bytes_;
  std::map<uint32_t, SourceText> texts_;
};

// Adds nothing to a page of which no line is known. Otherwise columns
//   node_line            of each node: index into the page's lines + 1, 0 = not known
//   line_file, line_number, line_sure    distinct, in order; `sure` as Place::Sure
// and in JSON "sources", what matters most first:
//   [{"path", "url" (https, or ""), and either "text" and "checked" (by its checksum) or
//     "without": "absent", "another" (version was found) or "size" (it did not fit)}]
void PackLines(const profile::Profile& profile, const PageTree& page, PageTexts& texts,
               Columns& out, nlohmann::json& json);

}  // namespace clrscope::exporter
