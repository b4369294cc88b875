// SPDX-License-Identifier: Apache-2.0
// Gives a target's nested types the names of their owners, which the runtime's events leave out.
// Files and memory are read by worker threads, while the engine goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/process_fold.h"
#include "base/string_pool.h"
#include "capture/sessions/worker_pool.h"
#include "capture/types/owner_finder.h"

namespace clrscope::capture {

// A type goes by another name from now on; both as C# people write them.
struct RenamedType {
  std::string from, to;
  bool alone = false;  // no other type of the process went by the old one
};

class TypeNamer {
 public:
  // What is told of the modules that the process has loaded.
  enum class Modules : uint8_t {
    kComing,  // those of before the recording are not all told yet
    kAll,
    kSome,  // they will never be
  };

  explicit TypeNamer(std::unique_ptr<OwnerFinder> finder)
      : shared_(std::make_shared<Shared>(std::move(finder))) {}

  // Often: takes what workers have found, and asks for more. What is new is asked at once, so that
  // a program that runs for a moment still has its memory. `now_ns`: since
  // the recording's start.
  void Work(analysis::ProcessFold& fold, StringPool& strings, Modules modules, int64_t now_ns,
            WorkerPool& workers);
  // Nothing more comes: finds what is left, here and now. What cannot be known keeps its name.
  void Finish(analysis::ProcessFold& fold, StringPool& strings, Modules modules);
  // Types have other indexes, strings and time another beginning after this: finds what can be told
  // by now, here; the rest is asked again.
  void EndTables(analysis::ProcessFold& fold, StringPool& strings, Modules modules, int64_t now_ns);
  // Since the last call.
  std::vector<RenamedType> TakeRenamed() { return std::exchange(renamed_, {}); }

 private:
  // What is new waits for so long, and what could not be told yet is asked again after that.
  static constexpr int64_t kNewEveryNs = 50'000'000, kAgainEveryNs = 250'000'000;
  // An event of another session may come before that which tells of the type's module: a name alone
  // is looked for after that.
  static constexpr int64_t kPatienceNs = 1'000'000'000;

  struct Answer {
    uint32_t type = 0;
    std::optional<std::string> owner;
    bool last = false;  // it will not be known later, either
  };
  struct Job {
    std::vector<OwnerFinder::Question> questions;
    std::vector<bool> last;
  };
  // With workers, who may outlive the namer.
  struct Shared {
    explicit Shared(std::unique_ptr<OwnerFinder> of) : finder(std::move(of)) {}
    std::vector<Answer> Do(const Job& job);

    std::mutex finder_mutex;
    std::unique_ptr<OwnerFinder> finder;  // guarded by finder_mutex
    // What follows is guarded by mutex.
    std::mutex mutex;
    std::vector<symbol_files::LoadedModule> modules;  // that the finder does not know yet
    uint64_t answered = 0;                            // the last job's number
    std::vector<Answer> answers;                      // of that one
  };

  Job Ask(const analysis::ProcessFold& fold, const StringPool& strings, Modules modules,
          int64_t now_ns, int64_t patience_ns);
  void AddModules(const profile::ProcessTables& tables, const StringPool& strings);
  void AskHere(analysis::ProcessFold& fold, StringPool& strings, Modules modules, int64_t now_ns,
               int64_t patience_ns);
  void TakeAnswers(analysis::ProcessFold& fold, StringPool& strings);
  void Take(analysis::ProcessFold& fold, StringPool& strings, const std::vector<Answer>& answers);

  std::shared_ptr<Shared> shared_;
  uint64_t asked_ = 0, taken_ = 0;  // jobs
  int64_t asked_ns_ = 0;
  std::unordered_map<uint32_t, int64_t> first_ns_;  // of types that are not known yet: when asked
  std::vector<std::pair<StringId, StringId>> modules_;  // path and PDB of those that were told
  std::vector<RenamedType> renamed_;
};

}  // namespace clrscope::capture
