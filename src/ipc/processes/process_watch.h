// SPDX-License-Identifier: Apache-2.0
// Notices .NET processes as they start, those in containers included. A runtime makes its socket in
// its own /tmp or TMPDIR: the folders that are known are watched by inotify, and /proc is looked
// through twice a second for processes whose folder is not known yet.
//
// Not thread-safe; Look() reads files and may take some milliseconds.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::ipc {

class ProcessWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // How often Look() has to be called when nothing makes fd() readable.
  static constexpr std::chrono::milliseconds kInterval{500};

  static Result<std::unique_ptr<ProcessWatch>> Start();

  // Readable when a socket may have appeared; Look() makes it unreadable again.
  int fd() const { return inotify_.get(); }
  // .NET processes that were not returned before, by pid and start time; our own is never among
  // them. One without a socket is returned once when it is old enough to have one, and again should
  // a socket appear after all.
  std::vector<ProcessFacts> Look();

 private:
  struct Known {
    uint64_t start_ticks = 0;
    std::string comm;
    Clock::time_point next_look{};
    bool told = false;    // returned with a socket
    bool judged = false;  // what it is without a socket was found out, and returned if it is .NET
    bool quiet = false;   // old, or a kernel's thread: only looked at for signs of a new program
    bool kernel = false;
  };

  ProcessWatch() = default;
  void ReadInotify();
  void WatchFolder(const std::string& folder);
  void LookAt(pid_t pid, Known& known, bool at_once, std::vector<ProcessFacts>& out);

  Fd inotify_;
  std::map<std::pair<uint64_t, uint64_t>, int> folders_;  // device and inode → watch, -1 = none
  std::unordered_map<pid_t, Known> known_;
  std::map<pid_t, uint64_t> named_;  // by the names of sockets that appeared: pid, start time
  bool rescan_all_ = true;           // names were lost
  Clock::time_point next_scan_{};
};

}  // namespace clrscope::ipc
