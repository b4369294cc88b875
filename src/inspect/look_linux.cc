// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "capture/agents/agent_permission.h"
#include "capture/kernel/trace_right.h"
#include "capture/proc/maps_line.h"
#include "inspect/findings.h"
#include "inspect/kernel_threads.h"
#include "inspect/look.h"
#include "inspect/parts.h"
#include "inspect/reader_process.h"
#include "inspect/reader_rights.h"
#include "inspect/stack_copies.h"
#include "inspect/states.h"
#include "inspect/target_memory.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

using Clock = std::chrono::steady_clock;
using KernelView = std::map<pid_t, KernelThread>;

constexpr size_t kMaxThreads = dac::kMaxThreads;
constexpr int kMaxWatches = 5;
constexpr std::chrono::seconds kLongerWatch{1};

Error MayNotRead(pid_t pid, int error) {
  const auto refusal = capture::WhyNotRead(pid);
  if (refusal && refusal->code != ErrorCode::kPermission) return refusal->error();
  return Error{error == ESRCH ? ErrorCode::kNotFound : ErrorCode::kPermission,
               fmt::format("the memory of process {} may not be read: {}", pid,
                           refusal ? refusal->error().message : std::strerror(error))};
}

// Where the runtime is mapped, by the path of its file.
uint64_t BaseOf(const std::string& maps, std::string_view path) {
  std::string_view rest = maps;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    capture::MapsLine line;
    if (capture::ParseMapsLine(rest.substr(0, end), line) && line.path == path) return line.start;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}

// Makes of the threads' own numbers, which the runtime knows, the system's.
std::vector<dac::SnapshotThread> Outer(std::vector<dac::SnapshotThread> threads,
                                       const Picture& picture) {
  std::map<uint64_t, uint64_t> outer;
  for (const Thread& t : picture.threads)
    outer[static_cast<uint64_t>(t.inner_id)] = static_cast<uint64_t>(t.os_id);
  // What is no thread of this process is not touched, whoever asks for it.
  std::erase_if(threads, [&](const dac::SnapshotThread& t) { return !outer.contains(t.os_id); });
  for (dac::SnapshotThread& t : threads) t.os_id = outer[t.os_id];
  return threads;
}

std::vector<dac::ThreadRegisters> Inner(std::vector<dac::ThreadRegisters> registers,
                                        const Picture& picture) {
  std::map<uint64_t, uint64_t> inner;
  for (const Thread& t : picture.threads)
    inner[static_cast<uint64_t>(t.os_id)] = static_cast<uint64_t>(t.inner_id);
  for (dac::ThreadRegisters& r : registers) r.os_id = inner[r.os_id];
  return registers;
}

bool AnyHadNoCpu(const KernelView& before, const KernelView& after) {
  return std::ranges::any_of(after, [&](const auto& thread) {
    const auto then = before.find(thread.first);
    return then != before.end() && HadNoCpu(then->second, thread.second);
  });
}

void AddKernelThreads(const KernelThreads& kernel, const KernelView& before,
                      const KernelView& after, double elapsed_ns, Picture& picture) {
  for (const auto& [id, now] : after) {
    Thread t;
    t.os_id = id;
    t.inner_id = kernel.InnerId(id);
    t.name = now.name;
    t.kernel_state = now.state;
    t.system_call = now.call.kind == SystemCall::Kind::kInside ? now.call.number : -1;
    const auto then = before.find(id);
    if (then != before.end() && elapsed_ns > 0) {
      t.cpu_percent = 100 * static_cast<double>(now.cpu_ns - then->second.cpu_ns) / elapsed_ns;
      t.demand_percent = DemandPercent(then->second, now, elapsed_ns);
    }
    picture.threads.push_back(std::move(t));
  }
}

// What a thread was said to wait for holds only if it has not run since its stack was copied.
void KeepWhatStood(const StackCopies& copies, const KernelThreads& kernel, const KernelView& before,
                   Picture& picture) {
  for (Thread& t : picture.threads) {
    if (const auto missed = copies.missed.find(t.os_id); missed != copies.missed.end())
      t.error = missed->second;
    if (const auto seen = copies.seen.find(t.os_id); seen != copies.seen.end()) {
      t.kernel_state = seen->second.state;
      t.timed = seen->second.call.timed;
      t.stood = kernel.ReadOne(t.os_id).switches == seen->second.switches;
      const auto then = before.find(t.os_id);
      t.waited = t.stood && then != before.end() && then->second.switches == seen->second.switches;
    }
    if (!t.stood || !t.managed()) t.waits_for = 0;
  }
  std::map<uint32_t, Thread*> managed;
  for (Thread& t : picture.threads)
    if (t.managed()) managed.try_emplace(t.managed_id, &t);
  for (const Lock& l : picture.locks) {
    if (l.kind == LockKind::kThread) continue;
    for (const uint32_t owner : l.owners)
      if (const auto at = managed.find(owner); at != managed.end())
        at->second->holds.push_back(l.object);
  }
  std::map<uint64_t, const Lock*> locks;
  for (const Lock& l : picture.locks) locks.try_emplace(l.object, &l);
  for (Thread& t : picture.threads) {
    const auto found = locks.find(t.waits_for);
    const Lock* lock = found == locks.end() ? nullptr : found->second;
    if (lock != nullptr && t.behind.empty()) t.behind = lock->owners;
    std::erase(t.behind, t.managed_id);
    if (lock == nullptr || (t.behind.empty() && !lock->more_owners)) {
      t.waits_for = 0;
      t.behind.clear();
    }
  }
}

