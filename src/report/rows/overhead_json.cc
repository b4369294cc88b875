// SPDX-License-Identifier: Apache-2.0
#include "report/rows/overhead_json.h"

namespace clrscope::report {

Json OverheadJson(const profile::Overhead& o) {
  if (!o.known()) return {};
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  Json json{{"limit", o.limit > 0 ? Json(o.limit) : Json()},
            {"share", o.share()},
            {"program_cpu_s", seconds(o.cpu_ns)}};
  Json& parts = json["parts"] = Json::array();
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    const auto part = static_cast<profile::OverheadPart>(i);
    const profile::Overhead::Windows& w = o.windows[i];
    if (o.of(part) == 0 && w.windows == 0) continue;
    parts.push_back({{"part", profile::OverheadName(part)},
                     {"cpu_s", seconds(o.of(part))},
                     {"share", o.share(part)},
                     {"windows", w.windows},
                     {"windows_s", seconds(w.ns)},
                     {"of_s", seconds(w.of_ns)}});
  }
  return json;
}

}  // namespace clrscope::report
