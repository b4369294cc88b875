// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <unordered_set>

#include "ipc/processes/proc_linux.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/process_watch.h"

namespace clrscope::ipc {
namespace {

using namespace std::chrono_literals;

// A process that is younger may still make its socket, or become another program.
constexpr double kYoungSeconds = 30;
// One that has no socket by then is judged without.
constexpr double kSocketSeconds = 10;
constexpr auto kOldInterval = 5s;
constexpr size_t kMaxFolders = 4096;

}  // namespace

Result<std::unique_ptr<ProcessWatch>> ProcessWatch::Start() {
  std::unique_ptr<ProcessWatch> watch(new ProcessWatch);
  watch->inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch->inotify_.valid())
    return Error{ErrorCode::kFailed, fmt::format("cannot watch folders: {}", ::strerror(errno))};
  watch->WatchFolder("/tmp");
  if (const char* ours = std::getenv("TMPDIR"); ours != nullptr && *ours == '/')
    watch->WatchFolder(ours);
  return watch;
}

void ProcessWatch::WatchFolder(const std::string& folder) {
  struct stat info {};
  if (folders_.size() >= kMaxFolders || ::stat(folder.c_str(), &info) != 0) return;
  const auto [it, is_new] = folders_.try_emplace({info.st_dev, info.st_ino}, -1);
  // Without a watch (their number is limited) new processes are still looked at twice a second.
  if (is_new)
    it->second =
        ::inotify_add_watch(inotify_.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

void ProcessWatch::ReadInotify() {
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(inotify_.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    for (ssize_t at = 0; at < n;) {
      inotify_event event;
      ::memcpy(&event, buffer + at, sizeof(event));
      const char* name = buffer + at + sizeof(event);
      at += static_cast<ssize_t>(sizeof(event) + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        rescan_all_ = true;
      } else if ((event.mask & IN_IGNORED) != 0) {  // a container's folder has gone
        std::erase_if(folders_, [wd = event.wd](const auto& f) { return f.second == wd; });
      } else if (event.len != 0) {
        if (const auto socket = ParseSocketName(name)) named_[socket->pid] = socket->key;
      }
    }
  }
}

std::vector<ProcessFacts> ProcessWatch::Look() {
  std::vector<ProcessFacts> out;
  ReadInotify();
  const auto now = Clock::now();
  if (now < next_scan_ && named_.empty() && !rescan_all_) return out;
  next_scan_ = now + kInterval;

  const std::vector<pid_t> pids = ListPids();
  const std::unordered_set<pid_t> alive(pids.begin(), pids.end());
  std::erase_if(known_, [&](const auto& entry) { return !alive.contains(entry.first); });
  known_.erase(::getpid());
  for (const pid_t pid : pids) {
    if (pid == ::getpid()) continue;
    Known& known = known_[pid];
    const bool named = named_.contains(pid);
    if (named || rescan_all_ || known.next_look <= now) LookAt(pid, known, named, out);
    if (named && known.told && known.start_ticks == named_[pid]) named_.erase(pid);
  }
  // A name whose pid is of another namespace: everybody without a socket may be meant.
  if (!named_.empty())
    for (auto& [pid, known] : known_)
      if (!known.told && !known.kernel && known.next_look > now) LookAt(pid, known, true, out);
  named_.clear();
  rescan_all_ = false;
  return out;
}

void ProcessWatch::LookAt(pid_t pid, Known& known, bool at_once, std::vector<ProcessFacts>& out) {
  const auto now = Clock::now();
  known.next_look = now + kInterval;
  if ((known.quiet || known.told) && !at_once) {
    // A look at its name tells a new program, or a new process of the same number.
    known.next_look = now + kOldInterval;
    const auto stat = ReadProcStat(pid);
    if (!stat.ok() || (stat->start_ticks == known.start_ticks && stat->comm == known.comm)) return;
  }
  const Result<ProcessFacts> light = GatherSocketFacts(pid);
  if (!light.ok()) return;
  ProcessFacts facts = *light;
  if (facts.start_ticks != known.start_ticks || facts.comm != known.comm) {
    const bool same = facts.start_ticks == known.start_ticks && known.told;
    known = Known{facts.start_ticks, facts.comm, known.next_look, same, same, false, false};
    // A container is known by its first process, before any runtime runs in it.
    if (!facts.kernel_thread && !facts.root.empty()) WatchFolder(facts.root + "/tmp");
  }
  if (facts.kernel_thread) {
    known.quiet = known.kernel = true;
    known.next_look = now + kOldInterval;
    return;
  }
  if (known.told) return;
  if (!facts.socket_path.empty()) {
    WatchFolder(facts.root + facts.tmp_dir);
    GatherRuntimeFacts(facts);
    if (facts.runtime == RuntimeKind::kNone) return;  // it is ending
    known.told = known.judged = true;
    out.push_back(std::move(facts));
    return;
  }
  if (facts.uptime_s < kSocketSeconds) return;
  if (!known.judged) {
    known.judged = true;
    GatherRuntimeFacts(facts);
    known.told = !facts.socket_path.empty();  // under another name than expected
    if (facts.runtime != RuntimeKind::kNone) out.push_back(facts);
  }
  if (facts.uptime_s >= kYoungSeconds) {
    known.quiet = true;
    known.next_look = now + kOldInterval;
  }
}

}  // namespace clrscope::ipc
