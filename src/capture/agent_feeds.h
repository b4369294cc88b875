// SPDX-License-Identifier: Apache-2.0
// The agents of a recording's processes: attaches them, folds their frames into the recording, and
// takes them out at the end.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/interval_fold.h"
#include "capture/agent_link.h"

namespace clrscope::capture {

class AgentFeeds {
 public:
  // `options`: of the agent, without "owned". Everything must outlive this.
  AgentFeeds(profile::Recording* recording, profile::IntervalSink* sink, std::string options)
      : recording_(recording), sink_(sink), options_(std::move(options)) {}

  // Loads the agent into a running process, waits until it samples, and connects to it. Before any
  // session of ours begins: the runtime tells its providers what two sessions want after it has let
  // go of its lock, so that of two that begin at once the earlier word may come last, and one of
  // them gets nothing.
  Status Load(pid_t pid);
  // That process is the one at `index` of the recording. Before anything is pumped.
  void Follow(pid_t pid, uint32_t index);
  // The agent is loaded as the process starts; it is connected to as soon as it listens.
  void Expect(pid_t pid, uint32_t index);

  void AddPolls(std::vector<pollfd>& polls) const;
  // Takes the frames that have come. Sentences about what went wrong go to `note`.
  void Pump(const std::function<void(std::string)>& note);
  // The process has ended: takes what its agent has said last.
  void End(uint32_t index, const std::function<void(std::string)>& note);
  // Takes every agent out, and the last frames with it.
  void Stop(std::chrono::milliseconds patience, const std::function<bool()>& keep_waiting,
            const std::function<void(std::string)>& note);

  uint64_t samples() const { return samples_; }

 private:
  struct Feed {
    pid_t pid = 0;
    uint32_t index = 0;
    std::unique_ptr<AgentFeed> link;  // null: not connected yet
    ipc::Deadline deadline = ipc::Deadline::Never();
    ipc::Deadline next_try = ipc::Deadline::Never();
    std::unique_ptr<analysis::IntervalFold> fold;
    bool last = false;  // nothing comes any more
  };
  void Read(Feed& feed, const std::function<void(std::string)>& note);
  void Connect(Feed& feed, const std::function<void(std::string)>& note);

  profile::Recording* recording_;
  profile::IntervalSink* sink_;
  std::string options_;
  std::vector<Feed> feeds_;
  uint64_t samples_ = 0;
};

}  // namespace clrscope::capture
