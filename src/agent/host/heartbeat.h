// SPDX-License-Identifier: Apache-2.0
// Which call of the runtime the agent's thread is in, or has made last, and since when. That thread
// also answers `status`: when it hangs, clrscope reads this from outside (base/heartbeat_page.h).
// Used by one thread at a time: the one that starts the agent, the agent's, the one that frees it.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/host/agent_fd.h"
#include "base/heartbeat_page.h"

namespace clrscope::agent {

class Heartbeat {
 public:
  Heartbeat() = default;
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // The agent listens no more, and is about to be let go.
  void Leave() { page_->leaves.store(1, std::memory_order_release); }

  // From now on it can be read from outside; where the system refuses that, it cannot. On the
  // agent's thread, which blocks the signal of a limit on files (RLIMIT_FSIZE).
  void Share();

  // Lasts as long as the call. `name`: of static storage. One within another is part of that: many
  // short calls are marked as one.
  class [[nodiscard]] Call {
   public:
    Call(Heartbeat& heartbeat, std::string_view name)
        : heartbeat_(heartbeat.call_.empty() ? &heartbeat : nullptr) {
      if (heartbeat_ != nullptr) heartbeat_->Begin(name);
    }
    ~Call() {
      if (heartbeat_ != nullptr) heartbeat_->End();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Heartbeat* heartbeat_;  // null: within another
  };

  std::string_view call() const { return call_; }  // that goes on; "" = none
  // The longest call so far, the wait for something to do not among them.
  std::string_view longest() const { return longest_; }
  int64_t longest_ns() const { return longest_ns_; }

 private:
  void Begin(std::string_view name);
  void End();

  HeartbeatPage own_;
  HeartbeatPage* page_ = &own_;
  AgentFd file_;
  std::string_view call_, longest_;
  int64_t begin_ns_ = 0, longest_ns_ = 0;
};

// "GetModuleInfo2" of &ICorProfilerInfo::GetModuleInfo2. gcc: "… [with auto Method = &I::Name; …]",
// clang: "… [Method = &I::Name]".
template <auto Method>
consteval std::string_view MethodName() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("Method = &"));
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

}  // namespace clrscope::agent
