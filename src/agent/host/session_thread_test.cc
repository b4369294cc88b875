// SPDX-License-Identifier: Apache-2.0
#include "agent/host/session_thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/testing/agent_on_fake.h"
#include "agent/testing/deaf_info.h"

namespace clrscope::agent {
namespace {

constexpr Ask kAnyAsk{1, 4};
constexpr uint64_t kRareKeyword = 0x800;

// Looks at the thread that calls it.
class SessionRuntime final : public DeafInfo {
 public:
  HResult EventPipeStartSession(uint32_t, EventPipeProviderConfig* provider, int32_t,
                                EventPipeSession* session) override {
    Look();
    keywords.push_back(provider->keywords);
    if (refuses) return kFail;
    *session = ++begun;
    return kOk;
  }
  HResult EventPipeStopSession(EventPipeSession session) override {
    Look();
    ended.push_back(session);
    return kOk;
  }

  bool refuses = false;
  uint64_t begun = 0;
  std::vector<EventPipeSession> ended;
  std::vector<uint64_t> keywords;
  std::set<std::thread::id> threads;
  sigset_t blocked{};

 private:
  void Look() {
    threads.insert(std::this_thread::get_id());
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  }
};

size_t CountThreadsNamed(const std::string& name) {
  size_t n = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm;
    std::getline(std::ifstream(task.path() / "comm"), comm);
    if (comm == name) ++n;
  }
  return n;
}

// The first, which is over at once, brings the thread's ThreadCreated.
TEST(SessionThread, HasTheCallsOfAStayOnOneThreadThatIsNotTheCallers) {
  SessionRuntime runtime;
  const std::atomic<bool> ending{false};
  Heartbeat heartbeat;
  SessionThread thread(&runtime, ending, heartbeat);
  EXPECT_EQ(CountThreadsNamed("clrscope-events"), 0u) << "not before there is something to do";
  const auto second = thread.Begin(kAnyAsk);
  EXPECT_EQ(runtime.keywords, (std::vector<uint64_t>{kRareKeyword, kAnyAsk.keywords}));
  EXPECT_EQ(runtime.ended, (std::vector<EventPipeSession>{1}));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->id, 2u);
  const auto third = thread.Begin(kAnyAsk);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->id, 3u);
  thread.Stop(second->id);
  thread.Stop(third->id);
  EXPECT_EQ(runtime.ended, (std::vector<EventPipeSession>{1, 2, 3}));
  thread.Remind();
  EXPECT_EQ(runtime.ended, (std::vector<EventPipeSession>{1, 2, 3, 4}));
  EXPECT_EQ(runtime.keywords.back(), kRareKeyword);
  EXPECT_EQ(runtime.threads.size(), 1u);
  EXPECT_EQ(runtime.threads.count(std::this_thread::get_id()), 0u);
  EXPECT_EQ(CountThreadsNamed("clrscope-events"), 1u);
}

TEST(SessionThread, EndsAndBeginsAnewWithTheNextCall) {
  SessionRuntime runtime;
  const std::atomic<bool> ending{false};
  Heartbeat heartbeat;
  SessionThread thread(&runtime, ending, heartbeat);
  thread.End();  // of none
  ASSERT_TRUE(thread.Begin(kAnyAsk).has_value());
  thread.End();
  EXPECT_TRUE(Until(20, [] { return CountThreadsNamed("clrscope-events") == 0; }));
  ASSERT_TRUE(thread.Begin(kAnyAsk).has_value());
  EXPECT_EQ(runtime.begun, 4u) << "two of each thread";
}

TEST(SessionThread, EndsWithItsOwner) {
  SessionRuntime runtime;
  const std::atomic<bool> ending{false};
  {
    Heartbeat heartbeat;
    SessionThread thread(&runtime, ending, heartbeat);
    ASSERT_TRUE(thread.Begin(kAnyAsk).has_value());
  }
  EXPECT_TRUE(Until(20, [] { return CountThreadsNamed("clrscope-events") == 0; }));
}

TEST(SessionThread, SaysWhatTheRuntimeSays) {
  SessionRuntime runtime;
  runtime.refuses = true;
  const std::atomic<bool> ending{false};
  Heartbeat heartbeat;
  SessionThread thread(&runtime, ending, heartbeat);
  const auto begun = thread.Begin(kAnyAsk);
  ASSERT_TRUE(begun.has_value());
  EXPECT_EQ(begun->id, 0u);
  EXPECT_EQ(begun->result, kFail);
  thread.Remind();
  EXPECT_TRUE(runtime.ended.empty()) << "nothing was begun";
}

// Handlers of the program run there. What they start inherits the mask.
TEST(SessionThread, HasTheMaskOfTheRuntimesThreadThatMadeIt) {
  SessionRuntime runtime;
  const std::atomic<bool> ending{false};
  sigset_t program, agent, before;
  ::sigemptyset(&program);
  ::sigaddset(&program, SIGUSR1);
  ::sigaddset(&program, SIGSEGV);  // which no thread may block
  ::sigfillset(&agent);
  ::pthread_sigmask(SIG_SETMASK, &program, &before);
  Heartbeat heartbeat;
  SessionThread thread(&runtime, ending, heartbeat);
  ::pthread_sigmask(SIG_SETMASK, &agent, nullptr);
  const bool began = thread.Begin(kAnyAsk).has_value();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(began);
  for (int signal = 1; signal < 32; ++signal)
    EXPECT_EQ(::sigismember(&runtime.blocked, signal), signal == SIGUSR1 ? 1 : 0) << signal;
}

TEST(SessionThread, IsTheOnlyOneOfAWholeStay) {
  AgentOnFake a("every=1h,exceptions=1");
  EXPECT_EQ(a.Ask("set locks=1"), "ok");
  EXPECT_EQ(a.Ask("stop"), "ok");
  EXPECT_EQ(a.Ask("start"), "ok");
  // Nothing comes, so it begins a session anew.
  ASSERT_TRUE(Until(20, [&] { return a.Status("sessions_again") > 0; }));
  a.Detach();
  ASSERT_TRUE(Until(20, [&] { return a.ended(); }));
  EXPECT_GT(a.runtime.sessions(), 4u);
  EXPECT_EQ(a.runtime.sessions_ended(), a.runtime.sessions());
  EXPECT_EQ(a.runtime.session_threads(), 1u);
  EXPECT_TRUE(Until(20, [] { return CountThreadsNamed("clrscope-events") == 0; }));
}

// The runtime keeps a thread that calls it while the process ends.
TEST(SessionThread, IsNotWaitedForWhenTheProcessEnds) {
  AgentOnFake a("every=1h,output=%d/x.pb");
  a.runtime.AddModule(1, 0);
  a.runtime.AddType(5, 1);
  const uint64_t sessions = a.runtime.sessions();
  a.runtime.beginning_sessions.Close();
  std::thread client([&] { (void)a.Ask("set exceptions=1"); });
  a.runtime.beginning_sessions.Await();
  a.Allocate(5);
  a.agent().OnShutdown();
  client.join();
  EXPECT_TRUE(Until(20, [&] { return a.ended(); })) << "its own thread is not held up";
  EXPECT_TRUE(a.SpoolSays("x.pb", "T5", 30)) << "the last interval";
  a.runtime.beginning_sessions.Open();
  EXPECT_TRUE(Until(20, [&] { return a.runtime.sessions() == sessions + 1; }));
}

}  // namespace
}  // namespace clrscope::agent
