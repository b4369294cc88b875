// SPDX-License-Identifier: Apache-2.0
// Names native code while it is recorded, as its files are to be had only then: once a second what
// is new, on a thread of its own that gives way to others. Each file is read once.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "capture/sessions/worker_pool.h"
#include "profile/tables/process_tables.h"
#include "symbol_files/native_symbols.h"

namespace clrscope::capture {

// What is known of files, for all processes of an engine, and the thread that reads them.
class NameFinder {
 public:
  // `threads` 0: at once, for tests.
  explicit NameFinder(size_t threads = 1, symbol_files::NativeSymbols::Options options = {});

  // `work` on that thread; the symbols are its own. What has not begun when this ends is dropped.
  void Post(std::function<void(symbol_files::NativeSymbols&)> work);

 private:
  // Shared with the thread.
  struct State {
    explicit State(symbol_files::NativeSymbols::Options options) : symbols(std::move(options)) {}
    symbol_files::NativeSymbols symbols;
    bool gives_way = false;
  };
  std::shared_ptr<State> state_;
  WorkerPool thread_;  // after what it works with
};

// Of one process.
class NativeNamer {
 public:
  // `finder` outlives it; null: nothing is named.
  NativeNamer(pid_t pid, NameFinder* finder);

  // Takes what was found, and asks for what is new since the last time.
  void Look(profile::ProcessTables& tables, StringPool& strings);
  // Nothing is asked for any more: what Look() took is all there is.
  bool idle() const { return answers_ == nullptr; }
  // The tables are other ones; what is under way is of no use.
  void Restart();
  // Nothing more is taken: counts what is still under way, and lets go of the process's files.
  void End(profile::ProcessTables& tables);

 private:
  struct Answers;

  void Take(profile::ProcessTables& tables, StringPool& strings);
  void Ask(const profile::ProcessTables& tables, const StringPool& strings);

  pid_t pid_;
  NameFinder* finder_;
  std::shared_ptr<const symbol_files::FileRoot> root_;  // null: nothing can be read
  uint32_t next_ = 0;                                   // addresses before it were asked for
  std::vector<uint32_t> elsewhere_;  // … but these, which lay in no file that was known
  size_t images_ = 0;                // that were known then
  std::shared_ptr<Answers> answers_;
};

}  // namespace clrscope::capture
