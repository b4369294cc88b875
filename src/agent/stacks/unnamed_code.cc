// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/unnamed_code.h"

#include <span>

namespace clrscope::agent {

bool UnnamedCode::Add(uint32_t frame, uintptr_t ip) {
  const std::lock_guard lock(mutex_);
  const size_t size = size_.load(std::memory_order_relaxed);
  if (size == kMost) return false;
  addresses_[size] = {frame, ip};
  size_.store(size + 1, std::memory_order_release);
  return true;
}

void UnnamedCode::LookUp(ICorProfilerInfo* info) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (Address& a : std::span(addresses_).first(size_.load(std::memory_order_relaxed))) {
    if (a.looked_up) continue;
    // Of the call before it: what follows may be another method's.
    const auto* call = reinterpret_cast<const uint8_t*>(a.ip - 1);  // NOLINT
    ReJitId rejit = 0;
    if (!Succeeded(info->GetFunctionFromIP3(call, &a.function, &rejit))) a.function = 0;
    a.looked_up = true;
  }
}

std::vector<UnnamedCode::Address> UnnamedCode::TakeAll() {
  const std::lock_guard lock(mutex_);
  const auto all = std::span(addresses_).first(size_.load(std::memory_order_relaxed));
  size_.store(0, std::memory_order_release);
  return {all.begin(), all.end()};
}

}  // namespace clrscope::agent
