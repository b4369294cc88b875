// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "agent/spool/own_file.h"

namespace clrscope::agent {
namespace {

// As AgentFileName() (src/capture/agents/agent_image.h) has it; what `clrscope env` puts in place
// for good is not attached.
constexpr std::string_view kPrefix = "/clrscope-agent-", kSuffix = ".so";

int RemoveIfOurs(dl_phdr_info* info, size_t, void*) {
  const auto here = reinterpret_cast<uintptr_t>(&RemoveIfOurs);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + p.p_vaddr;
    if (p.p_type != PT_LOAD || here < begin || here - begin >= p.p_memsz) continue;
    const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (path.find(kPrefix) != std::string_view::npos && path.ends_with(kSuffix))
      (void)::unlink(info->dlpi_name);
    return 1;
  }
  return 0;
}

}  // namespace

void RemoveOwnFile() { (void)::dl_iterate_phdr(RemoveIfOurs, nullptr); }

}  // namespace clrscope::agent
