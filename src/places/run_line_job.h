// SPDX-License-Identifier: Apache-2.0
// Carries out a LineJob: reads modules and PDBs, and answers what they say. Module by module, so
// that not more than one of each is in memory.
#pragma once

#include "places/line_job.h"
#include "symbol_files/module_files.h"
#include "symbol_files/pdb_finder.h"

namespace clrscope::places {

// `files`: where the modules' paths are.
LineAnswers RunLineJob(const LineJob& job, const symbol_files::ModuleFiles& files,
                       const symbol_files::PdbFinder& pdbs);

}  // namespace clrscope::places
