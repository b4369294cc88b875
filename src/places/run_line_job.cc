// SPDX-License-Identifier: Apache-2.0
#include "places/run_line_job.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "places/module_symbols.h"

namespace clrscope::places {
namespace {

// Of sources that PDBs hold, in one job.
constexpr size_t kMostTexts = size_t{16} << 20;

class Run {
 public:
  Run(const LineJob& job, LineAnswers& out) : job_(job), out_(out) {}

  void Answer(const LineRequest& r, ModuleSymbols& module) {
    ModuleSymbols::Il il{r.token, r.il_offset, r.il_next};
    if (il.offset < 0 && r.map) {
      std::vector<symbols::IlMapEntry> entries;
      entries.reserve(r.map->size());
      for (const profile::IlMapPoint& p : *r.map) entries.push_back({p.native_offset, p.il_offset});
      const auto offset = static_cast<uint32_t>(r.address - r.start);
      if (const symbols::IlMap map(std::move(entries)); !map.empty()) {
        il.offset = static_cast<int32_t>(map.IlOffsetAt(offset, r.kind));
        il.next = map.NextMapped(static_cast<uint32_t>(il.offset));
      }
    } else if (il.offset < 0 && r.precompiled) {
      il = module.PrecompiledIl(r);
    }
    LineAnswer answer;
    answer.address_index = r.address_index;
    answer.il_offset = il.offset;
    answer.il_next = il.next;
    ModuleSymbols::Line line;
    if (il.offset >= 0) {
      line = module.LineAt(il, r);
    } else if (job_.last) {
      line = module.FirstLineOf(il.token);
    }
    if (line.line != 0) answer.file = FileOf(line.document, module);
    if (answer.file != 0) answer.line = line.line;
    answer.sure = line.sure;
    if (answer.il_offset >= 0 || answer.line != 0) out_.answers.push_back(answer);
  }
  void NextModule() { files_.clear(); }

 private:
  uint32_t FileOf(uint32_t document, const ModuleSymbols& module) {
    const auto [at, is_new] = files_.try_emplace(document, 0);
    if (!is_new) return at->second;
    auto file = module.FileOf(document);
    if (!file.ok()) return 0;
    texts_ += file->text.size();
    if (texts_ > kMostTexts) file->text.clear();
    out_.files.push_back(file.Take());
    return at->second = static_cast<uint32_t>(out_.files.size());
  }

  const LineJob& job_;
  LineAnswers& out_;
  std::map<uint32_t, uint32_t> files_;  // of this module's documents
  size_t texts_ = 0;
};

}  // namespace

LineAnswers RunLineJob(const LineJob& job, const symbol_files::ModuleFiles& files,
                       const symbol_files::PdbFinder& pdbs) {
  LineAnswers out;
  std::vector<std::vector<const LineRequest*>> of_module(job.modules.size());
  for (const LineRequest& r : job.requests) of_module[r.module].push_back(&r);
  Run run(job, out);
  for (size_t m = 0; m < job.modules.size(); ++m) {
    if (of_module[m].empty()) continue;
    ModuleSymbols module(job.modules[m], files, pdbs);
    run.NextModule();
    for (const LineRequest* const r : of_module[m]) run.Answer(*r, module);
    if (!module.has_pdb()) out.no_pdb.push_back(job.modules[m].path);
    if (job.last && !module.has_pdb() && !job.modules[m].framework)
      out.without.push_back(module.no_pdb());
  }
  return out;
}

}  // namespace clrscope::places
