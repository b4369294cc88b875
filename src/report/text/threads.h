// SPDX-License-Identifier: Apache-2.0
// The threads of a process as people read them: why it hangs first, then who does what.
#pragma once

#include <string>

#include "inspect/picture.h"
#include "ipc/processes/dotnet_process.h"
#include "report/text/style.h"

namespace clrscope::report {

struct ThreadsTextOptions {
  bool all = false;        // idle workers and the runtime's threads too
  size_t max_frames = 30;  // of a stack; 0: all
  size_t width = 100;
};
std::string ThreadsText(const inspect::Picture& picture, const ipc::DotnetProcess& process,
                        const ThreadsTextOptions& options, const Style& style);

}  // namespace clrscope::report
