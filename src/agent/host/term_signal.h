// SPDX-License-Identifier: Apache-2.0
// SIGTERM, for the spool. Since .NET 10 it ends a program that does not ask for it at once, and
// with it what the agent has not written yet: so the agent comes first, and then hands the signal
// on to whoever had it before.
//
// The signal is never kept: it is handed on by the agent's thread when that has written what it
// has; by the handler itself at the second SIGTERM; by a timer of the kernel's, which sends that
// second one after kTermPatience, should the agent's thread hang; and at once in a process that has
// no such thread (a child of fork) and when the agent has gone, though somebody kept its handler.
#pragma once

#include <cstdint>

namespace clrscope::agent {

inline constexpr int64_t kTermPatience = 3'000'000'000;  // ns

// `wake` is called when it comes, and must be async-signal safe. One at a time. False: it stays
// with whoever has it, as it is ignored, or as other libraries have kept too many of our handlers.
bool TakeTermSignal(void (*wake)(void* context), void* context);
// Whether it came, and is still to be handed on.
bool TermSignalCame();
// Whether nobody but the system had it before: handed on, it ends the program at once.
bool TermSignalEndsIt();
// Gives it back to who had it, unless somebody else has taken it since; hands it on if it came.
void GiveBackTermSignal();

}  // namespace clrscope::agent
