// SPDX-License-Identifier: Apache-2.0
#include "capture/agents/agent_image.h"

#include "base/elf_build_id.h"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
extern const std::byte clrscope_agent_image[];
extern const std::byte clrscope_agent_image_end[];
#ifdef CLRSCOPE_AGENT_FOR_MUSL
extern const std::byte clrscope_agent_musl_image[];
extern const std::byte clrscope_agent_musl_image_end[];
#endif
// NOLINTEND(readability-identifier-naming)
}

namespace clrscope::capture {

bool HasAgentFor(Libc libc) { return !AgentImage(libc).empty(); }

Bytes AgentImage(Libc libc) {
  if (libc == Libc::kGlibc)
    return {clrscope_agent_image,
            static_cast<size_t>(clrscope_agent_image_end - clrscope_agent_image)};
#ifdef CLRSCOPE_AGENT_FOR_MUSL
  return {clrscope_agent_musl_image,
          static_cast<size_t>(clrscope_agent_musl_image_end - clrscope_agent_musl_image)};
#else
  return {};
#endif
}

std::string AgentFileName(Libc libc) {
  return "clrscope-agent-" + ElfBuildId(AgentImage(libc)).substr(0, 20) + ".so";
}

}  // namespace clrscope::capture
