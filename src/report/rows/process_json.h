// SPDX-License-Identifier: Apache-2.0
// A running process as JSON, the same in `ps` and `doctor`.
#pragma once

#include "ipc/processes/dotnet_process.h"
#include "report/json.h"

namespace clrscope::report {

Json ProcessJson(const ipc::DotnetProcess& process);

// "permission", "refused" …: stable, for scripts.
std::string_view CodeName(ErrorCode code);

}  // namespace clrscope::report
