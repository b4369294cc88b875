// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "agent/term_signal.h"

namespace clrscope::agent {
namespace {

std::atomic<void (*)(void*)> g_wake{nullptr};
std::atomic<void*> g_context{nullptr};
std::atomic<bool> g_came{false};
std::atomic<bool> g_taken{false};
struct sigaction g_before;  // written before our handler is there

void OnTerm(int) {
  void (*wake)(void*) = g_wake.load();
  if (wake == nullptr) {  // somebody has kept our handler although we are gone
    PassOnTermSignal();
    return;
  }
  g_came.store(true);
  wake(g_context.load());
}

}  // namespace

void TakeTermSignal(void (*wake)(void* context), void* context) {
  if (g_taken.load() || ::sigaction(SIGTERM, nullptr, &g_before) != 0 ||
      ((g_before.sa_flags & SA_SIGINFO) == 0 && g_before.sa_handler == SIG_IGN))
    return;
  g_context.store(context);
  g_wake.store(wake);
  g_came.store(false);
  struct sigaction mine {};
  mine.sa_handler = OnTerm;
  mine.sa_flags = SA_RESTART | SA_ONSTACK;
  g_taken.store(::sigaction(SIGTERM, &mine, nullptr) == 0);
}

bool TermSignalCame() { return g_came.exchange(false); }

void GiveBackTermSignal() {
  if (!g_taken.exchange(false)) return;
  struct sigaction now {};
  if (::sigaction(SIGTERM, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
      now.sa_handler == OnTerm)
    (void)::sigaction(SIGTERM, &g_before, nullptr);
  g_wake.store(nullptr);
}

void PassOnTermSignal() {
  g_taken.store(false);
  (void)::sigaction(SIGTERM, &g_before, nullptr);
  (void)::kill(::getpid(), SIGTERM);
}

}  // namespace clrscope::agent
