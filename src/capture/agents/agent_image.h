// SPDX-License-Identifier: Apache-2.0
// The agent's libraries as they lie in this program: one for each C library.
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "capture/agents/agent_libc.h"
#include "ipc/protocol/message.h"

namespace clrscope::capture {

// The agent's class id, {C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}, as it lies on the wire and in text.
inline constexpr ipc::Guid kAgentClsid = {0xE5, 0x0B, 0x5C, 0xC1, 0x61, 0x9A, 0x7E, 0x4B,
                                          0x8E, 0x5D, 0x2F, 0x1F, 0x0A, 0x0C, 0x1A, 0x57};
inline constexpr const char* kAgentClsidText = "{C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}";

// False for musl alone, where this program was built without its toolchain (cmake/musl.cmake).
bool HasAgentFor(Libc libc);
// For people: why an agent is not there.
inline constexpr const char* kNoAgentForMusl = "this clrscope was built without an agent for musl";
// Empty when there is none.
Bytes AgentImage(Libc libc);
// "clrscope-agent-1f00ba….so": with the library's build id, since the C library takes a library of
// a name that is loaded for the same one.
std::string AgentFileName(Libc libc);

}  // namespace clrscope::capture
