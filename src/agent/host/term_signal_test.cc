// SPDX-License-Identifier: Apache-2.0
// A SIGTERM ends a program as it would have without the agent, whatever the agent is doing. Each
// case is a process of its own.
#include "agent/host/term_signal.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "agent/host/forked.h"

namespace clrscope::agent {
namespace {

using namespace std::chrono_literals;

// Shared by a case's processes.
struct Seen {
  std::atomic<int> wakes, handled, alive;
};
Seen* g_seen = nullptr;

void Wake(void*) { g_seen->wakes.fetch_add(1); }
void Handled(int) { g_seen->handled.fetch_add(1); }
void HandledWithInfo(int signal, siginfo_t* info, void* context) {
  if (signal == SIGTERM && info != nullptr && context != nullptr) g_seen->handled.fetch_add(1);
}

struct sigaction g_chained;
// As libraries do: its own work, then who was there before.
void Chaining(int signal) {
  g_seen->handled.fetch_add(1);
  if ((g_chained.sa_flags & SA_SIGINFO) != 0) {
    g_chained.sa_sigaction(signal, nullptr, nullptr);
  } else if (g_chained.sa_handler == SIG_DFL) {
    ::signal(SIGTERM, SIG_DFL);
    ::raise(SIGTERM);
  } else if (g_chained.sa_handler != SIG_IGN) {
    g_chained.sa_handler(signal);
  }
}
void InstallChaining() {
  struct sigaction mine {};
  mine.sa_handler = Chaining;
  ::sigaction(SIGTERM, &mine, &g_chained);
}

class TermSignal : public ::testing::Test {
 protected:
  TermSignal() {
    g_seen = static_cast<Seen*>(
        ::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~TermSignal() override { ::munmap(g_seen, sizeof(Seen)); }

  struct End {
    int status = 0;
    std::chrono::milliseconds after{};
    bool by_term() const { return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM; }
  };
  // Runs `program` in a process, which ends with 0 when that returns; after at most 15 s.
  static End Run(const std::function<void()>& program) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(15);
      ::signal(SIGTERM, SIG_DFL);
      if (!WatchForks()) ::_exit(9);
      program();
      ::_exit(0);
    }
    End end;
    ::waitpid(pid, &end.status, 0);
    end.after = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    return end;
  }
  // The agent's thread, when it does its work: until it has handed the signal on.
  static void ServeOnce(std::chrono::milliseconds work) {
    while (!TermSignalCame()) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(work);
    GiveBackTermSignal();
  }
  static void Spin(int turns) {
    for (int i = 0; i < turns; ++i) __asm__ volatile("");
  }
  static void SleepForEver() {
    for (;;) ::pause();
  }
};

TEST_F(TermSignal, EndsTheProgramWhenTheAgentHasWritten) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    std::thread(ServeOnce, 100ms).detach();
    ::kill(::getpid(), SIGTERM);
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_EQ(g_seen->wakes, 1);
  EXPECT_GE(end.after, 100ms);
}

TEST_F(TermSignal, EndsItWhenTheAgentsThreadHangs) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    ::kill(::getpid(), SIGTERM);  // nobody serves it
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_GE(end.after, 2900ms);
  EXPECT_LT(end.after, 6000ms);
}

TEST_F(TermSignal, TheSecondOneIsNotWaitedFor) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    ::kill(::getpid(), SIGTERM);
    std::this_thread::sleep_for(50ms);
    ::kill(::getpid(), SIGTERM);
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_LT(end.after, 2500ms);
}

// It comes after the agent's last look, and before the handler is given back.
TEST_F(TermSignal, OneThatComesLastIsHandedOn) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    ASSERT_FALSE(TermSignalCame());
    ::kill(::getpid(), SIGTERM);
    GiveBackTermSignal();
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_LT(end.after, 2500ms);
}

