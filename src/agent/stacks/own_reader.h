// SPDX-License-Identifier: Apache-2.0
// Reads this process's memory through the kernel: what is not there is an error and no crash.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace clrscope::agent {

class OwnReader {
 public:
  explicit OwnReader(int pid) : pid_(pid) {}
  static OwnReader OfThisProcess() { return OwnReader(::getpid()); }
  // How much of it could be read, from its beginning.
  size_t ReadSome(uintptr_t at, void* to, size_t size) const {
    const iovec local{to, size};
    const iovec remote{reinterpret_cast<void*>(at), size};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t n = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    return n < 0 ? 0 : static_cast<size_t>(n);
  }
  template <class T>
  bool Read(uintptr_t at, T* out) const {
    return ReadSome(at, out, sizeof *out) == sizeof *out;
  }

 private:
  int pid_;
};

// What may be the address of an object or of the runtime's own data.
constexpr bool IsPlausible(uintptr_t p) {
  return p % 8 == 0 && p >= 0x10000 && p < uintptr_t{1} << 47;
}

}  // namespace clrscope::agent
