// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include "agent/stacks/native_map.h"

namespace clrscope::agent {
namespace {

NativeModule ModuleOf(const dl_phdr_info& info) {
  NativeModule m;
  m.image = ~uintptr_t{0};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + p.p_vaddr, end = begin + p.p_memsz;
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
  return m;
}

// The program itself has no name.
bool StaysLoaded(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.empty()) return true;
  for (const std::string_view known : {"libcoreclr.so", "libclrjit.so", "libclrscope-agent.so",
                                       "clrscope-agent-", "libc.so", "libpthread.so", "ld-linux"})
    if (name.starts_with(known)) return true;
  return false;
}

int AddModule(dl_phdr_info* info, size_t, void* context) {
  auto& modules = *static_cast<std::vector<NativeModule>*>(context);
  const NativeModule m = ModuleOf(*info);
  if (m.text != 0 && m.header != 0 &&
      StaysLoaded(info->dlpi_name == nullptr ? "" : info->dlpi_name))
    modules.push_back(m);
  return 0;
}

struct Lookup {
  uintptr_t ip = 0;
  FrameRule* rule = nullptr;
};

int LookUp(dl_phdr_info* info, size_t, void* context) {
  const auto& lookup = *static_cast<Lookup*>(context);
  const NativeModule m = ModuleOf(*info);
  if (lookup.ip - 1 < m.text || lookup.ip - 1 >= m.text_end) return 0;
  if (m.header != 0) {
    *lookup.rule = RuleOf(m, lookup.ip);
  } else {
    lookup.rule->state = RuleState::kSnapshot;
  }
  return 1;
}

}  // namespace

std::unique_ptr<NativeMap> NativeMap::Make() {
  auto map = std::make_unique<NativeMap>();
  ::dl_iterate_phdr(AddModule, &map->modules_);
  std::sort(map->modules_.begin(), map->modules_.end(),
            [](const NativeModule& a, const NativeModule& b) { return a.text < b.text; });
  return map;
}

bool NativeMap::RuleOfLoaded(uintptr_t ip, FrameRule* rule) {
  Lookup lookup{ip, rule};
  return ::dl_iterate_phdr(LookUp, &lookup) == 1;
}

uint64_t NativeMap::Unloads() {
  uint64_t unloads = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* count) {
        *static_cast<uint64_t*>(count) = info->dlpi_subs;
        return 1;
      },
      &unloads);
  return unloads;
}

const NativeModule* NativeMap::Find(uintptr_t ip) const {
  auto next = std::upper_bound(modules_.begin(), modules_.end(), ip,
                               [](uintptr_t at, const NativeModule& m) { return at < m.text; });
  if (next == modules_.begin()) return nullptr;
  --next;
  return ip < next->text_end ? &*next : nullptr;
}

}  // namespace clrscope::agent
