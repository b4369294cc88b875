// SPDX-License-Identifier: Apache-2.0
// Children of fork() that never exec: they have a copy of the agent's memory and descriptors, but
// none of its threads. In them the agent does nothing, and what it has open is closed.
#pragma once

namespace clrscope::agent {

// At the agent's start, on one thread: this process is no such child, whatever it was. False: the
// kernel has no memory for it.
bool WatchForks();

// Whether this process is such a child; a load. Any thread, signal handlers too. A child of vfork()
// shares the memory and is not told apart.
bool IsForkedChild();

// Closed in such children. False: there is no room in the list.
bool CloseInChildren(int fd);
void NotOurs(int fd);  // before it is closed here

}  // namespace clrscope::agent