TEST_F(TermSignal, GivenBackItIsTheProgramsAgain) {
  const End end = Run([] {
    ::signal(SIGTERM, Handled);
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    GiveBackTermSignal();
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(g_seen->handled, 1);
  EXPECT_EQ(g_seen->wakes, 0);
}

TEST_F(TermSignal, AHandlerFromBeforeGetsItOnce) {
  for (const bool with_info : {false, true}) {
    g_seen->handled = 0;
    const End end = Run([with_info] {
      struct sigaction theirs {};
      if (with_info) {
        theirs.sa_sigaction = HandledWithInfo;
        theirs.sa_flags = SA_SIGINFO;
      } else {
        theirs.sa_handler = Handled;
      }
      ::sigaction(SIGTERM, &theirs, nullptr);
      ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
      std::thread agent(ServeOnce, 20ms);
      ::kill(::getpid(), SIGTERM);
      agent.join();
      std::this_thread::sleep_for(50ms);
    });
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(g_seen->handled, 1);
  }
}

TEST_F(TermSignal, IgnoredItStaysIgnored) {
  const End end = Run([] {
    ::signal(SIGTERM, SIG_IGN);
    EXPECT_FALSE(TakeTermSignal(Wake, nullptr));
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(g_seen->wakes, 0);
}

TEST_F(TermSignal, ALibraryThatCameAfterUsIsAskedFirstAndTheProgramEnds) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    InstallChaining();
    std::thread(ServeOnce, 20ms).detach();
    ::kill(::getpid(), SIGTERM);
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_EQ(g_seen->handled, 1);
  EXPECT_LT(end.after, 2500ms);
}

TEST_F(TermSignal, ALibraryThatKeptOurHandlerAfterWeWent) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    InstallChaining();
    GiveBackTermSignal();
    ::kill(::getpid(), SIGTERM);
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
  EXPECT_EQ(g_seen->handled, 1);
  EXPECT_EQ(g_seen->wakes, 0);
}

// Rounds of the agent with a library in between: no chain may become a ring.
TEST_F(TermSignal, RoundsUnderALibraryThatKeepsUs) {
  const End end = Run([] {
    ::signal(SIGTERM, Handled);
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    InstallChaining();
    GiveBackTermSignal();
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
      GiveBackTermSignal();
    }
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    std::thread agent(ServeOnce, 20ms);
    ::kill(::getpid(), SIGTERM);
    agent.join();
    std::this_thread::sleep_for(50ms);
  });
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(g_seen->handled, 2) << "the library's and the program's, once each";
}

TEST_F(TermSignal, WhoeverRestoresOurHandlerDoesNotKeepTheSignal) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    InstallChaining();
    GiveBackTermSignal();
    ::sigaction(SIGTERM, &g_chained, nullptr);  // as it was when they came
    ::kill(::getpid(), SIGTERM);
    SleepForEver();
  });
  EXPECT_TRUE(end.by_term());
}

TEST_F(TermSignal, AChildOfForkEndsByIt) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    const pid_t child = ::fork();
    if (child == 0) SleepForEver();
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) g_seen->handled.store(1);
    g_seen->alive.store(TermSignalCame() ? 0 : 1);
    GiveBackTermSignal();
  });
  EXPECT_EQ(end.status, 0) << "the parent goes on";
  EXPECT_EQ(g_seen->handled, 1);
  EXPECT_EQ(g_seen->alive, 1);
  EXPECT_EQ(g_seen->wakes, 0);
}

// It shares our memory until it execs: what its handler does is done to us.
TEST_F(TermSignal, AChildOfVforkEndsByItAlone) {
  const End end = Run([] {
    ASSERT_TRUE(TakeTermSignal(Wake, nullptr));
    const pid_t child = ::vfork();
    if (child == 0) {
      ::kill(::getpid(), SIGTERM);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    g_seen->handled.store(WIFSIGNALED(status) ? 1 : 0);
    g_seen->alive.store(TermSignalCame() ? 0 : 1);
    GiveBackTermSignal();
  });
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(g_seen->handled, 1);
  EXPECT_EQ(g_seen->alive, 1);
}

// Every moment of a round, thousands of times: whatever the handler finds, the process ends by it.
TEST_F(TermSignal, IsNeverLostBetweenRounds) {
  for (int i = 0; i < 200; ++i) {
    const End end = Run([i] {
      std::atomic<bool> go{false};
      std::thread agent([&go, i] {
        go.store(true);
        for (;;) {
          if (!TakeTermSignal(Wake, nullptr)) SleepForEver();
          Spin(i * 10);
          if (TermSignalCame()) GiveBackTermSignal();
          GiveBackTermSignal();
        }
      });
      while (!go.load()) {
      }
      Spin(i * 100);
      ::kill(::getpid(), SIGTERM);
      SleepForEver();
    });
    ASSERT_TRUE(end.by_term()) << i;
    ASSERT_LT(end.after, 2500ms) << i;
  }
}

}  // namespace
}  // namespace clrscope::agent
