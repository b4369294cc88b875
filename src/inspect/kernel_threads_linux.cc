// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/proc_stat.h"
#include "base/thread_file.h"
#include "inspect/kernel_threads.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

// The next word, which is taken off.
std::string_view NextWord(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  text.remove_prefix(begin);
  const size_t end = std::min(text.find_first_of(" \n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

uint64_t Number(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    base = 16;
  }
  uint64_t n = 0;
  (void)std::from_chars(word.data(), word.data() + word.size(), n, base);
  return n;
}

constexpr int kCallArguments = 6;
constexpr int kFutex = 202,
              kFutexTimeout = 3;  // x64; FUTEX_WAIT: where its limit of time lies, or 0

// It could run both times and never gave its CPU up to wait in between.
bool NeverBlocked(const KernelThread& before, const KernelThread& now) {
  return before.blocked && before.blocked == now.blocked;
}

}  // namespace

SystemCall ParseSystemCall(std::string_view text) {
  SystemCall call;
  const std::string_view first = NextWord(text);
  if (first.empty()) return call;
  if (first == "running") {
    call.kind = SystemCall::Kind::kRunning;
    return call;
  }
  call.kind = first == "-1" ? SystemCall::Kind::kOutside : SystemCall::Kind::kInside;
  if (call.kind == SystemCall::Kind::kInside) {
    call.number = static_cast<int>(Number(first));
    for (int i = 0; i < kCallArguments; ++i) {
      const uint64_t argument = Number(NextWord(text));
      if (i == kFutexTimeout && call.number == kFutex) call.timed = argument != 0;
    }
  }
  call.sp = Number(NextWord(text));
  call.pc = Number(NextWord(text));
  if (call.sp == 0) call = {};
  return call;
}

double DemandPercent(const KernelThread& before, const KernelThread& now, double elapsed_ns) {
  const auto cpu = static_cast<double>(now.cpu_ns - before.cpu_ns);
  if (cpu * 100 < elapsed_ns) return 0;
  if (NeverBlocked(before, now)) return 100;
  const auto delay = static_cast<double>(now.delay_ns - before.delay_ns);
  return 100 * cpu / (cpu + std::max(0.0, elapsed_ns - cpu - delay));
}

bool HadNoCpu(const KernelThread& before, const KernelThread& now) {
  return NeverBlocked(before, now) && now.cpu_ns == before.cpu_ns;
}

KernelThreads::KernelThreads(pid_t pid) : path_("/proc/" + std::to_string(pid) + "/task") {
  tasks_ = Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

KernelThread KernelThreads::ReadOne(pid_t thread) const {
  KernelThread t;
  std::array<char, 1024> room;
  const auto id = static_cast<uint64_t>(thread);
  StatFields fields;
  if (ParseStat(ReadThreadFile(tasks_.get(), id, "stat", room), &fields)) {
    t.name = fields.name;
    t.state = fields.state;
  }
  std::string_view times = ReadThreadFile(tasks_.get(), id, "schedstat", room);
  t.cpu_ns = Number(NextWord(times));
  t.delay_ns = Number(NextWord(times));
  t.switches = Number(NextWord(times));
  t.call = ParseSystemCall(ReadThreadFile(tasks_.get(), id, "syscall", room));
  return t;
}

ipc::ProcStatus KernelThreads::StatusOf(pid_t thread) const {
  std::array<char, 4096> room;
  return ipc::ParseProcStatus(
      ReadThreadFile(tasks_.get(), static_cast<uint64_t>(thread), "status", room));
}

pid_t KernelThreads::InnerId(pid_t thread) const {
  const pid_t inner = StatusOf(thread).inner_pid;
  return inner != 0 ? inner : thread;
}

std::optional<uint64_t> KernelThreads::Blocked(pid_t thread) const {
  const std::optional<uint64_t> times = StatusOf(thread).voluntary_switches;
  // It may have begun to wait before that was read.
  if (ReadOne(thread).state != 'R') return std::nullopt;
  return times;
}

std::map<pid_t, KernelThread> KernelThreads::Read(size_t limit) const {
  std::map<pid_t, KernelThread> threads;
  for (const std::string& name : ipc::ListFolder(path_, limit)) {
    const auto id = static_cast<pid_t>(Number(name));
    KernelThread t = ReadOne(id);
    if (t.state == 'R') t.blocked = Blocked(id);
    if (t.state != '?') threads.emplace(id, std::move(t));
  }
  return threads;
}

}  // namespace clrscope::inspect
