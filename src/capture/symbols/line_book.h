// SPDX-License-Identifier: Apache-2.0
// Source lines of the addresses that a recording sees, found while the process lives and its files
// are there: in the background, now and then, and for the rest at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/string_pool.h"
#include "capture/sessions/worker_pool.h"
#include "places/line_job.h"
#include "profile/tables/process_tables.h"
#include "symbol_files/module_files.h"

namespace clrscope::capture {

class LineBook {
 public:
  // Files are read as the process sees them; `folders` are this machine's, with symbols.
  LineBook(pid_t pid, std::vector<std::string> folders);

  // Once a second.
  void Tick(int64_t now_ns, WorkerPool& workers, StringPool& strings,
            profile::ProcessTables& tables);
  // Nothing more comes of these tables: what has no line now gets none. Returns sentences about
  // modules without any.
  std::vector<std::string> Finish(StringPool& strings, profile::ProcessTables& tables);
  // Other tables follow, whose stacks begin anew.
  void Restart(int64_t now_ns);

 private:
  // What a thread of the pool works on; it may outlive the book.
  struct Work {
    std::shared_ptr<symbol_files::ModuleFiles> files;
    std::vector<std::string> folders;
    places::LineJob job;
    uint64_t tables = 0;  // which ones
    std::mutex mutex;
    std::optional<places::LineAnswers> answers;  // guarded by mutex
  };
  static places::LineAnswers Carry(const Work& work);
  void TakeAnswers(StringPool& strings, profile::ProcessTables& tables);
  places::LineJob JobOf(const StringPool& strings, const profile::ProcessTables& tables, bool last);

  std::shared_ptr<symbol_files::ModuleFiles> files_;  // null: they may not be seen
  std::vector<std::string> folders_;
  std::shared_ptr<Work> work_;  // under way
  uint64_t tables_ = 0;
  std::set<std::string> no_pdb_;   // paths of modules without: the end asks for their IL
  std::vector<uint32_t> waiting_;  // addresses whose method was not told yet, or not its map
  uint32_t looked_at_ = 0;         // addresses
  int64_t next_ns_ = 0, every_ns_ = 1'000'000'000;
};

}  // namespace clrscope::capture
