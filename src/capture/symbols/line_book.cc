// SPDX-License-Identifier: Apache-2.0
#include "capture/symbols/line_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/framework_rule.h"
#include "places/make_line_job.h"
#include "places/run_line_job.h"
#include "symbol_files/pdb_finder.h"

namespace clrscope::capture {
namespace {

// A job reads the modules that have new addresses: seldom, once the program is warm.
constexpr int64_t kLongestNs = 30'000'000'000;

}  // namespace

LineBook::LineBook(pid_t pid, std::vector<std::string> folders) : folders_(std::move(folders)) {
  if (auto files = symbol_files::ModuleFiles::Of(pid); files.ok())
    files_ = std::make_shared<symbol_files::ModuleFiles>(files.Take());
}

places::LineJob LineBook::JobOf(const StringPool& strings, const profile::ProcessTables& tables,
                                bool last) {
  std::vector<uint32_t> addresses = std::exchange(waiting_, {});
  const auto count = static_cast<uint32_t>(tables.stacks.addresses().size());
  for (; looked_at_ < count; ++looked_at_) addresses.push_back(looked_at_);
  places::LineJob job =
      places::MakeLineJob(tables, strings, addresses, last, analysis::IsOfFramework);
  waiting_ = std::move(addresses);
  return job;
}

places::LineAnswers LineBook::Carry(const Work& work) {
  return places::RunLineJob(work.job, *work.files,
                            symbol_files::PdbFinder(work.files.get(), work.folders));
}

void LineBook::TakeAnswers(StringPool& strings, profile::ProcessTables& tables) {
  if (work_ == nullptr) return;
  const std::lock_guard lock(work_->mutex);
  if (!work_->answers) return;
  if (work_->tables == tables_) places::TakeLineAnswers(*work_->answers, strings, tables);
  no_pdb_.insert(work_->answers->no_pdb.begin(), work_->answers->no_pdb.end());
  std::erase_if(waiting_, [&tables](uint32_t a) { return tables.places.At(a) != nullptr; });
  work_->answers.reset();
  work_->job = {};
}

void LineBook::Tick(int64_t now_ns, WorkerPool& workers, StringPool& strings,
                    profile::ProcessTables& tables) {
  TakeAnswers(strings, tables);
  if (files_ == nullptr || now_ns < next_ns_ || (work_ != nullptr && !work_->job.requests.empty()))
    return;
  next_ns_ = now_ns + every_ns_;
  every_ns_ = std::min(2 * every_ns_, kLongestNs);
  places::LineJob job = JobOf(strings, tables, false);
  std::erase_if(job.requests, [&](const places::LineRequest& r) {
    const places::LineModule& module = job.modules[r.module];
    return module.framework || no_pdb_.contains(module.path);
  });
  if (job.requests.empty()) return;
  work_ = std::make_shared<Work>();
  work_->files = files_;
  work_->folders = folders_;
  work_->job = std::move(job);
  work_->tables = tables_;
  workers.Post([work = work_] {
    places::LineAnswers answers = Carry(*work);
    const std::lock_guard lock(work->mutex);
    work->answers = std::move(answers);
  });
}

std::vector<std::string> LineBook::Finish(StringPool& strings, profile::ProcessTables& tables) {
  if (files_ == nullptr) return {"source lines are not told: the process's files cannot be seen"};
  TakeAnswers(strings, tables);
  Work last;
  last.files = files_;
  last.folders = folders_;
  last.job = JobOf(strings, tables, true);
  const places::LineAnswers answers = Carry(last);
  places::TakeLineAnswers(answers, strings, tables);
  return answers.without;
}

void LineBook::Restart(int64_t now_ns) {
  ++tables_;
  waiting_.clear();
  looked_at_ = 0;
  next_ns_ = now_ns;
  every_ns_ = 1'000'000'000;
}

}  // namespace clrscope::capture
