// SPDX-License-Identifier: Apache-2.0
// How the agent's thread asks the runtime: each call is a question of its own to the lookup gate,
// and so is each look at memory that goes with what it belongs to. Between two of them the gate may
// close. Then the rest is not asked, and what was learned so far means nothing. The heartbeat says
// which question is under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "agent/com/corprof.h"
#include "agent/host/heartbeat.h"
#include "agent/host/lookup_gate.h"
#include "base/byte_reader.h"

namespace clrscope::agent {

class Lookup {
 public:
  // What a call that was not made returns: a failure.
  static constexpr HResult kNotAsked = kAbort;

  // `info` is borrowed.
  Lookup(ICorProfilerInfo* info, LookupGate& gate, Heartbeat& heartbeat)
      : info_(info), gate_(gate), heartbeat_(heartbeat) {}

  // From here on it asks about what was seen at this epoch. False: that may be gone already.
  bool Begin(uint32_t stamp) {
    stamp_ = stamp;
    refused_ = false;
    return !gone();
  }
  // Whether that may be gone by now. Whoever has asked looks before using the answers.
  bool gone() const { return refused_ || gate_.epoch() != stamp_; }
  uint32_t epoch() const { return gate_.epoch(); }  // of the gate

  // Asks the runtime: Ask<&ICorProfilerInfo::GetModuleInfo2>(module, …).
  template <auto Method, class... A>
  HResult Ask(A... arguments) {
    return AskOf<Method>(*info_, arguments...);
  }
  // … or another of its interfaces.
  template <auto Method, class Interface, class... A>
  HResult AskOf(Interface& of, A... arguments) {
    const LookupGate::Question may_ask(gate_, stamp_);
    if (may_ask) {
      const Heartbeat::Call call(heartbeat_, MethodName<Method>());
      return (of.*Method)(arguments...);
    }
    refused_ = true;
    return kNotAsked;
  }
  // About what is never unloaded: no question to the gate, nobody waits for it.
  template <auto Method, class... A>
  HResult AskUnstamped(A... arguments) const {
    if (gate_.is_shut()) return kNotAsked;
    const Heartbeat::Call call(heartbeat_, MethodName<Method>());
    return (info_->*Method)(arguments...);
  }

  // What `read()` returns, which looks at memory of what is asked about, and asks nothing itself;
  // an empty value where it must not. A page that the disk has yet to bring is waited for.
  template <class Read>
  std::invoke_result_t<Read> Look(Read&& read) {
    const LookupGate::Question may_ask(gate_, stamp_);
    if (may_ask) {
      const Heartbeat::Call call(heartbeat_, "read");
      return read();
    }
    refused_ = true;
    return {};
  }
  // Releases an object of the runtime's. `may_go`: with what is asked about; then it is kept for
  // good where it must not be touched.
  void GiveBack(IUnknown& object, bool may_go) {
    const Heartbeat::Call call(heartbeat_, "Release");
    if (may_go)
      (void)Look([&] { return object.Release(); });
    else
      (void)object.Release();
  }
  // A copy of such memory; empty where it must not be read.
  std::vector<std::byte> Copy(Bytes there) {
    std::vector<std::byte> out(there.size());
    if (!Look([&] { return std::copy(there.begin(), there.end(), out.begin()) == out.end(); }))
      out.clear();
    return out;
  }

 private:
  ICorProfilerInfo* info_;
  LookupGate& gate_;
  Heartbeat& heartbeat_;
  uint32_t stamp_ = 0;
  bool refused_ = false;  // something was not asked since Begin()
};

}  // namespace clrscope::agent
