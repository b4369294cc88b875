// SPDX-License-Identifier: Apache-2.0
// A heartbeat in this process, as an agent has one.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/fd.h"
#include "base/heartbeat_page.h"
#include "capture/sessions/clock.h"

namespace clrscope::capture {

class OwnHeartbeat {
 public:
  OwnHeartbeat() : OwnHeartbeat("", {}, false) {}
  // `since`: ago. `bytes`, `sealed`: as no agent makes it.
  OwnHeartbeat(std::string_view call, std::chrono::nanoseconds since, bool in_call,
               size_t bytes = sizeof(HeartbeatPage), bool sealed = true)
      : file_(::memfd_create(HeartbeatPage::kFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0 ||
        (sealed && ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0))
      std::abort();
    void* at =
        ::mmap(nullptr, sizeof(HeartbeatPage), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at == MAP_FAILED) std::abort();
    page_ = new (at) HeartbeatPage();
    if (call.empty()) return;
    const int64_t then = Clock::System().monotonic_ns() - since.count();
    page_->begin_ns.store(in_call ? then : then - 1);
    page_->end_ns.store(in_call ? 0 : then);
    page_->SetName(call);
  }
  ~OwnHeartbeat() { (void)::munmap(page_, sizeof(HeartbeatPage)); }
  OwnHeartbeat(const OwnHeartbeat&) = delete;
  OwnHeartbeat& operator=(const OwnHeartbeat&) = delete;

  HeartbeatPage& page() { return *page_; }

 private:
  Fd file_;
  HeartbeatPage* page_ = nullptr;
};

}  // namespace clrscope::capture
