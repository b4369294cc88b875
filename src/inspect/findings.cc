// SPDX-License-Identifier: Apache-2.0
#include "inspect/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "inspect/states.h"

namespace clrscope::inspect {
namespace {

constexpr double kSpins = 90;  // percent of a CPU
constexpr size_t kMaxTold = 5;

// Who holds what `t` waits for; null when that is not certain.
const Thread* OwnerFor(const Picture& picture, const Thread& t) {
  const Lock* lock = t.waits_for == 0 ? nullptr : picture.LockOf(t.waits_for);
  return lock == nullptr ? nullptr : picture.ByManagedId(lock->owner);
}

std::string TellingName(const Thread& t) {
  const Frame* frame = TellingFrame(t);
  return frame == nullptr ? "" : frame->name;
}

std::string In(const Thread& t) {
  const std::string name = TellingName(t);
  return name.empty() ? "" : " in " + name;
}

std::string Doing(const Thread& t) {
  switch (t.state) {
    case ThreadState::kRunning:
    case ThreadState::kRunnable:
      return "runs" + In(t);
    case ThreadState::kLock:
      return "waits for a lock" + In(t);
    case ThreadState::kWait:
      return (BlocksOnTask(t) ? "waits for a task" : "waits") + In(t);
    case ThreadState::kSleep:
      return "sleeps" + In(t);
    case ThreadState::kIo:
      return "waits for input or output" + In(t);
    default:
      return "blocks" + In(t);
  }
}

void AddDeadlocks(const Picture& picture, std::vector<Finding>& findings) {
  for (const std::vector<uint32_t>& ring : FindDeadlocks(picture)) {
    Finding f;
    f.kind = FindingKind::kDeadlock;
    f.threads = ring;
    f.text = "Deadlock: ";
    for (size_t i = 0; i < ring.size(); ++i) {
      const Thread& t = *picture.ByManagedId(ring[i]);
      const Lock& wanted = *picture.LockOf(t.waits_for);
      const Thread& owner = *picture.ByManagedId(wanted.owner);
      if (i == 0) {
        const Lock& held = *picture.LockOf(picture.ByManagedId(ring.back())->waits_for);
        f.text += fmt::format("{} holds {} and waits for {}, held by {}", Called(t), Called(held),
                              Called(wanted), Called(owner));
      } else {
        f.text += i == 1 ? ", which waits for " : ", which waits for ";
        f.text += fmt::format("{}, held by {}", Called(wanted), Called(owner));
      }
    }
    findings.push_back(std::move(f));
  }
}

void AddStarvation(const Picture& picture, std::vector<Finding>& findings) {
  std::vector<uint32_t> blocked, on_tasks;
  size_t workers = 0;
  std::map<ThreadState, size_t> states;
  for (const Thread& t : picture.threads) {
    // One that could not be made to stand still runs.
    const bool unread = t.managed() && t.unread() && t.name == ".NET TP Worker";
    if (!unread && !t.pool_worker()) continue;
    ++workers;
    if (unread || t.state == ThreadState::kRunning || t.state == ThreadState::kRunnable ||
        t.state == ThreadState::kIdle)
      continue;
    blocked.push_back(t.managed_id);
    ++states[t.state];
    if (BlocksOnTask(t)) on_tasks.push_back(t.managed_id);
  }
  const bool queue_known = picture.pool && picture.pool->queue_length;
  if (workers == 0 || blocked.size() * 10 < workers * 9) return;
  if (queue_known && *picture.pool->queue_length == 0) return;
  if (!queue_known && on_tasks.size() != workers) return;
  Finding f;
  f.kind = FindingKind::kPoolStarved;
  f.threads = blocked;
  if (on_tasks.size() * 2 >= blocked.size()) {
    f.text = fmt::format(
        "Thread pool starved: {} of {} workers block in Task.Wait / Task.Result (sync over async)",
        on_tasks.size(), workers);
    const std::string where = TellingName(*picture.ByManagedId(on_tasks.front()));
    if (!where.empty()) f.text += ", as in " + where;
  } else {
    f.text = fmt::format("Thread pool starved: {} of {} workers block", blocked.size(), workers);
    std::string how;
    for (const auto& [state, count] : states)
      how += fmt::format("{}{} {}", how.empty() ? "" : ", ", count, Word(state));
    f.text += " (" + how + ")";
  }
  if (queue_known) {
    const uint64_t n = *picture.pool->queue_length;
    f.text += fmt::format("; {} work item{} queued", n, n == 1 ? " is" : "s are");
  }
  findings.push_back(std::move(f));
}

// Threads that wait, directly or through others, for one that waits for no lock.
void AddChains(const Picture& picture, std::vector<Finding>& findings) {
  std::map<uint32_t, std::vector<uint32_t>> behind;  // who is waited for at the end → who waits
  for (const Thread& t : picture.threads) {
    const Thread* owner = OwnerFor(picture, t);
    std::set<uint32_t> seen;
    while (owner != nullptr && seen.insert(owner->managed_id).second) {
      const Thread* next = OwnerFor(picture, *owner);
      if (next == nullptr) break;
      owner = next;
    }
    if (owner == nullptr || OwnerFor(picture, *owner) != nullptr) continue;
    behind[owner->managed_id].push_back(t.managed_id);
  }
  std::vector<Finding> chains;
  for (auto& [id, waiters] : behind) {
    const Thread& owner = *picture.ByManagedId(id);
    std::set<uint64_t> locks;
    for (const uint32_t waiter : waiters) {
      const Thread& t = *picture.ByManagedId(waiter);
      if (OwnerFor(picture, t) == &owner) locks.insert(t.waits_for);
    }
    std::string held;
    for (const uint64_t object : locks)
      held += (held.empty() ? "" : ", ") + Called(*picture.LockOf(object));
    Finding f;
    f.kind = FindingKind::kWaitsBehind;
    f.threads = waiters;
    f.text =
        fmt::format("{} thread{} behind {}, which holds {} and {}", waiters.size(),
                    waiters.size() == 1 ? " waits" : "s wait", Called(owner), held, Doing(owner));
    chains.push_back(std::move(f));
  }
  std::ranges::stable_sort(chains, std::greater{},
                           [](const Finding& f) { return f.threads.size(); });
  if (chains.size() > kMaxTold) chains.resize(kMaxTold);
  std::ranges::move(chains, std::back_inserter(findings));
}

void AddSpinners(const Picture& picture, std::vector<Finding>& findings) {
  std::vector<const Thread*> spinners;
  for (const Thread& t : picture.threads)
    if (t.managed() && t.demand_percent >= kSpins) spinners.push_back(&t);
  std::ranges::stable_sort(spinners, std::greater{},
                           [](const Thread* t) { return t->cpu_percent; });
  if (spinners.size() > kMaxTold) spinners.resize(kMaxTold);
  for (const Thread* t : spinners) {
    Finding f;
    f.kind = FindingKind::kSpins;
    f.threads = {t->managed_id};
    std::string who = Called(*t);
    who[0] = 'T';
    f.text =
        fmt::format("{} uses {:.0f} % of a CPU{}", who, std::min(100.0, t->cpu_percent), In(*t));
    if (t->cpu_percent < kSpins) f.text += ", and would use all of it";
    findings.push_back(std::move(f));
  }
}

}  // namespace

std::string Called(const Thread& t) {
  std::string text = t.managed() ? fmt::format("thread {}", t.managed_id)
                                 : fmt::format("native thread {}", t.os_id);
  if (!t.name.empty()) text += fmt::format(" \"{}\"", t.name);
  return text;
}

std::string Called(const Lock& lock) {
  return fmt::format("{} 0x{:x}", lock.type.empty() ? "an object" : lock.type, lock.object);
}

std::vector<std::vector<uint32_t>> FindDeadlocks(const Picture& picture) {
  std::vector<std::vector<uint32_t>> rings;
  std::set<uint32_t> done;
  for (const Thread& start : picture.threads) {
    // Each thread waits for one lock at most, so that a way never parts.
    std::vector<uint32_t> way;
    const Thread* t = &start;
    while (t != nullptr && !done.contains(t->managed_id)) {
      done.insert(t->managed_id);
      way.push_back(t->managed_id);
      t = OwnerFor(picture, *t);
    }
    if (t == nullptr) continue;
    const auto begin = std::ranges::find(way, t->managed_id);
    if (begin == way.end()) continue;
    std::vector<uint32_t> ring(begin, way.end());
    std::ranges::rotate(ring, std::ranges::min_element(ring));
    rings.push_back(std::move(ring));
  }
  return rings;
}

std::vector<Finding> FindReasons(const Picture& picture) {
  std::vector<Finding> findings;
  AddDeadlocks(picture, findings);
  const bool deadlock = !findings.empty();
  AddStarvation(picture, findings);
  AddChains(picture, findings);
  AddSpinners(picture, findings);
  if (!deadlock && picture.managed_stacks) {
    Finding f;
    f.kind = FindingKind::kNoDeadlock;
    f.text = "No deadlock seen among Monitor and Lock";
    const auto unread = std::ranges::count_if(
        picture.threads, [](const Thread& t) { return t.managed() && !t.error.empty(); });
    if (unread > 0)
      f.text += fmt::format("; {} could not be read",
                            unread == 1 ? "the stack of one thread"
                                        : fmt::format("the stacks of {} threads", unread));
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace clrscope::inspect
