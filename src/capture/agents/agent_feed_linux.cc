// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>

#include "capture/agents/agent_feed.h"
#include "capture/agents/agent_heartbeat.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kAttachPatience = 30s;
constexpr auto kExpectPatience = 20s;
constexpr auto kConnectEvery = 20ms;
constexpr auto kCommandPatience = 5s;
constexpr auto kLastWords = 700ms;  // of the agent in a process that ends

constexpr std::string_view kTooLate =
    "it had not answered when the process, or the recording, ended";

}  // namespace

Result<std::unique_ptr<AgentFeed>> AgentFeed::Load(pid_t pid, std::string_view options) {
  const auto deadline = ipc::Deadline::After(kAttachPatience);
  const std::string owned = options.empty() ? "owned=1" : fmt::format("owned=1,{}", options);
  std::unique_ptr<AgentFeed> feed(new AgentFeed(pid));
  RETURN_IF_ERROR(AttachAgent(pid, owned, deadline));
  // At once: an agent whose owner is gone lets go.
  ASSIGN_OR_RETURN(feed->link_, AgentSubscription::Open(pid, deadline));
  return feed;
}

std::unique_ptr<AgentFeed> AgentFeed::Expect(pid_t pid) {
  std::unique_ptr<AgentFeed> feed(new AgentFeed(pid));
  feed->deadline_ = ipc::Deadline::After(kExpectPatience);
  feed->next_try_ = ipc::Deadline::After(0ms);
  feed->missing_ = WhyNotAtStart(pid);
  return feed;
}

void AgentFeed::Follow(profile::Recording* recording, uint32_t index, profile::IntervalSink* sink,
                       bool counts) {
  counts_ = counts;
  fold_ = std::make_unique<analysis::IntervalFold>(recording, index, sink, false);
}

void AgentFeed::AddPolls(std::vector<pollfd>& polls) const {
  if (link_ != nullptr && !last_) polls.push_back({link_->fd(), POLLIN, 0});
}

void AgentFeed::Connect() {
  if (!next_try_.expired()) return;
  next_try_ = ipc::Deadline::After(kConnectEvery);
  Result<std::unique_ptr<AgentSubscription>> link =
      AgentSubscription::Open(pid_, ipc::Deadline::After(1s));
  if (link.ok()) {
    link_ = link.Take();
    return;
  }
  if (!deadline_.expired() && link.error().code == ErrorCode::kNotFound) return;
  NoteMissing(link.error().message);
}

void AgentFeed::NoteMissing(std::string_view why) {
  last_ = true;
  notes_.push_back(fmt::format("{} of process {}, which the agent would report: {}",
                               counts_ ? "neither allocations nor live objects" : "no live objects",
                               pid_, missing_.empty() ? why : missing_));
}

bool AgentFeed::Read() {
  bool any = false;
  while (!last_) {
    profile::IntervalFrame frame;
    const Result<bool> next = link_->Next(frame);
    if (!next.ok()) {
      last_ = true;
      notes_.push_back(fmt::format(
          "process {}: {}; {}", pid_, next.error().message,
          heard_ ? "what it said before is in the capture" : "it had not reported anything yet"));
      return any;
    }
    if (!*next) return any;
    any = heard_ = true;
    last_ = frame.last;
    if (counts_) samples_ += frame.meter.samples;
    if (tell_overhead_ && frame.overhead.limit > 0) tell_overhead_(frame.overhead);
    if (frame.trouble != trouble_ && !frame.trouble.empty())
      notes_.push_back(fmt::format("the agent of process {}, {:.0f} s after it came: {}", pid_,
                                   static_cast<double>(frame.trouble_since_ns) / 1e9,
                                   frame.trouble));
    trouble_ = frame.trouble;
    if (const Status s = fold_->OnFrame(std::move(frame)); !s.ok())
      notes_.push_back(fmt::format("process {}: {}", pid_, s.error().message));
  }
  return any;
}

bool AgentFeed::Pump() {
  if (last_) return false;
  if (link_ == nullptr) Connect();
  return link_ != nullptr && Read();
}

void AgentFeed::BeginStop() {
  if (last_) return;
  if (link_ == nullptr)
    NoteMissing(kTooLate);
  else
    (void)link_->Command("detach", ipc::Deadline::After(kCommandPatience));
}

void AgentFeed::Abandon(std::string_view why) {
  if (last_) return;
  last_ = true;
  link_.reset();
  notes_.push_back(
      fmt::format("the agent of process {} {}{}", pid_, why, HeartbeatSuffix(ReadHeartbeat(pid_))));
}

void AgentFeed::EndOfProcess() {
  const auto deadline = ipc::Deadline::After(kLastWords);
  if (!last_ && link_ == nullptr) NoteMissing(kTooLate);
  while (!last_ && !deadline.expired()) {
    pollfd p{link_->fd(), POLLIN, 0};
    (void)::poll(&p, 1, deadline.poll_timeout_ms());
    Read();
  }
  last_ = true;
  link_.reset();
  socket_.RemoveIfDead(deadline);
}

}  // namespace clrscope::capture
