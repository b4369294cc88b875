// SPDX-License-Identifier: Apache-2.0
#include "report/input/fill_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/framework_rule.h"
#include "places/make_line_job.h"
#include "places/run_line_job.h"
#include "symbol_files/module_files.h"
#include "symbol_files/pdb_finder.h"

namespace clrscope::report {
namespace {

// Names of native code are places, too; lines come of maps from native code to IL.
bool HasManagedPlaces(const profile::Places& places) {
  return std::any_of(places.changed().begin(), places.changed().end(), [&](uint32_t address) {
    const profile::Place* const place = places.At(address);
    return place != nullptr && (place->il_offset != profile::Place::kNoIl || place->line != 0);
  });
}

}  // namespace

std::vector<std::string> FillLines(const SymbolSources& sources, profile::Recording& recording) {
  std::vector<std::string> notes;
  const symbol_files::ModuleFiles files = symbol_files::ModuleFiles::Own();
  symbol_files::PdbFinder pdbs(&files, sources.folders);
  if (sources.server != nullptr)
    pdbs.Ask([&sources](std::string_view name, const Guid& guid) {
      return sources.server->FindPdb(name, {guid, 0});
    });
  bool any_map = false;
  for (const auto& tables : recording.processes) {
    any_map = any_map || tables->il_maps != nullptr || HasManagedPlaces(tables->places);
    std::vector<uint32_t> addresses(tables->stacks.addresses().size());
    std::iota(addresses.begin(), addresses.end(), 0u);
    const places::LineJob job =
        places::MakeLineJob(*tables, recording.strings, addresses, true, analysis::IsOfFramework);
    const places::LineAnswers answers = places::RunLineJob(job, files, pdbs);
    places::TakeLineAnswers(answers, recording.strings, *tables);
    for (const std::string& sentence : answers.without)
      if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) notes.push_back(sentence);
  }
  constexpr size_t kShown = 5;
  if (notes.size() > kShown) {
    const size_t more = notes.size() - kShown;
    notes.resize(kShown);
    notes.push_back(fmt::format("{} more modules have no PDB", more));
  }
  if (!notes.empty()) notes.push_back("--symbols DIR names a folder with PDBs");
  if (!any_map)
    notes.insert(notes.begin(),
                 "recorded without --lines: of methods that were compiled while the program ran "
                 "the first line is told, and marked as approximate");
  return notes;
}

}  // namespace clrscope::report
