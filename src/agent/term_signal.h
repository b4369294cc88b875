// SPDX-License-Identifier: Apache-2.0
// SIGTERM, for the spool. Since .NET 10 it ends a program that does not ask for it at once, and
// with it what the agent has not written yet: so the agent comes first, and then hands the signal
// on to whoever had it.
#pragma once

namespace clrscope::agent {

// `wake` is called when it comes, and must be async-signal safe. One at a time.
void TakeTermSignal(void (*wake)(void* context), void* context);
// Whether it came; once.
bool TermSignalCame();
// Gives it back to who had it, unless somebody else has taken it since.
void GiveBackTermSignal();
// After it came: gives it back and raises it again.
void PassOnTermSignal();

}  // namespace clrscope::agent
