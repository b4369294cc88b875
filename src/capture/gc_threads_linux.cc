// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "base/fd.h"
#include "capture/gc_threads.h"
#include "clr/gc_thread_names.h"

namespace clrscope::capture {
namespace {

constexpr int kLooksForAName = 3;

// Of a small file; "" when it cannot be read.
std::string_view ReadSmall(const std::string& path, std::span<char> room) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  const ssize_t n = ::read(file.get(), room.data(), room.size());
  return n > 0 ? std::string_view(room.data(), static_cast<size_t>(n)) : std::string_view();
}

uint64_t FirstNumber(std::string_view text, bool* ok) {
  uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  *ok = result.ec == std::errc();
  return value;
}

uint64_t NanosOf(uint64_t ticks) {
  static const auto per_second = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ticks * (1'000'000'000 / per_second);
}

}  // namespace

bool ParseTaskStat(std::string_view stat, std::string_view* name, uint64_t* ticks) {
  const size_t open = stat.find('('), close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  *name = stat.substr(open + 1, close - open - 1);
  // After the name: state is field 3, utime and stime are 14 and 15.
  std::string_view rest = stat.substr(close + 1);
  *ticks = 0;
  for (int field = 3; field <= 15; ++field) {
    const size_t at = rest.find_first_not_of(' ');
    if (at == std::string_view::npos) return false;
    rest.remove_prefix(at);
    if (field >= 14) {
      bool ok = false;
      *ticks += FirstNumber(rest, &ok);
      if (!ok) return false;
    }
    rest.remove_prefix(std::min(rest.size(), rest.find(' ')));
  }
  return true;
}

GcThreads::GcThreads(pid_t pid, const std::string& proc)
    : pid_(pid),
      tasks_(fmt::format("{}/{}/task", proc, pid)),
      stat_(fmt::format("{}/{}/stat", proc, pid)) {}

bool GcThreads::ReadThread(Thread& thread) const {
  char room[1024];
  const std::string task = fmt::format("{}/{}", tasks_, thread.tid);
  const std::string_view stat = ReadSmall(task + "/stat", room);
  std::string_view name;
  uint64_t ticks = 0;
  if (!ParseTaskStat(stat, &name, &ticks)) return false;
  if (thread.kind == Kind::kOther) {
    ++thread.looks;
    if (name == clr::kServerGcThread) thread.kind = Kind::kServer;
    if (name == clr::kBackgroundGcThread) thread.kind = Kind::kBackground;
  }
  if (thread.kind == Kind::kOther) return true;
  // Its number belongs to another thread by now.
  if (name != (thread.kind == Kind::kServer ? clr::kServerGcThread : clr::kBackgroundGcThread))
    return false;
  thread.cpu_ns = NanosOf(ticks);
  // Nanoseconds, where the kernel keeps them.
  bool ok = false;
  const uint64_t exact = FirstNumber(ReadSmall(task + "/schedstat", room), &ok);
  if (ok && exact != 0) thread.cpu_ns = exact;
  return true;
}

void GcThreads::Read(int64_t now_ns, profile::GcFacts& facts) {
  char room[1024];
  std::string_view name;
  uint64_t ticks = 0;
  if (!ParseTaskStat(ReadSmall(stat_, room), &name, &ticks)) return;
  process_ns_ = NanosOf(ticks);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(tasks_.c_str()), &::closedir);
  if (!dir) return;
  for (Thread& t : threads_) t.seen = false;
  const size_t known = threads_.size();
  while (const dirent* entry = ::readdir(dir.get())) {
    const auto tid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (tid <= 0) continue;
    const auto end = threads_.begin() + static_cast<std::ptrdiff_t>(known);
    const auto it = std::lower_bound(threads_.begin(), end, tid,
                                     [](const Thread& t, pid_t id) { return t.tid < id; });
    if (it != end && it->tid == tid)
      it->seen = true;
    else
      threads_.push_back({tid, Kind::kOther, 0, 0, 0, true});
  }
  // Of threads that are gone what they used stays; others may get their number.
  std::erase_if(threads_, [](const Thread& t) { return !t.seen && t.kind == Kind::kOther; });
  for (Thread& t : threads_)
    if (t.seen && (t.kind != Kind::kOther || t.looks < kLooksForAName)) {
      (void)ReadThread(t);
      if (!began_) t.from_ns = t.cpu_ns;
    }
  std::sort(threads_.begin(), threads_.end(),
            [](const Thread& a, const Thread& b) { return a.tid < b.tid; });
  if (!std::exchange(began_, true)) {
    process_from_ns_ = process_ns_;
    from_ns_ = now_ns;
  }
  int64_t threads[2] = {}, cpu_ns[2] = {};
  for (const Thread& t : threads_) {
    if (t.kind == Kind::kOther) continue;
    const size_t i = t.kind == Kind::kServer ? 0 : 1;
    ++threads[i];
    cpu_ns[i] += static_cast<int64_t>(t.cpu_ns - std::min(t.cpu_ns, t.from_ns));
  }
  facts.server_threads = threads[0];
  facts.server_cpu_ns = cpu_ns[0];
  facts.background_threads = threads[1];
  facts.background_cpu_ns = cpu_ns[1];
  facts.process_cpu_ns =
      static_cast<int64_t>(process_ns_ - std::min(process_ns_, process_from_ns_));
  facts.cpu_from_ns = from_ns_;
  facts.cpu_to_ns = now_ns;
}

void GcThreads::Restart(int64_t now_ns) {
  for (Thread& t : threads_) t.from_ns = t.cpu_ns;
  process_from_ns_ = process_ns_;
  from_ns_ = now_ns;
}

}  // namespace clrscope::capture
