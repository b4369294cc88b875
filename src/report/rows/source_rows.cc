// SPDX-License-Identifier: Apache-2.0
#include "report/rows/source_rows.h"

#include <map>

#include "report/rows/rows.h"

namespace clrscope::report {

std::vector<SourceRow> SourceRows(const profile::Profile& p, uint32_t file, bool framework) {
  std::map<uint32_t, SourceRow> rows;
  for (const profile::LineRow& r : profile::ByLine(p, profile::SortBy::kAmount, framework)) {
    if (r.file != file || r.line == 0) continue;
    SourceRow& row = rows[r.line];
    row.line = r.line;
    row.self += r.self;
    row.total += r.total;
    row.approximate = row.approximate || r.approximate;
  }
  std::vector<SourceRow> out;
  for (const auto& [line, row] : rows) out.push_back(row);
  return out;
}

Json SourceJson(const SourceRow& row, const profile::Profile& p, uint32_t file,
                const SourceCode* text) {
  Json json{{"file", p.str(p.source_files[file].path)}, {"line", row.line}};
  json["text"] =
      text != nullptr && row.line <= text->lines.size() ? Json(text->lines[row.line - 1]) : Json();
  json["approximate"] = row.approximate;
  if (!p.shown().events()) json["samples"] = row.total.samples;
  AddEstimate(json, row.self, p, "self_");
  AddEstimate(json, row.total, p, "total_");
  return json;
}

}  // namespace clrscope::report
