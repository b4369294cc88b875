// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "agent/host/forked.h"
#include "agent/host/kept_errno.h"
#include "agent/host/term_signal.h"

namespace clrscope::agent {
namespace {

// A handler of its own for each time that the signal was taken while another library still holds
// the one from before: each knows who had the signal before it, so that no chain becomes a ring.
constexpr size_t kHandlers = 8;

enum class State : uint8_t { kPassing, kArmed, kCame };

struct Turn {
  std::atomic<State> state{State::kPassing};
  std::atomic<bool> kept{false};  // somebody may still call it
  struct sigaction before {};     // written while nobody can call it
};
std::array<Turn, kHandlers> g_turns;
std::atomic<size_t> g_turn{kHandlers};  // the one that is armed; kHandlers = none
std::atomic<void (*)(void*)> g_wake{nullptr};
std::atomic<void*> g_context{nullptr};
std::atomic<pid_t> g_pid{0};
// The kernel's number of the timer; -1 = none. By system calls: the C library has the functions in
// a library of their own before glibc 2.34.
std::atomic<int> g_timer{-1};

using Handler = void(int, siginfo_t*, void*);
template <size_t kTurn>
void OnTerm(int signal, siginfo_t* info, void* context);
template <size_t... kTurns>
constexpr std::array<Handler*, kHandlers> MakeHandlers(std::index_sequence<kTurns...>) {
  return {OnTerm<kTurns>...};
}
constexpr std::array<Handler*, kHandlers> kTermHandlers =
    MakeHandlers(std::make_index_sequence<kHandlers>{});

bool IsOurs(const struct sigaction& action, size_t turn) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == kTermHandlers[turn];
}

bool IsDefault(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

void SetTimer(int64_t ns) {
  if (g_timer.load() < 0) return;
  itimerspec when{};
  when.it_value.tv_sec = ns / 1'000'000'000;
  when.it_value.tv_nsec = ns % 1'000'000'000;
  (void)::syscall(SYS_timer_settime, g_timer.load(), 0, &when, nullptr);
}

// Nobody but the system was to have it.
void EndByDefault() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGTERM, &standard, nullptr);
  (void)::kill(::getpid(), SIGTERM);  // blocked in a handler: comes when that returns
}

// Puts who had it before in our place, unless somebody else is there by now. Whether we were there.
bool Leave(size_t turn) {
  struct sigaction now {};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || !IsOurs(now, turn)) return false;
  struct sigaction replaced {};
  (void)::sigaction(SIGTERM, &g_turns[turn].before, &replaced);
  if (IsOurs(replaced, turn)) return true;
  (void)::sigaction(SIGTERM, &replaced, nullptr);  // somebody came in between
  return false;
}

// As whoever called us would have called who was there before us.
void CallBefore(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    EndByDefault();
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

// Once a turn, after it came: to who had it before, as if it came now.
void HandOn(size_t turn) {
  SetTimer(0);
  Turn& t = g_turns[turn];
  if (!Leave(turn)) {
    t.kept.store(true);
    if (IsDefault(t.before)) {
      EndByDefault();
      return;
    }
    // Another library has put itself before us. It gets the signal a second time, and calls us
    // again, who only pass it on by now.
  }
  (void)::kill(::getpid(), SIGTERM);
}

void Handle(size_t turn, int signal, siginfo_t* info, void* context) {
  Turn& t = g_turns[turn];
  // A child shares a vfork's memory, and has a copy of a fork's; in neither is it ours.
  if (IsForkedChild() || ::getpid() != g_pid.load()) {
    CallBefore(t.before, signal, info, context);
    return;
  }
  const bool by_timer = info != nullptr && info->si_code == SI_TIMER;
  State state = State::kArmed;
  if (!by_timer && t.state.compare_exchange_strong(state, State::kCame)) {
    SetTimer(kTermPatience);
    if (auto* wake = g_wake.load()) wake(g_context.load());
    return;
  }
  state = State::kCame;
  if (t.state.compare_exchange_strong(state, State::kPassing)) {
    size_t mine = turn;
    (void)g_turn.compare_exchange_strong(mine, kHandlers);
    HandOn(turn);
  } else if (!by_timer) {
    CallBefore(t.before, signal, info, context);
  }
}

template <size_t kTurn>
void OnTerm(int signal, siginfo_t* info, void* context) {
  const KeptErrno kept;
  Handle(kTurn, signal, info, context);
}

// A turn whose handler nobody can call any more.
size_t FreeTurn() {
  for (size_t i = 0; i < kHandlers; ++i)
    if (!g_turns[i].kept.load()) return i;
  return kHandlers;
}

void MakeTimer() {
  if (g_timer.load() >= 0) return;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTERM;
  int timer = -1;
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0) g_timer.store(timer);
}

}  // namespace

bool TakeTermSignal(void (*wake)(void* context), void* context) {
  struct sigaction now {};
  if (g_turn.load() != kHandlers) return true;
  if (::sigaction(SIGTERM, nullptr, &now) != 0 ||
      ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN))
    return false;
  const size_t turn = FreeTurn();
  if (turn == kHandlers) return false;
  Turn& t = g_turns[turn];
  t.before = now;
  if (g_pid.exchange(::getpid()) != ::getpid()) g_timer.store(-1);  // no timer outlives a fork
  g_context.store(context);
  g_wake.store(wake);
  MakeTimer();
  t.state.store(State::kArmed);
  struct sigaction mine {};
  mine.sa_sigaction = kTermHandlers[turn];
  mine.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO;
  struct sigaction replaced {};
  if (::sigaction(SIGTERM, &mine, &replaced) != 0) {
    t.state.store(State::kPassing);
    return false;
  }
  t.before = replaced;
  g_turn.store(turn);
  return true;
}

bool TermSignalCame() {
  const size_t turn = g_turn.load();
  return turn != kHandlers && g_turns[turn].state.load() == State::kCame;
}

bool TermSignalEndsIt() {
  const size_t turn = g_turn.load();
  return turn != kHandlers && IsDefault(g_turns[turn].before);
}

void GiveBackTermSignal() {
  const size_t turn = g_turn.exchange(kHandlers);
  if (turn == kHandlers) return;
  Turn& t = g_turns[turn];
  State armed = State::kArmed;
  // One that comes from here on is handed on by the handler.
  if (t.state.compare_exchange_strong(armed, State::kPassing)) {
    if (!Leave(turn)) t.kept.store(true);
    return;
  }
  State came = State::kCame;
  if (t.state.compare_exchange_strong(came, State::kPassing)) HandOn(turn);
}

}  // namespace clrscope::agent
