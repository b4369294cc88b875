// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <string_view>

#include "agent/host/thread.h"
#include "agent/stacks/native_map.h"

namespace clrscope::agent {
namespace {

unwind::NativeModule ModuleOf(const dl_phdr_info& info) {
  unwind::NativeModule m;
  m.image = ~uint64_t{0};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + p.p_vaddr, end = begin + p.p_memsz;
    if (p.p_type == PT_GNU_EH_FRAME) {
      m.header = begin;
      m.header_end = end;
    }
    if (p.p_type != PT_LOAD || (p.p_flags & PF_R) == 0) continue;
    m.image = std::min<uint64_t>(m.image, begin);
    m.image_end = std::max<uint64_t>(m.image_end, begin + p.p_filesz);
    if ((p.p_flags & PF_X) == 0) continue;
    if (m.text == 0 || begin < m.text) m.text = begin;
    m.text_end = std::max<uint64_t>(m.text_end, end);
  }
  return m;
}

// The program itself has no name.
bool StaysLoaded(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.empty()) return true;
  for (const std::string_view known :
       {"libcoreclr.so", "libclrjit.so", "libclrscope-agent", "clrscope-agent-", "libc.so",
        "libpthread.so", "ld-linux", "ld-musl"})
    if (name.starts_with(known)) return true;
  return false;
}

#ifdef __GLIBC__
uintptr_t ThreadRoot() { return 0; }  // its unwind tables tell
#else
// Where the first function of a thread returns to. musl is built without unwind tables but for some
// functions, so nothing else says that a stack ends there; all its threads begin at one place.
// Source: musl src/thread/pthread_create.c, start
uintptr_t ThreadRoot() {
  static std::atomic<uintptr_t> root{0};
  const auto main = [](void*) -> void* {
    root.store(reinterpret_cast<uintptr_t>(__builtin_return_address(0)), std::memory_order_release);
    return nullptr;
  };
  const timespec pause{0, 100'000};
  if (root.load(std::memory_order_acquire) == 0 && StartThread(main, nullptr))
    while (root.load(std::memory_order_acquire) == 0) (void)::nanosleep(&pause, nullptr);
  return root.load(std::memory_order_acquire);
}
#endif

int AddModule(dl_phdr_info* info, size_t, void* context) {
  auto& modules = *static_cast<std::vector<unwind::NativeModule>*>(context);
  const unwind::NativeModule m = ModuleOf(*info);
  const uintptr_t root = ThreadRoot();
  if (m.text != 0 && m.header != 0 && (root < m.text || root >= m.text_end) &&
      StaysLoaded(info->dlpi_name == nullptr ? "" : info->dlpi_name))
    modules.push_back(m);
  return 0;
}

struct RuleSearch {
  uintptr_t ip = 0, root = 0;
  unwind::FrameRule* rule = nullptr;
};

int LookUp(dl_phdr_info* info, size_t, void* context) {
  const auto& search = *static_cast<RuleSearch*>(context);
  const unwind::NativeModule m = ModuleOf(*info);
  if (search.ip - 1 < m.text || search.ip - 1 >= m.text_end) return 0;
  if (m.header != 0) {
    OwnMemory memory;
    *search.rule = unwind::RuleOfReturn(m, search.ip, memory);
  } else {
    search.rule->state = unwind::RuleState::kSnapshot;
  }
  if (search.ip == search.root) search.rule->state = unwind::RuleState::kRoot;
  return 1;
}

}  // namespace

std::unique_ptr<NativeMap> NativeMap::Make() {
  auto map = std::make_unique<NativeMap>();
  (void)ThreadRoot();  // now, when nobody waits
  ::dl_iterate_phdr(AddModule, &map->modules_);
  std::sort(
      map->modules_.begin(), map->modules_.end(),
      [](const unwind::NativeModule& a, const unwind::NativeModule& b) { return a.text < b.text; });
  return map;
}

bool NativeMap::RuleOfLoaded(uintptr_t ip, unwind::FrameRule* rule) {
  RuleSearch search{ip, ThreadRoot(), rule};
  return ::dl_iterate_phdr(LookUp, &search) == 1;
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

const unwind::NativeModule* NativeMap::Find(uintptr_t ip) const {
  auto next =
      std::upper_bound(modules_.begin(), modules_.end(), ip,
                       [](uint64_t at, const unwind::NativeModule& m) { return at < m.text; });
  if (next == modules_.begin()) return nullptr;
  --next;
  return ip < next->text_end ? &*next : nullptr;
}

}  // namespace clrscope::agent
