// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "capture/kernel/perf_open.h"
#include "capture/kernel/perf_record.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::capture {
namespace {

static_assert(kPerfSampleType == (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD |
                                  PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER));

constexpr size_t kSmallFile = 1 << 16;
constexpr uint64_t kFormatLost = 1u << 4;  // PERF_FORMAT_LOST, which older headers lack

Fd OpenEvent(perf_event_attr& attr, pid_t tid, int cpu) {
  return Fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

// What the owner of a buffer and those that write into it must have in common.
perf_event_attr BasicAttr() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_hv = 1;
  return attr;
}

// "" when it cannot be read.
std::string TextOfFile(const std::string& path, size_t most) {
  Result<std::string> text = ipc::ReadFile(path, most);
  return text.ok() ? text.Take() : std::string();
}

}  // namespace

Fd PerfOpener::OpenHolder(int cpu) {
  perf_event_attr attr = BasicAttr();
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.sample_type = kPerfSampleType & ~uint64_t{PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER};
  attr.watermark = 1;  // 0 bytes: half of the buffer, whatever it is
  return OpenEvent(attr, 0, cpu);
}

Fd PerfOpener::Open(pid_t tid, int cpu) {
  for (;;) {
    perf_event_attr attr = BasicAttr();
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    // A period and no frequency: the clock ticks in ns, so both are the same timer, a fixed period
    // is exact, and no feedback of the kernel's changes it.
    attr.sample_period = wish_.period_ns;
    attr.sample_type = kPerfSampleType;
    attr.sample_id_all = 1;
    attr.sample_regs_user = kPerfUserRegs;
    attr.sample_stack_user = wish_.stack_bytes;
    attr.inherit = !wish_.whole_cpu;
    attr.inherit_thread = wish_.only_threads && !wish_.whole_cpu;
    attr.exclude_idle = wish_.whole_cpu;
    attr.comm = 1;
    attr.comm_exec = 1;
    attr.task = !wish_.whole_cpu;
    attr.exclude_kernel = !wish_.kernel;
    attr.exclude_callchain_kernel = !wish_.kernel || !wish_.kernel_chain;
    attr.read_format = wish_.tells_lost ? kFormatLost : 0;
    Fd fd = OpenEvent(attr, tid, cpu);
    if (fd.valid()) settled_ = true;
    if (fd.valid() || settled_ || !Relax(errno)) return fd;
  }
}

bool PerfOpener::Relax(int error) {
  if ((error == EACCES || error == EPERM) && wish_.kernel && !wish_.whole_cpu) {
    wish_.kernel = false;
    return true;
  }
  if (error != EINVAL) return false;
  if (wish_.tells_lost) {
    wish_.tells_lost = false;
  } else if (wish_.only_threads) {
    wish_.only_threads = false;
  } else {
    return false;
  }
  return true;
}

int64_t KernelSetting(const char* name, int64_t otherwise) {
  const std::string text = TextOfFile(fmt::format("/proc/sys/kernel/{}", name), kSmallFile);
  int64_t value = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? value : otherwise;
}

Error PerfRefused(int error, pid_t pid, bool own) {
  const char* why = strerror(error);
  if (error == ESRCH) return {ErrorCode::kNotFound, fmt::format("there is no process {}", pid)};
  if (error == ENOSYS)
    return {ErrorCode::kPermission,
            fmt::format("the kernel's sampler is not there ({}): a seccomp filter of the container "
                        "hides perf_event_open, or the kernel was built without it",
                        why)};
  if (error != EACCES && error != EPERM)
    return {ErrorCode::kFailed,
            fmt::format("cannot start the kernel's sampler of process {}: {}", pid, why)};
  const int64_t paranoid = KernelSetting("perf_event_paranoid", -2);
  if (!own)
    return {ErrorCode::kPermission,
            fmt::format("the kernel does not let process {} be sampled ({}): run as its user, or "
                        "with the capability CAP_PERFMON",
                        pid, why)};
  return {ErrorCode::kPermission,
          fmt::format("the kernel's sampler is refused ({}; kernel.perf_event_paranoid is {}): "
                      "{}, or run with the capability CAP_PERFMON",
                      why, paranoid,
                      paranoid > 2 ? "set it to 2 or less with sysctl"
                                   : "a seccomp filter of the container forbids perf_event_open, "
                                     "so allow it there")};
}

Error PerfNoDescriptors(size_t threads, size_t cpus, size_t most) {
  const size_t needed = threads * cpus;
  if (needed > most)
    return {ErrorCode::kFailed,
            fmt::format("the kernel's sampler would need {} descriptors for {} threads on {} CPUs, "
                        "and {} is the most: it cannot follow a process with so many threads here",
                        needed, threads, cpus, most)};
  return {ErrorCode::kFailed,
          fmt::format("the kernel's sampler needs {} descriptors for {} threads on {} CPUs, more "
                      "than the system allows: raise the limit of open files (ulimit -n)",
                      needed, threads, cpus)};
}

Error PerfNoMemory() {
  return {ErrorCode::kPermission,
          fmt::format("no memory may be locked for the kernel's samples "
                      "(kernel.perf_event_mlock_kb is {}): end other samplers, raise it with "
                      "sysctl, or raise the limit of locked memory (ulimit -l)",
                      KernelSetting("perf_event_mlock_kb", -1))};
}

std::vector<int> ParseCpuList(std::string_view text, size_t most) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && *at != '\n') {
    int first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc{} || first < 0) return {};
    int last = first;
    if (next != end && *next == '-') {
      const auto range = std::from_chars(next + 1, end, last);
      if (range.ec != std::errc{} || last < first) return {};
      next = range.ptr;
    }
    for (int cpu = first; cpu <= last && cpus.size() < most; ++cpu) cpus.push_back(cpu);
    if (next != end && *next == ',')
      ++next;
    else if (next != end && *next != '\n')
      return {};
    at = next;
  }
  return cpus;
}

std::vector<int> OnlineCpus() {
  std::vector<int> cpus = ParseCpuList(TextOfFile("/sys/devices/system/cpu/online", kSmallFile));
  if (!cpus.empty()) return cpus;
  // Where /sys is not mounted. One that does not run refuses its event.
  const long configured = std::clamp(::sysconf(_SC_NPROCESSORS_CONF), 1l, 4096l);
  for (int cpu = 0; cpu < configured; ++cpu) cpus.push_back(cpu);
  return cpus;
}

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(
      ::opendir(fmt::format("/proc/{}/task", pid).c_str()), &::closedir);
  if (!dir) return tids;
  while (const dirent* entry = ::readdir(dir.get()))
    if (const long tid = std::strtol(entry->d_name, nullptr, 10); tid > 0)
      tids.push_back(static_cast<pid_t>(tid));
  if (tids.empty()) errno = ESRCH;
  std::sort(tids.begin(), tids.end());
  return tids;
}

bool RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace clrscope::capture
