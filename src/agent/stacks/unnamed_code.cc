// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/unnamed_code.h"

#include <sched.h>

#include <algorithm>
#include <span>

namespace clrscope::agent {

void UnnamedCode::Enter() {
  while (busy_.exchange(true, std::memory_order_acquire)) (void)::sched_yield();
}

void UnnamedCode::Add(uint32_t frame, uintptr_t ip) {
  const size_t size = size_.load(std::memory_order_relaxed);
  Enter();
  addresses_[size] = {frame, ip};
  size_.store(size + 1, std::memory_order_release);
  Leave();
}

void UnnamedCode::LookUp(ICorProfilerInfo* info) {
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  for (Address& a : std::span(addresses_).first(size_.load(std::memory_order_relaxed))) {
    if (a.looked_up) continue;
    // Of the call before it: what follows may be another method's.
    const auto* call = reinterpret_cast<const uint8_t*>(a.ip - 1);  // NOLINT
    ReJitId rejit = 0;
    if (!Succeeded(info->GetFunctionFromIP3(call, &a.function, &rejit))) a.function = 0;
    a.looked_up = true;
  }
  Leave();
}

std::vector<UnnamedCode::Address> UnnamedCode::Copy() {
  std::vector<Address> all(size());
  Enter();
  std::copy_n(addresses_.begin(), all.size(), all.begin());
  Leave();
  return all;
}

}  // namespace clrscope::agent
