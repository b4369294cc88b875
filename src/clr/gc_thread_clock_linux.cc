// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/proc_stat.h"
#include "base/thread_file.h"
#include "clr/gc_thread_clock.h"
#include "clr/gc_thread_names.h"

namespace clrscope::clr {
namespace {

constexpr uint8_t kLooksForAName = 3;

GcThreadClock::Kind KindOf(std::string_view name) {
  return name == kServerGcThread       ? GcThreadClock::kServer
         : name == kBackgroundGcThread ? GcThreadClock::kBackground
                                       : GcThreadClock::kOther;
}

}  // namespace

int64_t NanosOfTicks(int64_t ticks) {
  const auto per_second = std::max<int64_t>(1, ::sysconf(_SC_CLK_TCK));
  return ticks * (1'000'000'000 / per_second);
}

// Returns false when what bears its number now is another thread. One that cannot be read stays as
// it was.
bool GcThreadClock::ReadThread(int tasks, Thread& thread) const {
  char room[1024];
  StatFields stat;
  if (!ParseStat(ReadThreadFile(tasks, thread.id, "stat", room), &stat) || stat.cpu_ticks < 0)
    return true;
  const Kind kind = KindOf(stat.name);
  if (thread.kind != kOther && kind != thread.kind) return false;
  thread.kind = kind;
  if (kind == kOther) {
    ++thread.looks;
    return true;
  }
  int64_t ns = NanosOfTicks(stat.cpu_ticks), exact = 0;
  // The first number of schedstat: nanoseconds, where the kernel keeps them.
  const std::string_view text = ReadThreadFile(tasks, thread.id, "schedstat", room);
  if (std::from_chars(text.data(), text.data() + text.size(), exact).ec == std::errc{} && exact > 0)
    ns = exact;
  if (ns < thread.cpu_ns) return false;
  thread.cpu_ns = ns;
  return true;
}

void GcThreadClock::Ended(const Thread& thread) {
  if (thread.kind == kOther) return;
  ++ended_[thread.kind].threads;
  ended_[thread.kind].cpu_ns += thread.cpu_ns - thread.from_ns;
}

bool GcThreadClock::Read() {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(tasks_.c_str()), &::closedir);
  if (!dir) return false;
  for (Thread& t : threads_) t.seen = false;
  const size_t known = threads_.size();
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    uint32_t id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec != std::errc{}) continue;
    const auto end = threads_.begin() + static_cast<std::ptrdiff_t>(known);
    const auto it = std::lower_bound(
        threads_.begin(), end, id, [](const Thread& t, uint32_t wanted) { return t.id < wanted; });
    if (it != end && it->id == id)
      it->seen = true;
    else
      threads_.push_back({id, kOther, 0, true, 0, 0});
  }
  for (Thread& t : threads_) {
    if (!t.seen || (t.kind == kOther && t.looks >= kLooksForAName)) continue;
    if (ReadThread(::dirfd(dir.get()), t)) continue;
    Ended(t);
    t = {t.id, kOther, 0, true, 0, 0};
    (void)ReadThread(::dirfd(dir.get()), t);
  }
  std::erase_if(threads_, [this](const Thread& t) {
    if (!t.seen) Ended(t);
    return !t.seen;
  });
  std::sort(threads_.begin(), threads_.end(),
            [](const Thread& a, const Thread& b) { return a.id < b.id; });
  if (!began_) Restart();
  began_ = true;
  return true;
}

GcThreadClock::Used GcThreadClock::Of(Kind kind) const {
  Used used = ended_[kind];
  for (const Thread& t : threads_) {
    if (t.kind != kind) continue;
    ++used.threads;
    used.cpu_ns += t.cpu_ns - t.from_ns;
  }
  return used;
}

void GcThreadClock::Restart() {
  for (Thread& t : threads_) t.from_ns = t.cpu_ns;
  ended_ = {};
}

bool GcThreadClock::IsGcThread(uint32_t thread) const {
  const auto it = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                   [](const Thread& t, uint32_t wanted) { return t.id < wanted; });
  return it != threads_.end() && it->id == thread && it->kind != kOther;
}

}  // namespace clrscope::clr