void ReadManaged(const ipc::ProcessFacts& facts, uint64_t base, const KernelThreads& kernel,
                 const KernelView& before, Picture& picture) {
  const size_t slash = facts.coreclr_path.rfind('/');
  const std::string library =
      facts.root + facts.coreclr_path.substr(0, slash + 1) + "libmscordaccore.so";
  const Result<ReaderRights> rights = RightsFor(facts);
  std::string failed;
  StackCopies copies;
  TargetMemory memory(facts.pid);
  if (!rights.ok()) {
    failed = rights.error().message;
  } else if (facts.musl) {
    failed = "its runtime is built for musl, whose libraries are not loaded yet";
  } else if (!ipc::ReadFile(library, 1).ok()) {
    failed =
        fmt::format("{} cannot be read, which tells how the runtime keeps its threads", library);
  } else {
    const ReaderAnswers answers{
        [&](uint64_t address, std::span<std::byte> out) { return memory.Read(address, out); },
        [&](const std::vector<dac::SnapshotThread>& threads) {
          copies = CopyStacks(facts.pid, Outer(threads, picture), memory);
          return Inner(copies.registers, picture);
        },
        [&](std::string_view part) { TakePart(part, picture); }};
    failed = RunReader(library, base, *rights, answers);
  }
  if (failed.empty() && !picture.managed_stacks) failed = "no thread's stack could be read";
  if (!failed.empty())
    picture.notes.push_back((picture.managed_stacks ? "managed stacks are not complete: "
                                                    : "there are no managed stacks: ") +
                            failed);
  picture.stopped_us = copies.longest_stop_us;
  picture.stopped_threads = copies.stopped;
  KeepWhatStood(copies, kernel, before, picture);
}

// What may only be busy for a moment is watched for longer.
bool NeedsALongerLook(const Picture& picture) {
  return std::ranges::any_of(FindReasons(picture), [](const Finding& f) {
    return f.kind == FindingKind::kMaybeDeadlock || f.kind == FindingKind::kFinalizersStuck;
  });
}

}  // namespace

Result<Picture> Look(const ipc::ProcessFacts& facts, const LookOptions& options) {
  const pid_t pid = facts.pid;
  if (facts.runtime == ipc::RuntimeKind::kNone)
    return Error{ErrorCode::kNotDotnet, fmt::format("process {} has no .NET runtime", pid)};
  if (facts.runtime == ipc::RuntimeKind::kNativeAot)
    return Error{ErrorCode::kRefused,
                 fmt::format("process {} is compiled ahead of time: it has no runtime that knows "
                             "its threads; gdb shows them",
                             pid)};
  capture::AskForTraceRight(pid);
  const Result<std::string> maps =
      ipc::ReadFile(fmt::format("/proc/{}/maps", pid), size_t{64} << 20);
  if (!maps.ok())
    return MayNotRead(pid, maps.error().code == ErrorCode::kPermission ? EPERM : ESRCH);
  const uint64_t base = facts.coreclr_path.empty() ? 0 : BaseOf(*maps, facts.coreclr_path);
  if (base != 0) {
    std::byte probe;
    if (TargetMemory(pid).ReadLive(base, {&probe, 1}) == 0) return MayNotRead(pid, errno);
  }

  const KernelThreads kernel(pid);
  if (!kernel.valid()) return Error{ErrorCode::kNotFound, fmt::format("process {} has ended", pid)};
  const KernelView before = kernel.Read(kMaxThreads);
  const Clock::time_point begin = Clock::now();
  KernelView after;
  // A busy machine may let a thread wait for longer than that.
  int watches = 0;
  do {
    std::this_thread::sleep_for(options.watch);
    after = kernel.Read(kMaxThreads);
  } while (++watches < kMaxWatches && AnyHadNoCpu(before, after));
  const double elapsed = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  Picture picture;
  picture.pid = pid;
  AddKernelThreads(kernel, before, after, elapsed, picture);

  if (base != 0)
    ReadManaged(facts, base, kernel, before, picture);
  else
    picture.notes.emplace_back(
        "there are no managed stacks: the program is a single file, and the library that tells how "
        "its runtime keeps its threads is not beside it");
  for (Thread& t : picture.threads) t.state = StateOf(t, picture.LockOf(t.waits_for));
  if (NeedsALongerLook(picture)) {
    const KernelView first = kernel.Read(kMaxThreads);
    std::this_thread::sleep_until(begin + kLongerWatch);
    for (Thread& t : picture.threads) {
      if (!t.waited && t.waits_for == 0) continue;
      const auto then = first.find(t.os_id);
      if (then != first.end() && kernel.ReadOne(t.os_id).switches == then->second.switches)
        continue;
      t.waited = false;
      t.waits_for = 0;
      t.behind.clear();
    }
  }
  std::ranges::stable_sort(picture.threads, {}, [](const Thread& t) {
    return std::pair(t.managed() ? t.managed_id : UINT32_MAX, t.os_id);
  });
  picture.findings = FindReasons(picture);
  return picture;
}

}  // namespace clrscope::inspect
