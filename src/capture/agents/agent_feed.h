// SPDX-License-Identifier: Apache-2.0
// The agent in a recording's process: attaches it or waits until it listens, folds its frames into
// the recording, and takes it out at the end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/families/live/interval_fold.h"
#include "capture/agents/agent_link.h"
#include "capture/feeds/feed.h"

namespace clrscope::capture {

class AgentFeed final : public Feed {
 public:
  // A process that died, at whatever moment, may have left its socket.
  ~AgentFeed() override { socket_.RemoveIfDead(ipc::Deadline::After({})); }

  // Loads the agent into a running process, waits until it samples, and connects to it. Before any
  // session of ours begins: the runtime tells its providers what two sessions want after it has let
  // go of its lock, so that of two that begin at once the earlier word may come last, and one of
  // them gets nothing.
  //   options: of the agent, without "owned"
  static Result<std::unique_ptr<AgentFeed>> Load(pid_t pid, std::string_view options);
  // The agent is loaded as the process starts; it is connected to as soon as it listens. Where it
  // does not come, a note says so, and why.
  static std::unique_ptr<AgentFeed> Expect(pid_t pid);

  // Its process is the one at `index` of the recording. Before anything is pumped; all must outlive
  // the feed. `counts`: its samples are the recording's.
  void Follow(profile::Recording* recording, uint32_t index, profile::IntervalSink* sink,
              bool counts = true);

  // Told what the agent took its process since the last time, where it has a limit.
  void FollowOverhead(std::function<void(const profile::Overhead&)> tell) {
    tell_overhead_ = std::move(tell);
  }

  bool Pump() override;
  void BeginStop() override;
  bool ended() const override { return last_; }
  // Still attached it sees us go, and lets go too.
  void Abandon(std::string_view why) override;
  void EndOfProcess() override;
  void AddPolls(std::vector<pollfd>& polls) const override;
  uint64_t samples() const override { return samples_; }
  std::vector<std::string> TakeNotes() override { return std::exchange(notes_, {}); }

 private:
  explicit AgentFeed(pid_t pid) : pid_(pid), socket_(pid) {}
  void Connect();
  void NoteMissing(std::string_view why);
  bool Read();

  pid_t pid_;
  AgentSocketFile socket_;
  std::unique_ptr<AgentSubscription> link_;  // null: not connected yet
  ipc::Deadline deadline_ = ipc::Deadline::Never();
  ipc::Deadline next_try_ = ipc::Deadline::Never();
  std::unique_ptr<analysis::IntervalFold> fold_;
  std::string missing_;  // why it does not come, as far as is known at the start
  bool heard_ = false;   // something has come
  bool last_ = false;    // nothing comes any more
  std::string trouble_;  // that it told last
  uint64_t samples_ = 0;
  bool counts_ = true;
  std::function<void(const profile::Overhead&)> tell_overhead_;
  std::vector<std::string> notes_;
};

}  // namespace clrscope::capture
