// SPDX-License-Identifier: Apache-2.0
#include "report/input/load_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/trace_file.h"
#include "report/input/damage.h"
#include "report/input/pprof_input.h"

namespace clrscope::report {
namespace {

class KeepSlices final : public profile::SliceSink {
 public:
  void OnSlice(profile::Slice&& slice) override { slices.push_back(std::move(slice)); }
  std::vector<profile::Slice> slices;
};

}  // namespace

Result<LoadedCatalog> LoadCatalog(const std::string& path, const SymbolOptions& symbols) {
  LoadedCatalog loaded;
  if (path != "-" && store::LooksLikeCapture(path)) {
    const auto add_symbols = [&](profile::Recording& recording) -> Status {
      ASSIGN_OR_RETURN(loaded.notes, AddSymbols(symbols, recording));
      return OkStatus();
    };
    ASSIGN_OR_RETURN(loaded.catalog, store::Catalog::Open(path, add_symbols));
    if (!loaded.catalog->recording().complete)
      loaded.damage =
          Error{ErrorCode::kTruncated,
                fmt::format("{} was not closed: its recording goes on, or was killed", path)};
    return loaded;
  }
  if (path != "-" && LooksLikePprof(path))
    return Error{
        ErrorCode::kUsage,
        fmt::format("{} is pprof, of which there are no rows to ask for: `clrscope report` "
                    "and `clrscope convert -o x.html` read it",
                    path)};
  auto recording = std::make_unique<profile::Recording>();
  KeepSlices keep;
  ASSIGN_OR_RETURN(const import::TraceSummary trace,
                   import::ReadTrace(path, recording.get(), &keep));
  loaded.damage = DamageOf(trace, path, recording->complete);
  std::stable_sort(
      keep.slices.begin(), keep.slices.end(),
      [](const profile::Slice& a, const profile::Slice& b) { return a.process < b.process; });
  loaded.catalog = store::Catalog::Of(std::move(recording), std::move(keep.slices));
  return loaded;
}

}  // namespace clrscope::report
