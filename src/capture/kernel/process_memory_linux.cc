// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/uio.h>

#include "capture/kernel/process_memory.h"

namespace clrscope::capture {

size_t RemoteMemory::Read(uint64_t address, std::span<std::byte> to) {
  const iovec local{to.data(), to.size()};
  const iovec remote{reinterpret_cast<void*>(address),  // NOLINT(performance-no-int-to-ptr)
                     to.size()};
  ssize_t n = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (n < 0 && (errno == EPERM || errno == ENOSYS)) refused_ = true;
  if (n < 0 && errno == ESRCH) gone_ = true;
  return n > 0 ? static_cast<size_t>(n) : 0;
}

}  // namespace clrscope::capture
