// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/gc/gc_report.h"

namespace clrscope::analysis {

std::vector<ProcessGcs> GcReportOf(const profile::Profile& profile) {
  std::vector<ProcessGcs> out;
  size_t at = 0;
  for (uint32_t p = 0; p < profile.processes.size(); ++p) {
    ProcessGcs one;
    one.process = p;
    const size_t first = at;
    while (at < profile.gcs.size() && profile.gcs[at].process == p) ++at;
    one.gcs = std::span(profile.gcs).subspan(first, at - first);
    one.figures = FiguresOf(one.gcs);
    const profile::Process& info = profile.processes[p];
    one.stats = StatsOf(one.gcs, one.figures.flows(), info.start_ns, info.end_ns);
    one.advice = AdviceFor(one.gcs, one.figures, one.stats, info.gc);
    if (one.stats.all().induced > 0) one.induced_by = InducingStacks(one.gcs);
    one.blame = BlameTypes(one.gcs);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace clrscope::analysis
