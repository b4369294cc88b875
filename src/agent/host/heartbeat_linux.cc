// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <new>

#include "agent/host/clock.h"
#include "agent/host/heartbeat.h"

namespace clrscope::agent {
namespace {

// Source: linux include/uapi/linux/memfd.h, fcntl.h; older C libraries do not have all of them.
constexpr unsigned kCloseOnExec = 1, kAllowSealing = 2, kNoExecSeal = 8;
constexpr int kAddSeals = 1033, kSealSeal = 1, kSealShrink = 2, kSealGrow = 4;

// Kernels before 6.3 do not know the last flag; later ones may refuse files without it (sysctl
// vm.memfd_noexec).
int MakeFile() {
  constexpr unsigned kAlways = kCloseOnExec | kAllowSealing;
  for (const unsigned flags : {kAlways | kNoExecSeal, kAlways})
    if (const long fd = ::syscall(SYS_memfd_create, HeartbeatPage::kFileName, flags); fd >= 0)
      return static_cast<int>(fd);
  return -1;
}

// A mark on a page that somebody has cut off, through /proc/PID/fd, would be a SIGBUS.
bool Seal(int fd) {
  return ::syscall(SYS_fcntl, fd, kAddSeals, kSealShrink | kSealGrow | kSealSeal) == 0;
}

}  // namespace

Heartbeat::~Heartbeat() {
  if (page_ != &own_) (void)::munmap(page_, sizeof *page_);
}

void Heartbeat::Share() {
  AgentFd file(MakeFile());
  const std::array<std::byte, sizeof(HeartbeatPage)> zeros{};
  if (!file.valid() || ::write(file.get(), zeros.data(), zeros.size()) != sizeof zeros ||
      !Seal(file.get()))
    return;
  void* at = ::mmap(nullptr, sizeof zeros, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return;
  page_ = new (at) HeartbeatPage();
  file_ = std::move(file);
}

// Who sees a store sees all stores before it: the reader finds the same even number before and
// after (ReadHeartbeatPage).
void Heartbeat::Begin(std::string_view name) {
  call_ = name;
  begin_ns_ = MonotonicNs();
  const uint64_t sequence = page_->sequence.load(std::memory_order_relaxed);
  page_->sequence.store(sequence + 1, std::memory_order_release);
  page_->begin_ns.store(begin_ns_, std::memory_order_release);
  page_->end_ns.store(0, std::memory_order_release);
  page_->SetName(name);
  page_->sequence.store(sequence + 2, std::memory_order_release);
}

void Heartbeat::End() {
  const int64_t now = MonotonicNs();
  page_->end_ns.store(now, std::memory_order_release);
  if (call_ != HeartbeatPage::kWait && now - begin_ns_ > longest_ns_) {
    longest_ns_ = now - begin_ns_;
    longest_ = call_;
  }
  call_ = {};
}

}  // namespace clrscope::agent
