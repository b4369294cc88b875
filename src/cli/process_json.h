// SPDX-License-Identifier: Apache-2.0
// A running process as JSON, the same in `ps` and `doctor`.
#pragma once

#include "cli/output.h"
#include "ipc/dotnet_process.h"

namespace clrscope::cli {

Json ProcessJson(const ipc::DotnetProcess& process);

// "permission", "refused" …: stable, for scripts.
std::string_view CodeName(ErrorCode code);

}  // namespace clrscope::cli
