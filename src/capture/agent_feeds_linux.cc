// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "capture/agent_feeds.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kAttachPatience = 30s;
constexpr auto kExpectPatience = 20s;
constexpr auto kConnectEvery = 20ms;
constexpr auto kLastWords = 700ms;  // of the agent in a process that ends

}  // namespace

Status AgentFeeds::Load(pid_t pid) {
  const auto deadline = ipc::Deadline::After(kAttachPatience);
  RETURN_IF_ERROR(AttachAgent(pid, options_.empty() ? "owned=1" : "owned=1," + options_, deadline));
  Feed feed;
  feed.pid = pid;
  // At once: an agent whose owner is gone lets go.
  ASSIGN_OR_RETURN(feed.link, AgentFeed::Open(pid, deadline));
  feeds_.push_back(std::move(feed));
  return OkStatus();
}

void AgentFeeds::Follow(pid_t pid, uint32_t index) {
  for (Feed& feed : feeds_) {
    if (feed.pid != pid || feed.fold != nullptr) continue;
    feed.index = index;
    feed.fold = std::make_unique<analysis::IntervalFold>(recording_, index, sink_, false);
  }
}

void AgentFeeds::Expect(pid_t pid, uint32_t index) {
  Feed feed;
  feed.pid = pid;
  feed.index = index;
  feed.deadline = ipc::Deadline::After(kExpectPatience);
  feed.next_try = ipc::Deadline::After(0ms);
  feed.fold = std::make_unique<analysis::IntervalFold>(recording_, index, sink_, false);
  feeds_.push_back(std::move(feed));
}

void AgentFeeds::AddPolls(std::vector<pollfd>& polls) const {
  for (const Feed& f : feeds_)
    if (f.link != nullptr && !f.last) polls.push_back({f.link->fd(), POLLIN, 0});
}

void AgentFeeds::Connect(Feed& f, const std::function<void(std::string)>& note) {
  if (!f.next_try.expired()) return;
  f.next_try = ipc::Deadline::After(kConnectEvery);
  Result<std::unique_ptr<AgentFeed>> link = AgentFeed::Open(f.pid, ipc::Deadline::After(1s));
  if (link.ok()) {
    f.link = link.Take();
    return;
  }
  if (!f.deadline.expired() && link.error().code == ErrorCode::kNotFound) return;
  f.last = true;
  note(fmt::format("no live objects of process {}: {}", f.pid, link.error().message));
}

void AgentFeeds::Read(Feed& f, const std::function<void(std::string)>& note) {
  while (!f.last) {
    profile::IntervalFrame frame;
    const Result<bool> next = f.link->Next(frame);
    if (!next.ok()) {
      f.last = true;
      note(fmt::format("process {}: {}; what it said before is in the capture", f.pid,
                       next.error().message));
      return;
    }
    if (!*next) return;
    f.last = frame.last;
    samples_ += frame.meter.samples;
    if (const Status s = f.fold->OnFrame(std::move(frame)); !s.ok())
      note(fmt::format("process {}: {}", f.pid, s.error().message));
  }
}

void AgentFeeds::Pump(const std::function<void(std::string)>& note) {
  for (Feed& f : feeds_) {
    if (f.last) continue;
    if (f.link == nullptr) Connect(f, note);
    if (f.link != nullptr) Read(f, note);
  }
}

void AgentFeeds::End(uint32_t index, const std::function<void(std::string)>& note) {
  for (Feed& f : feeds_) {
    if (f.index != index || f.last) continue;
    const auto deadline = ipc::Deadline::After(kLastWords);
    while (!f.last && f.link != nullptr && !deadline.expired()) {
      pollfd p{f.link->fd(), POLLIN, 0};
      (void)::poll(&p, 1, deadline.poll_timeout_ms());
      Read(f, note);
    }
    f.last = true;
    f.link.reset();
  }
}

void AgentFeeds::Stop(std::chrono::milliseconds patience, const std::function<bool()>& keep_waiting,
                      const std::function<void(std::string)>& note) {
  const auto deadline = ipc::Deadline::After(patience);
  for (Feed& f : feeds_)
    if (f.link != nullptr && !f.last) (void)f.link->Command("detach", deadline);
  for (;;) {
    std::vector<pollfd> polls;
    AddPolls(polls);
    if (polls.empty() || deadline.expired() || !keep_waiting()) break;
    (void)::poll(polls.data(), polls.size(), deadline.poll_timeout_ms(50));
    for (Feed& f : feeds_)
      if (f.link != nullptr && !f.last) Read(f, note);
  }
  for (const Feed& f : feeds_)
    if (f.link != nullptr && !f.last)
      note(fmt::format("the agent of process {} did not say its last words in time", f.pid));
  feeds_.clear();  // whoever is still attached sees us go, and lets go too
}

}  // namespace clrscope::capture
