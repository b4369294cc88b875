// SPDX-License-Identifier: Apache-2.0
#include "inspect/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "inspect/states.h"
#include "inspect/wait_graph.h"

namespace clrscope::inspect {
namespace {

constexpr double kSpins = 90;  // percent of a CPU
constexpr size_t kMaxTold = 5;
constexpr std::string_view kMaybe = "Maybe a deadlock: ";

std::string TellingName(const Thread& t) {
  const Frame* frame = TellingFrame(t);
  return frame == nullptr ? "" : frame->name;
}

std::string In(const Thread& t) {
  const std::string name = TellingName(t);
  return name.empty() ? "" : " in " + name;
}

std::string Blocking(const Thread& t) {
  switch (t.state) {
    case ThreadState::kRunning:
    case ThreadState::kRunnable:
      return "runs";
    case ThreadState::kLock:
      return "waits for a lock";
    case ThreadState::kWait:
      return BlocksOnTask(t) ? "waits for a task" : "waits";
    case ThreadState::kSleep:
      return "sleeps";
    case ThreadState::kIo:
      return "waits for input or output";
    default:
      return "blocks";
  }
}

std::string Doing(const Thread& t) { return Blocking(t) + In(t); }

// `holds A, B, runs the static constructor of C`: what threads wait for that `owner` has. "": just
// its end. Who waits for a thread's end waits for its work, as many main threads do.
template <class Ids>
std::string HeldUp(const WaitGraph& graph, const Thread& owner, const Ids& waiters) {
  std::set<uint64_t> locks;
  for (const uint32_t waiter : waiters) {
    const Thread& t = *graph.ById(waiter);
    const Lock* lock = graph.WaitedFor(t);
    const bool behind = std::ranges::find(t.behind, owner.managed_id) != t.behind.end();
    if (behind && lock != nullptr && lock->kind != LockKind::kThread) locks.insert(t.waits_for);
  }
  std::string holds, runs;
  for (const uint64_t object : locks) {
    const Lock& lock = *graph.LockOf(object);
    std::string& list = lock.kind == LockKind::kStaticConstructor ? runs : holds;
    list += list.empty() ? Held(lock) : ", " + Called(lock);
  }
  return holds + (holds.empty() || runs.empty() ? "" : ", ") + runs;
}

void AddDeadlocks(const Picture& picture, const WaitGraph& graph, std::vector<Finding>& findings) {
  for (const std::vector<uint32_t>& ring : graph.Rings()) {
    Finding f;
    f.threads = ring;
    f.text = Called(*graph.ById(ring.front()));
    const Lock& held = *graph.WaitedFor(*graph.ById(ring.back()));
    if (held.kind != LockKind::kThread) f.text += " " + Held(held) + " and";
    for (size_t i = 0; i < ring.size(); ++i)
      f.text += fmt::format(
          "{} waits for {}", i == 0 ? "" : ", which",
          Awaited(picture, *graph.WaitedFor(*graph.ById(ring[i])), {ring[(i + 1) % ring.size()]}));
    if (const size_t n = graph.Behind({ring.begin(), ring.end()}).size(); n > 0)
      f.text += fmt::format("; {} more thread{} behind them", n, n == 1 ? " waits" : "s wait");
    const auto timed =
        std::ranges::find_if(ring, [&](uint32_t id) { return graph.ById(id)->timed; });
    const bool ends = timed != ring.end();
    if (ends) f.text += fmt::format("; {} waits for a limited time", Called(*graph.ById(*timed)));
    f.kind = ends ? FindingKind::kMaybeDeadlock : FindingKind::kDeadlock;
    f.text.insert(0, ends ? kMaybe : "Deadlock: ");
    findings.push_back(std::move(f));
  }
}

// It waits for what somebody holds that is not known, and has done so since the look began. Of
// tasks only those that a static constructor waits for are looked at: whoever holds a lock over a
// call may wait for a task for long, and for nobody's class.
bool WaitsForUnknown(const WaitGraph& graph, const Thread& t) {
  if (!t.waited) return false;
  if (const Lock* lock = graph.WaitedFor(t); lock != nullptr) return lock->more_owners;
  const bool constructs = std::ranges::any_of(t.holds, [&](uint64_t object) {
    const Lock* held = graph.LockOf(object);
    return held != nullptr && held->kind == LockKind::kStaticConstructor;
  });
  return constructs && BlocksOnTask(t);
}

// Who is in a ring that was told, or waits behind it.
std::set<uint32_t> Told(const WaitGraph& graph, const std::vector<Finding>& findings) {
  std::set<uint32_t> told;
  for (const Finding& f : findings)
    if (f.kind == FindingKind::kDeadlock || f.kind == FindingKind::kMaybeDeadlock)
      told.insert(f.threads.begin(), f.threads.end());
  told.merge(graph.Behind(told));
  return told;
}

// Keeps those with the most threads.
void AddLargest(std::vector<Finding> some, std::vector<Finding>& findings) {
  std::ranges::stable_sort(some, std::greater{}, [](const Finding& f) { return f.threads.size(); });
  if (some.size() > kMaxTold) some.resize(kMaxTold);
  std::ranges::move(some, std::back_inserter(findings));
}

// Rings that close if an owner that is not known is who it may be.
void AddMaybeDeadlocks(const Picture& picture, const WaitGraph& graph,
                       std::vector<Finding>& findings) {
  const std::set<uint32_t> told = Told(graph, findings);
  std::vector<Finding> maybe;
  std::vector<const Thread*> for_mutexes;  // nobody waits behind them
  const auto add = [&](std::string text, std::vector<uint32_t> threads) {
    maybe.push_back({FindingKind::kMaybeDeadlock, std::string(kMaybe) + text, std::move(threads)});
  };
  for (const Thread& t : picture.threads) {
    if (!WaitsForUnknown(graph, t) || told.contains(t.managed_id)) continue;
    const Lock* wanted = graph.WaitedFor(t);
    const std::set<uint32_t> behind = graph.Behind({t.managed_id});
    const std::string held = HeldUp(graph, t, behind);
    if (held.empty()) {
      if (wanted != nullptr && wanted->kind == LockKind::kMutex) for_mutexes.push_back(&t);
      continue;
    }
    const std::string what =
        wanted == nullptr ? Doing(t) : "waits for " + Awaited(picture, *wanted, t.behind);
    const std::string who =
        behind.size() == 1 ? fmt::format("{}, which waits", Called(*graph.ById(*behind.begin())))
                           : fmt::format("one of the {} threads that wait", behind.size());
    std::vector<uint32_t> threads{t.managed_id};
    threads.insert(threads.end(), behind.begin(), behind.end());
    add(fmt::format("{} {} and {}; who could end that may be {} behind it", Called(t), held, what,
                    who),
        std::move(threads));
  }
  // Each may wait for what the other has. Of semaphores that is not said: threads that wait for
  // work by them do so, too.
  std::set<uint64_t> objects;
  for (const Thread* t : for_mutexes) objects.insert(t->waits_for);
  if (objects.size() >= 2) {
    std::string text;
    std::vector<uint32_t> threads;
    for (const Thread* t : for_mutexes) {
      threads.push_back(t->managed_id);
      if (threads.size() > kMaxTold) continue;
      text += fmt::format("{}{} waits for {}", text.empty() ? "" : ", ", Called(*t),
                          Called(*graph.WaitedFor(*t)));
    }
    if (const size_t more = threads.size() - std::min(threads.size(), kMaxTold); more > 0)
      text += fmt::format(", {} more {} for mutexes", more, more == 1 ? "waits" : "wait");
    add(text + "; who holds these is not known", std::move(threads));
  }
  AddLargest(std::move(maybe), findings);
}

void AddStuckFinalizers(const Picture& picture, std::vector<Finding>& findings) {
  for (const Thread& t : picture.threads) {
    // While a collection runs it is not known how many wait, and finalizers wait for it.
    if (!t.finalizer || t.stack.empty() || !t.waited || picture.finalizers_wait.value_or(0) == 0)
      continue;
    // The finalizer itself says more than what the framework does for it.
    const Frame* frame = TellingFrame(t);
    if (IsFrameworkFile(frame->file))
      for (const Frame& f : t.stack)
        if (f.name.ends_with(".Finalize")) frame = &f;
    Finding f;
    f.kind = FindingKind::kFinalizersStuck;
    f.threads = {t.managed_id};
    f.text = fmt::format("Finalizers do not run: {} {} in {}", Called(t), Blocking(t), frame->name);
    const uint64_t n = *picture.finalizers_wait;
    f.text += n == 1 ? "; 1 object waits for its finalizer"
                     : fmt::format("; {} objects wait for their finalizers", n);
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
    if (!t.managed() || (!unread && !t.pool_worker())) continue;
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
void AddChains(const Picture& picture, const WaitGraph& graph, std::vector<Finding>& findings) {
  const std::set<uint32_t> told = Told(graph, findings);
  std::map<uint32_t, std::vector<uint32_t>> behind;  // who is waited for at the end → who waits
  for (const Thread& t : picture.threads) {
    if (told.contains(t.managed_id)) continue;
    const Thread* owner = graph.OwnerFor(t);
    std::set<uint32_t> seen;
    while (owner != nullptr && seen.insert(owner->managed_id).second) {
      const Thread* next = graph.OwnerFor(*owner);
      if (next == nullptr) break;
      owner = next;
    }
    if (owner == nullptr || graph.OwnerFor(*owner) != nullptr) continue;
    behind[owner->managed_id].push_back(t.managed_id);
  }
  std::vector<Finding> chains;
  for (auto& [id, waiters] : behind) {
    const Thread& owner = *graph.ById(id);
    const std::string held = HeldUp(graph, owner, waiters);
    if (held.empty()) continue;
    Finding f;
    f.kind = FindingKind::kWaitsBehind;
    f.threads = waiters;
    f.text =
        fmt::format("{} thread{} behind {}, which {} and {}", waiters.size(),
                    waiters.size() == 1 ? " waits" : "s wait", Called(owner), held, Doing(owner));
    chains.push_back(std::move(f));
  }
  AddLargest(std::move(chains), findings);
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
  if (lock.kind == LockKind::kStaticConstructor) return "the static constructor of " + lock.type;
  return fmt::format("{} 0x{:x}", lock.type.empty() ? "an object" : lock.type, lock.object);
}

std::string Held(const Lock& lock) {
  return (lock.kind == LockKind::kStaticConstructor ? "runs " : "holds ") + Called(lock);
}

std::string Awaited(const Picture& picture, const Lock& lock, const std::vector<uint32_t>& owners) {
  std::string who;
  for (size_t i = 0; i < std::min(owners.size(), kMaxTold); ++i) {
    const Thread* owner = picture.ByManagedId(owners[i]);
    who += i > 0 ? ", " : "";
    who += owner == nullptr ? fmt::format("thread {}", owners[i]) : Called(*owner);
  }
  if (owners.size() > kMaxTold) who += fmt::format(" and {} more", owners.size() - kMaxTold);
  if (lock.kind == LockKind::kThread) return "the end of " + who;
  if (owners.empty()) return Called(lock) + ", whose owner is not known";
  if (lock.more_owners) who += " and others";
  const bool constructor = lock.kind == LockKind::kStaticConstructor;
  return fmt::format("{}, {} by {}", Called(lock), constructor ? "run" : "held", who);
}

namespace {

// Threads that wait for what somebody may hold, by calls of the program's own: the framework's
// workers wait for work that way.
std::vector<uint32_t> WaitForNobodyKnown(const Picture& picture, const WaitGraph& graph) {
  std::vector<uint32_t> threads;
  for (const Thread& t : picture.threads) {
    if (t.waits_for == 0 || !WaitsForUnknown(graph, t)) continue;
    const auto caller = std::ranges::find_if(
        t.stack, [](const Frame& f) { return !f.name.starts_with("System.Threading."); });
    if (caller != t.stack.end() && !IsFrameworkFile(caller->file)) threads.push_back(t.managed_id);
  }
  return threads;
}

Finding NoDeadlock(const Picture& picture, const WaitGraph& graph) {
  Finding f;
  f.kind = FindingKind::kNoDeadlock;
  f.text = "No deadlock seen among locks, static constructors and threads' ends";
  f.threads = WaitForNobodyKnown(picture, graph);
  if (const size_t n = f.threads.size(); n > 0) {
    std::string ids;
    for (size_t i = 0; i < std::min(n, kMaxTold); ++i)
      ids += fmt::format("{}{}", i > 0 ? ", " : "", f.threads[i]);
    f.text += fmt::format(
        "; thread{} {}{} {} for what has no owner that is known (semaphores, mutexes, events), and "
        "may be in one",
        n == 1 ? "" : "s", ids, n > kMaxTold ? ", …" : "", n == 1 ? "waits" : "wait");
  }
  const auto unread = std::ranges::count_if(
      picture.threads, [](const Thread& t) { return t.managed() && !t.error.empty(); });
  if (unread > 0)
    f.text += fmt::format(
        "; {} could not be read",
        unread == 1 ? "the stack of one thread" : fmt::format("the stacks of {} threads", unread));
  return f;
}

}  // namespace

std::vector<Finding> FindReasons(const Picture& picture) {
  std::vector<Finding> findings;
  const WaitGraph graph(picture);
  AddDeadlocks(picture, graph, findings);
  AddMaybeDeadlocks(picture, graph, findings);
  const bool deadlock = !findings.empty();
  AddStuckFinalizers(picture, findings);
  AddStarvation(picture, findings);
  AddChains(picture, graph, findings);
  AddSpinners(picture, findings);
  if (!deadlock && picture.managed_stacks) findings.push_back(NoDeadlock(picture, graph));
  return findings;
}

}  // namespace clrscope::inspect
