// SPDX-License-Identifier: Apache-2.0
#include "capture/agents/agent_image.h"

#include "base/elf_build_id.h"

extern "C" {
extern const std::byte clrscope_agent_image[];      // NOLINT(readability-identifier-naming)
extern const std::byte clrscope_agent_image_end[];  // NOLINT(readability-identifier-naming)
}

namespace clrscope::capture {

Bytes AgentImage() {
  return {clrscope_agent_image,
          static_cast<size_t>(clrscope_agent_image_end - clrscope_agent_image)};
}

std::string AgentFileName() {
  static const std::string name =
      "clrscope-agent-" + ElfBuildId(AgentImage()).substr(0, 20) + ".so";
  return name;
}

}  // namespace clrscope::capture
