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

void OnTerm(int) {
  g_came.store(true);
  void (*wake)(void*) = g_wake.load();
  if (wake != nullptr) {
    wake(g_context.load());
  } else {
    EndByTermSignal();
  }
}

}  // namespace

void TakeTermSignal(void (*wake)(void* context), void* context) {
  struct sigaction now {};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL)
    return;
  g_context.store(context);
  g_wake.store(wake);
  g_came.store(false);
  struct sigaction mine {};
  mine.sa_handler = OnTerm;
  mine.sa_flags = SA_RESTART;
  g_taken.store(::sigaction(SIGTERM, &mine, nullptr) == 0);
}

bool TermSignalCame() { return g_taken.load() && g_came.load(); }

void GiveBackTermSignal() {
  if (!g_taken.exchange(false)) return;
  // A handler that chains to ours finds nobody to wake, and ends the program.
  g_wake.store(nullptr);
  struct sigaction now {};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != OnTerm) return;
  struct sigaction original {};
  original.sa_handler = SIG_DFL;
  (void)::sigaction(SIGTERM, &original, nullptr);
}

void EndByTermSignal() {
  struct sigaction original {};
  original.sa_handler = SIG_DFL;
  (void)::sigaction(SIGTERM, &original, nullptr);
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  (void)::kill(::getpid(), SIGTERM);
}

}  // namespace clrscope::agent
