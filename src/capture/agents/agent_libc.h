// SPDX-License-Identifier: Apache-2.0
// Which C library a process runs on: the agent's library is loaded into it, and has to be built for
// that one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ipc/processes/dotnet_process.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::capture {

enum class Libc : uint8_t { kGlibc, kMusl };

// rid: what the runtime calls its platform, "linux-musl-x64"; "" when it does not say (before .NET
// 8). maps_musl: a musl is mapped, which decides where the runtime does not.
Libc LibcOf(std::string_view rid, bool maps_musl);
Libc LibcOf(const ipc::DotnetProcess& process, const ipc::ProcessFacts& facts);

// Of a program that is yet to be started: by the loader that its file names, or, when it is a
// script, its interpreter's file; of one that names none (or is not found), the machine's.
// `program`: a path, or a name that is looked for in PATH.
Libc LibcOfProgram(const std::string& program);
Libc LibcOfMachine();

}  // namespace clrscope::capture
