// SPDX-License-Identifier: Apache-2.0
// The whole agent, attached to a fake runtime.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/host/agent.h"
#include "agent/testing/fake_runtime.h"
#include "agent/testing/temporary_folder.h"
#include "base/fd.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::agent {

class AgentOnFake {
 public:
  // `%d` in the options is a folder of its own.
  explicit AgentOnFake(std::string options, bool attached = true);
  ~AgentOnFake();  // detaches, waits

  // An allocation of this type on the calling thread, under the stack that it has set.
  // `activity`: the one that the thread is at. `ip`: where a walk of the agent's own begins.
  void Allocate(ClassId type, uint64_t size = 200'000, const Guid* activity = nullptr,
                uintptr_t ip = 0);
  void AllocateCounted(ClassId type);  // as a program does that counts every allocation
  void CollectForAllocation();         // a GC's start, on this thread
  // … and the events around it.
  void SuspendForGc();
  void EndGc();
  void Restart();
  // Events of the calling thread, under the stack that it has set.
  void Throw(std::u16string_view type, bool by_statement = false);
  void Contend(uint64_t owner);
  void HaveLock(double waited_ns);
  void Wait();
  void HaveWaited();

  // As a finalizer thread does: the agent is told, then it is gone.
  void UnloadModule(ModuleId module);
  void UnloadMethod(FunctionId method);

  // A line to the control socket and its answer, or "" when nobody listens.
  std::string Ask(std::string_view line) const;
  // A number of "status"; -1 when it is not there.
  double Status(std::string_view name) const;
  std::string StatusText(std::string_view name) const;
  // What the agent sends next, with all of its dictionaries, and not before it has.
  profile::IntervalFrame NextFrame();
  // Ends the interval; its frame. The first call tells nothing of what came before it.
  profile::IntervalFrame EndInterval();
  // Whether a file of the spool says `text`, after `seconds` at most.
  bool SpoolSays(std::string_view file, std::string_view text, double seconds) const;
  void Detach();
  bool ended() const { return agent_.use_count() == 1; }

  FakeRuntime runtime;
  const std::string& folder() const { return folder_.path(); }
  Agent& agent() { return *agent_; }

 private:
  Fd Connect() const;
  Fd feed_;
  profile::IntervalFrame known_;  // its dictionaries
  void Event(uint32_t id, uint32_t version, const std::string& payload,
             FakeRuntime::Callback callback = FakeRuntime::Callback::kOtherEvent);
  uint32_t gcs_ = 0;
  TemporaryFolder folder_;
  std::shared_ptr<Agent> agent_;
};

// Waits until it is so, for at most `seconds`.
bool Until(double seconds, const std::function<bool()>& is_so);

}  // namespace clrscope::agent
