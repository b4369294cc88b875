// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <link.h>

#include <algorithm>

#include "agent/native_map.h"

namespace clrscope::agent {
namespace {

int AddModule(dl_phdr_info* info, size_t, void* context) {
  auto& modules = *static_cast<std::vector<NativeModule>*>(context);
  NativeModule m;
  m.image = ~uintptr_t{0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + p.p_vaddr, end = begin + p.p_memsz;
    if (p.p_type == PT_GNU_EH_FRAME) {
      m.header = begin;
      m.header_end = end;
    }
    if (p.p_type != PT_LOAD || (p.p_flags & PF_R) == 0) continue;
    m.image = std::min(m.image, begin);
    m.image_end = std::max(m.image_end, begin + p.p_filesz);
    if ((p.p_flags & PF_X) == 0) continue;
    if (m.text == 0 || begin < m.text) m.text = begin;
    m.text_end = std::max(m.text_end, end);
  }
  // The unwind tables must lie in one readable run with the module's first segment: they do, in
  // every linker's layout, as the segments of a module are mapped side by side.
  if (m.text != 0 && m.header != 0) modules.push_back(m);
  return 0;
}

}  // namespace

std::unique_ptr<NativeMap> NativeMap::Make() {
  auto map = std::make_unique<NativeMap>();
  ::dl_iterate_phdr(AddModule, &map->modules_);
  std::sort(map->modules_.begin(), map->modules_.end(),
            [](const NativeModule& a, const NativeModule& b) { return a.text < b.text; });
  return map;
}

const NativeModule* NativeMap::Find(uintptr_t ip) const {
  auto next = std::upper_bound(modules_.begin(), modules_.end(), ip,
                               [](uintptr_t at, const NativeModule& m) { return at < m.text; });
  if (next == modules_.begin()) return nullptr;
  --next;
  return ip < next->text_end ? &*next : nullptr;
}

}  // namespace clrscope::agent
