// SPDX-License-Identifier: Apache-2.0
// What brings the events of one process into a recording: the runtime's sessions (Target), the
// agent (AgentFeed). Opened by whoever knows how, then pumped and stopped by the engine, on its
// thread. What a feed loses it counts by name in the process's tables.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clrscope::capture {

class Feed {
 public:
  virtual ~Feed() = default;

  // Takes what has arrived, only so much that others get their turn. Returns whether there was
  // anything.
  virtual bool Pump() = 0;
  // Asks its source to end; Pump() until ended(), which takes what comes last.
  virtual void BeginStop() = 0;
  virtual bool ended() const = 0;
  // Gives up on an answer: nothing is waited for any more.
  virtual void Abandon(std::string_view why) = 0;
  // The process is gone: takes what it left behind. May wait for a moment.
  virtual void EndOfProcess() {}
  // Adds what becomes readable when there is something to pump; nothing where others wait for that.
  virtual void AddPolls(std::vector<pollfd>&) const {}

  // Samples of allocations so far.
  virtual uint64_t samples() const = 0;
  // Sentences for people that came up since the last call.
  virtual std::vector<std::string> TakeNotes() = 0;
};

}  // namespace clrscope::capture
