// SPDX-License-Identifier: Apache-2.0
#include "inspect/groups.h"

#include <algorithm>
#include <map>

#include "inspect/states.h"

namespace clrscope::inspect {
namespace {

// What needs an answer comes first.
int Rank(const Thread& t) {
  switch (t.state) {
    case ThreadState::kLock:
      return 0;
    case ThreadState::kRunning:
    case ThreadState::kRunnable:
      return 1;
    case ThreadState::kIdle:
      return 3;
    default:
      return t.managed() ? 2 : 4;
  }
}

}  // namespace

bool IsRuntimeThread(const Thread& t) {
  if (!t.managed()) return true;
  // One that has nothing to do has no frames.
  if (t.finalizer) return t.stack.empty();
  const bool named = t.name.starts_with(".NET") || t.name.starts_with("clrscope-");
  if (t.pool_worker() || t.stack.empty()) return t.stack.empty() && named;
  // All of its frames are the framework's, and it is named as the framework's own are.
  return named && std::ranges::all_of(
                      t.stack, [](const Frame& f) { return f.stub || IsFrameworkFile(f.file); });
}

GroupedThreads GroupThreads(const Picture& picture, bool all) {
  GroupedThreads grouped;
  std::map<std::vector<std::string>, size_t> places;
  for (const Thread& t : picture.threads) {
    const bool busy = t.state == ThreadState::kRunning || !t.behind.empty();
    if (!all && t.state == ThreadState::kIdle) {
      grouped.idle_workers.push_back(&t);
      continue;
    }
    if (!all && IsRuntimeThread(t) && !busy) {
      grouped.runtime_threads.push_back(&t);
      continue;
    }
    std::vector<std::string> key{std::string(Word(t.state)), t.managed() ? "" : t.name, t.error};
    // That nothing could be read of two threads does not make them alike.
    if (t.unread()) key.push_back(std::to_string(t.os_id));
    for (const Frame& f : t.stack) key.push_back(f.raw);
    const auto [at, fresh] = places.try_emplace(std::move(key), grouped.groups.size());
    if (fresh) grouped.groups.emplace_back();
    grouped.groups[at->second].threads.push_back(&t);
  }
  std::ranges::stable_sort(grouped.groups, [](const ThreadGroup& a, const ThreadGroup& b) {
    const int x = Rank(*a.threads.front()), y = Rank(*b.threads.front());
    return x != y ? x < y : a.threads.size() > b.threads.size();
  });
  return grouped;
}

}  // namespace clrscope::inspect
