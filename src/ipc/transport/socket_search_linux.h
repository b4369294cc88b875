// SPDX-License-Identifier: Apache-2.0
// Finds the diagnostics socket of one process. The socket's name holds the process's start time, so
// what an earlier process of the same pid left behind is not taken for it.
#pragma once

#include <string>
#include <vector>

#include "ipc/processes/process_facts.h"

namespace clrscope::ipc {

// Looks for the one name that is right: sets tmp_dir, tmp_dir_exists, socket_path and
// socket_name_too_long. One stat(2) per folder, so it is cheap enough for every process.
void FindSocket(ProcessFacts& facts);

// When that failed: lists the folder for other sockets of the pid. One behind which the process
// itself listens becomes socket_path (its time namespace counts ticks differently), the others are
// stale_sockets.
void FindOtherSockets(ProcessFacts& facts);

// Sockets in /tmp and our TMPDIR whose processes are in a pid namespace that we do not see: with a
// folder in common, as of two containers of a pod, but not the processes.
std::vector<std::string> SocketsOfUnseenProcesses();

}  // namespace clrscope::ipc
