// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "capture/sessions/give_back.h"

namespace clrscope::capture {
namespace {

// Only what is mapped read-only from its file: what was relocated lies in segments that began as
// writable ones.
int ForgetPages(dl_phdr_info* object, size_t, void*) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto* const headers_end = object->dlpi_phdr + object->dlpi_phnum;
  const auto relocated_text = [object](const ElfW(Phdr) & h) {
    if (h.p_type != PT_DYNAMIC) return false;
    const auto* d = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + h.p_vaddr);
    for (; d->d_tag != DT_NULL; ++d)
      if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL) != 0))
        return true;
    return false;
  };
  if (std::any_of(object->dlpi_phdr, headers_end, relocated_text)) return 0;
  for (const auto* h = object->dlpi_phdr; h != headers_end; ++h) {
    if (h->p_type != PT_LOAD || (h->p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (object->dlpi_addr + h->p_vaddr) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + h->p_vaddr + h->p_memsz) & ~(page - 1);
    if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void GiveBackMemory() {
  (void)::malloc_trim(0);
  (void)::dl_iterate_phdr(ForgetPages, nullptr);
}

}  // namespace clrscope::capture
