// SPDX-License-Identifier: Apache-2.0
// SIGTERM, where nobody else takes it. Since .NET 10 the runtime leaves it to the system, which
// ends the program at once, and with it what the agent has not written yet.
#pragma once

namespace clrscope::agent {

// Takes SIGTERM if it has its default action: it then only calls `wake`, which must be async-signal
// safe. One at a time.
void TakeTermSignal(void (*wake)(void* context), void* context);
// Whether it came.
bool TermSignalCame();
// Gives it back unless somebody has taken it over since.
void GiveBackTermSignal();
// Ends the program as the signal would have.
void EndByTermSignal();

}  // namespace clrscope::agent
