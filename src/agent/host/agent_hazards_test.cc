// SPDX-License-Identifier: Apache-2.0
// What must not happen to a program that the agent lives in: the whole agent on a runtime that
// notices when it is asked about what is gone.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "agent/host/forked.h"
#include "agent/samples/given_up_handles.h"
#include "agent/testing/agent_on_fake.h"
#include "symbols/testing/sample.h"

namespace clrscope::agent {
namespace {

constexpr ModuleId kApp = 1, kPlugin = 2;

// A disk that stalls: opening a pipe without a reader waits for ever.
void StallTheDisk(const AgentOnFake& a) {
  ASSERT_EQ(::mkfifo((a.folder() + "/x.pb.part").c_str(), 0600), 0);
}

void LetItGoOn(const AgentOnFake& a) {
  std::thread([path = a.folder() + "/x.pb.part"] {
    if (std::FILE* f = std::fopen(path.c_str(), "r")) {
      char buffer[4096];
      while (std::fread(buffer, 1, sizeof buffer, f) > 0) {
      }
      std::fclose(f);
    }
  }).join();
}

TEST(Unloading, NamesAreReadBeforeTheTypeGoes) {
  AgentOnFake a("every=1h,output=%d/x.pb");
  a.runtime.AddModule(kPlugin, kModuleCollectible);
  a.runtime.AddType(77, kPlugin);
  a.Allocate(77);
  a.UnloadModule(kPlugin);
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_TRUE(a.SpoolSays("x.pb", "T77", 5));
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  EXPECT_EQ(a.Status("unloads_missed"), 0);
}

TEST(Unloading, WaitsForNoDisk) {
  AgentOnFake a("every=100ms,output=%d/x.pb");
  StallTheDisk(a);
  a.runtime.AddModule(kPlugin, kModuleCollectible);
  a.runtime.AddType(77, kPlugin);
  a.Allocate(77);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // files wait
  a.Allocate(77);
  const auto begin = std::chrono::steady_clock::now();
  a.UnloadModule(kPlugin);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_GT(a.Status("files_waiting"), 0);
  EXPECT_EQ(a.Status("unloads_missed"), 0);
  EXPECT_EQ(a.Status("types"), 1);
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  LetItGoOn(a);
}

// Type 5 stays, type 77 goes with the plug-in.
void AddAppAndPlugin(AgentOnFake& a) {
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddModule(kPlugin, kModuleCollectible);
  a.runtime.AddType(5, kApp);
  a.runtime.AddType(77, kPlugin);
}

// A thread stands still in the middle of a sample, so that its shard cannot be emptied.
TEST(Unloading, WhatWasNotTakenInByThenIsNotAskedAbout) {
  AgentOnFake a("every=1h,output=%d/x.pb");
  AddAppAndPlugin(a);
  a.runtime.creating_handles.Close();
  std::thread owner([&] {
    a.runtime.creating_handles.Open();
    a.Allocate(77);
    a.runtime.creating_handles.Close();
    a.Allocate(5);  // stands still
  });
  a.runtime.creating_handles.Await();
  a.UnloadModule(kPlugin);
  EXPECT_EQ(a.Status("unloads_missed"), 1);
  a.runtime.creating_handles.Open();
  owner.join();
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  EXPECT_EQ(a.Status("unloaded_unnamed"), 2) << "nobody knows which of them is gone";
  // What comes later has the same id, and is something else.
  a.runtime.AddModule(kPlugin, kModuleCollectible);
  a.runtime.AddType(77, kPlugin);
  std::thread([&] { a.Allocate(77); }).join();
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_EQ(a.Status("unloaded_unnamed"), 2);
  EXPECT_TRUE(a.SpoolSays("x.pb", "T77", 5));
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
}

// The agent's thread came by while the owner stood still in a sample; what was sampled after that
// is in the other table of its shard.
TEST(Unloading, NamesAreReadOfAllThatASlowThreadSampled) {
  AgentOnFake a("every=1h,output=%d/x.pb");
  AddAppAndPlugin(a);
  a.runtime.creating_handles.Close();
  std::atomic<bool> go_on{false}, over{false};
  std::thread owner([&] {
    a.Allocate(5);  // stands still
    a.Allocate(77);
    go_on.store(true);
    while (!over.load()) std::this_thread::yield();  // else its shard is emptied at its end
  });
  a.runtime.creating_handles.Await();
  EXPECT_EQ(a.Ask("interval"), "ok");  // which does not get it
  a.runtime.creating_handles.Open();
  EXPECT_TRUE(Until(10, [&] { return go_on.load(); }));
  a.UnloadModule(kPlugin);
  EXPECT_EQ(a.Status("unloads_missed"), 0);
  EXPECT_EQ(a.Ask("interval"), "ok");
  over.store(true);
  owner.join();
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  EXPECT_EQ(a.Status("unloaded_unnamed"), 0);
  EXPECT_TRUE(a.SpoolSays("x.pb", "T77", 5));
}

TEST(Unloading, WaitsForAQuestionThatIsUnderWay) {
  AgentOnFake a("every=1h");
  a.runtime.AddModule(kPlugin, kModuleCollectible);
  a.runtime.AddType(77, kPlugin);
  a.runtime.questions_stall.Close();
  a.Allocate(77);
  a.runtime.questions_stall.Await();  // the agent's thread is in the runtime, at this very type
  std::atomic<bool> unloaded{false};
  std::thread finalizer([&] {
    a.UnloadModule(kPlugin);
    unloaded.store(true);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // longer than its patience
  EXPECT_FALSE(unloaded.load());
  a.runtime.questions_stall.Open();
  finalizer.join();
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
}

// A look-up that is under way while what it is about goes, in each of its calls.
class UnloadingInALookUp : public testing::Test {
 protected:
  // Looks up what `see` samples, which takes `least_calls` or more, and has `unload` unload it
  // within each of these calls. The unloading is to wait for that one, and for no other.
  void ExpectOneCallIsWaitedFor(const std::function<void()>& see,
                                const std::function<void()>& unload, uint64_t least_calls) {
    ForgetAll();
    const uint64_t before = a.runtime.questions();
    see();
    EXPECT_EQ(a.Ask("interval"), "ok");
    const uint64_t calls = a.runtime.questions() - before;
    EXPECT_GE(calls, least_calls);
    unload();
    const double methods = a.Status("methods"), types = a.Status("types");
    for (uint64_t call = 0; call < calls; ++call) {
      bool one = false;
      // Where the patience of whoever unloads is over late, as on a busy machine, more are made.
      for (int tries = 0; tries < 10 && !one; ++tries) {
        ForgetAll();
        one = WaitsForOne(call, see, unload);
        if (HasFailure()) return;
      }
      ASSERT_TRUE(one) << call;
    }
    EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
    EXPECT_EQ(a.Status("methods"), methods) << "no half of a name is kept";
    EXPECT_EQ(a.Status("types"), types);
  }

  AgentOnFake a{"every=1h,live=0"};
  std::chrono::milliseconds patience_{UnloadDesk::kDynamicPatience + 80};

 private:
  static constexpr ModuleId kAnother = 90;

  // All is looked up anew, and samples are taken again after an unloading that did not wait.
  void ForgetAll() {
    a.runtime.AddModule(kAnother, kModuleCollectible);
    a.UnloadModule(kAnother);
    for (int i = 0; i < 2; ++i) (void)a.Status("samples");
  }

  bool WaitsForOne(uint64_t call, const std::function<void()>& see,
                   const std::function<void()>& unload) {
    a.runtime.questions_stall.Close(call);
    see();
    std::thread asks([&] { (void)a.Ask("interval"); });
    const bool held = a.runtime.questions_stall.Await();
    EXPECT_TRUE(held);
    std::atomic<bool> unloaded{false};
    std::thread finalizer([&] {
      unload();
      unloaded.store(true);
    });
    std::this_thread::sleep_for(patience_);
    EXPECT_FALSE(unloaded.load());
    a.runtime.questions_stall.LetOnePass();
    const bool one = Until(1, [&] { return unloaded.load(); });
    a.runtime.questions_stall.Open();
    finalizer.join();
    asks.join();
    return one;
  }
};

TEST_F(UnloadingInALookUp, OfADynamicMethodWaitsForOneCall) {
  constexpr FunctionId kMethod = 50;
  constexpr uintptr_t kAt = 0x100000;
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  ExpectOneCallIsWaitedFor(
      [&] {
        a.runtime.AddMethod(kMethod, kApp, /*dynamic=*/true, kAt, 200);
        FakeRuntime::SetStack({{kMethod, kAt + 16}});
        a.Allocate(5);
        FakeRuntime::SetStack({});
      },
      [&] { a.UnloadMethod(kMethod); }, 9);
}

// Its names are read in its image, its frames by its code.
TEST_F(UnloadingInALookUp, OfAPluginWaitsForOneCall) {
  constexpr FunctionId kMethod = 2;
  constexpr ClassId kType = 3;
  const std::vector<std::byte> image = symbols::ReadSample("Sample.dll");
  // push rbp; sub rsp, 20h; lea rbp, [rsp+20h]
  std::array<uint8_t, 200> code = {0x55, 0x48, 0x83, 0xec, 0x20, 0x48, 0x8d, 0x6c, 0x24, 0x20};
  const auto start = reinterpret_cast<uintptr_t>(code.data());
  a.runtime.has_code.store(true);
  const uint64_t opened = ModuleMetadata::opened_by_runtime();
  patience_ = std::chrono::milliseconds(UnloadDesk::kModulePatience + 100);
  ExpectOneCallIsWaitedFor(
      [&] {
        a.runtime.AddModule(kPlugin, kModuleCollectible | kModuleFlat, image);
        a.runtime.AddType(kType, kPlugin);
        a.runtime.AddMethod(kMethod, kPlugin, /*dynamic=*/false, start, code.size());
        FakeRuntime::SetStack({{kMethod, start + 16}});
        a.Allocate(kType);
        FakeRuntime::SetStack({});
      },
      [&] { a.UnloadModule(kPlugin); }, 10);
  EXPECT_EQ(a.runtime.metadata_opened(), 0u);
  EXPECT_EQ(ModuleMetadata::opened_by_runtime(), opened);
}

// Threads allocate types of plugins that come and go, under dynamic methods that do, while the
// agent's thread takes them in as it can.
TEST(Unloading, NothingThatIsGoneIsAskedAbout) {
  AgentOnFake a("every=100ms,cap=64");
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uintptr_t i = 0; !done.load(); ++i) {
        const ModuleId module = 100 + t;
        const ClassId type = 1000 + t * 8 + i % 8;  // ids come again
        const FunctionId method = 5000 + t * 8 + i % 8;
        const uintptr_t code = 0x100000 + (t * 8 + i % 8) * 256;
        a.runtime.AddModule(module, kModuleCollectible);
        a.runtime.AddType(type, module);
        a.runtime.AddMethod(method, module, true, code, 200);
        FakeRuntime::SetStack({{method, code + 16 + i % 3}});
        for (int n = 0; n < 3; ++n) a.Allocate(type);
        FakeRuntime::SetStack({});
        a.UnloadMethod(method);
        a.UnloadModule(module);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  done.store(true);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  EXPECT_EQ(a.runtime.looked_up(), 0u) << "snapshots named all of it";
  EXPECT_GT(a.runtime.questions(), 100u);
  EXPECT_GT(a.Status("samples"), 100);
}

// A dynamic method on a stack, which the agent's own walk meets and no snapshot names.
class Unnamed : public testing::Test {
 protected:
  static constexpr FunctionId kLambda = 50;
  static constexpr uintptr_t kCode = 0x100000;
  Unnamed() {
    a.runtime.AddModule(kApp, 0);
    a.runtime.AddType(5, kApp);
    a.runtime.AddMethod(kLambda, kApp, /*dynamic=*/true, kCode, 200);
    none_ = a.Status("methods");
  }
  // Somewhere in the lambda, or elsewhere.
  void AllocateAt(uintptr_t ip) { a.Allocate(5, 200'000, nullptr, ip); }

  double named() const { return a.Status("methods") - none_; }  // methods

  AgentOnFake a{"every=1h,walk=own"};

 private:
  double none_ = 0;
};

TEST_F(Unnamed, CodeIsLookedUpWhileTheRuntimeIsSuspended) {
  AllocateAt(kCode + 16);
  ASSERT_TRUE(Until(10, [&] { return named() == 1; }));
  EXPECT_EQ(a.runtime.suspensions(), 1u);
  EXPECT_EQ(a.Status("suspensions"), 1);
  EXPECT_EQ(a.runtime.looked_up_outside(), 0u);
  EXPECT_FALSE(a.runtime.suspended());
  // What is known is not looked up again.
  for (int i = 0; i < 5; ++i) AllocateAt(kCode + 16);
  AllocateAt(kCode + 40);
  ASSERT_TRUE(Until(10, [&] { return a.runtime.looked_up() == 2; }));
  ASSERT_TRUE(Until(10, [&] { return a.Status("unnamed_code") == 0; }));
  EXPECT_EQ(named(), 1);
}

TEST_F(Unnamed, CodeOfNoMethodIsLookedUpOnce) {
  for (int i = 0; i < 5; ++i) AllocateAt(0x300000);
  ASSERT_TRUE(Until(10, [&] { return a.runtime.looked_up() == 1; }));
  ASSERT_TRUE(Until(10, [&] { return a.Status("unnamed_code") == 0; }));
  const double before = a.Status("walk_stub");
  AllocateAt(0x300000);
  EXPECT_EQ(a.Status("walk_stub"), before + 1) << "it is known to be one";
  EXPECT_EQ(a.runtime.looked_up(), 1u);
  EXPECT_EQ(named(), 0);
}

TEST_F(Unnamed, CodeIsLookedUpByWhoeverUnloadsBeforeItGoes) {
  a.runtime.refuses_suspensions.store(~uint64_t{0});
  // Whoever unloads waits for 20 ms, which is not always enough on a busy machine.
  FunctionId method = kLambda;
  for (; named() == 0 && method < kLambda + 50; ++method) {
    a.runtime.AddMethod(method, kApp, /*dynamic=*/true, kCode, 200);
    // The agent may still be at the unload before, when nothing is sampled.
    ASSERT_TRUE(Until(60, [&] {
      AllocateAt(kCode + 16);
      return a.Status("unnamed_code") == 1;
    }));
    a.UnloadMethod(method);
  }
  EXPECT_EQ(named(), 1) << "it has its name";
  EXPECT_EQ(a.runtime.looked_up(), method - kLambda);
  // The next one at its place is another one.
  a.runtime.refuses_suspensions.store(0);
  a.runtime.AddMethod(method, kApp, /*dynamic=*/true, kCode, 200);
  ASSERT_TRUE(Until(60, [&] {
    AllocateAt(kCode + 16);
    return named() == 2;
  }));
  EXPECT_EQ(a.runtime.looked_up_outside(), 0u);
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
}

// Between its look-up and its name it is not free to go.
TEST_F(Unnamed, CodeThatIsBeingNamedIsWaitedFor) {
  a.Allocate(5);  // whose type is asked about before
  EXPECT_EQ(a.Ask("interval"), "ok");
  a.runtime.questions_stall.Close();
  AllocateAt(kCode + 16);
  a.runtime.questions_stall.Await();  // the agent's thread asks about it
  ASSERT_EQ(a.runtime.looked_up(), 1u);
  std::atomic<bool> unloaded{false};
  std::thread finalizer([&] {
    a.UnloadMethod(kLambda);
    unloaded.store(true);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // longer than its patience
  EXPECT_FALSE(unloaded.load());
  a.runtime.questions_stall.Open();
  finalizer.join();
  ASSERT_TRUE(Until(10, [&] { return a.Status("unnamed_code") == 0; }));
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
}

// More of it than the list takes, at once.
TEST_F(Unnamed, CodeOfManyMethodsIsLookedUpInSomeSuspensions) {
  constexpr uintptr_t kMany = 3 * UnnamedCode::kMost;
  for (uintptr_t i = 0; i < kMany; ++i)
    a.runtime.AddMethod(1000 + i, kApp, /*dynamic=*/true, 0x400000 + i * 256, 200);
  // Three suspensions or more. Where they are long the agent lets the program run for 5 s each.
  ASSERT_TRUE(Until(60,
                    [&] {
                      for (uintptr_t i = 0; i < kMany; ++i) AllocateAt(0x400000 + i * 256 + 16);
                      return named() == kMany;
                    }))
      << named() << " of " << kMany << " have names after " << a.runtime.suspensions()
      << " suspensions of " << a.Status("suspended_ns") << " ns; " << a.Status("unnamed_code")
      << " wait";
  EXPECT_LT(a.runtime.suspensions(), kMany / 4);
  EXPECT_EQ(a.runtime.looked_up_outside(), 0u);
}

TEST_F(Unnamed, CodeStaysUnnamedWhereTheRuntimeCannotBeSuspended) {
  a.runtime.suspension_refusal.store(kFail);
  a.runtime.refuses_suspensions.store(~uint64_t{0});
  for (int i = 0; i < 5; ++i) AllocateAt(kCode + 16);
  ASSERT_TRUE(Until(10, [&] { return a.runtime.refuses_suspensions.load() != ~uint64_t{0}; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(a.runtime.refuses_suspensions.load(), ~uint64_t{0} - 1)
      << "it is not asked all the time";
  EXPECT_EQ(a.Status("unnamed_code"), 1);
  EXPECT_EQ(a.Status("samples"), 5);
}

TEST_F(Unnamed, CodeWaitsForACollectionThatIsUnderWay) {
  a.runtime.refuses_suspensions.store(3);
  AllocateAt(kCode + 16);
  ASSERT_TRUE(Until(10, [&] { return named() == 1; }));
  EXPECT_EQ(a.runtime.refuses_suspensions.load(), 0u);
  EXPECT_EQ(a.runtime.suspensions(), 1u);
  EXPECT_EQ(a.runtime.looked_up_outside(), 0u);
}

// A collection may have told that it begins, and wait for the end of the agent's suspension.
TEST_F(Unnamed, CodeIsLookedUpBesideACollectionWhosePauseIsKnown) {
  (void)a.EndInterval();
  a.runtime.resumed = [this] { a.Restart(); };  // the runtime tells that of any suspension
  a.SuspendForGc();
  AllocateAt(kCode + 16);
  ASSERT_TRUE(Until(10, [&] { return named() == 1; }));
  a.CollectForAllocation();
  a.EndGc();
  a.Restart();
  const profile::IntervalFrame frame = a.EndInterval();
  EXPECT_EQ(a.runtime.suspensions(), 1u);
  ASSERT_EQ(frame.gcs.size(), 1u);
  EXPECT_GT(frame.gcs[0].pause_ns, 50'000'000) << "from its own beginning";
}

// Lambdas are made, called and dropped on three threads.
TEST_F(Unnamed, CodeThatComesAndGoesIsNotAskedAboutWhereItMayBeGone) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uintptr_t i = 0; !done.load(); ++i) {
        const FunctionId method = 5000 + t * 8 + i % 8;
        const uintptr_t code = 0x200000 + (t * 8 + i % 8) * 256;
        a.runtime.AddMethod(method, kApp, true, code, 200);
        for (uintptr_t n = 0; n < 3; ++n) AllocateAt(code + 16 + n);
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(60));
        a.UnloadMethod(method);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_TRUE(Until(60, [&] { return a.runtime.looked_up() > 20; }));
  done.store(true);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
  EXPECT_EQ(a.runtime.looked_up_outside(), 0u);
}

// The runtime waits for the agent's thread before it takes itself down, but not for ever.
TEST(Shutdown, NothingIsAskedOnceItsPatienceIsOver) {
  AgentOnFake a("every=1h");
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  a.runtime.questions_stall.Close();
  a.Allocate(5);
  a.runtime.questions_stall.Await();
  a.agent().OnShutdown();
  const uint64_t asked = a.runtime.questions();
  a.runtime.questions_stall.Open();
  ASSERT_TRUE(Until(10, [&] { return a.ended(); }));
  EXPECT_EQ(a.runtime.questions(), asked);
  EXPECT_FALSE(a.runtime.detached());
}

TEST(Shutdown, WhatWasSeenIsAskedAboutBefore) {
  AgentOnFake a("every=1h,output=%d/x.pb");
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  a.Allocate(5);
  a.agent().OnShutdown();
  EXPECT_TRUE(a.SpoolSays("x.pb", "T5", 30));
}

#ifndef __SANITIZE_THREAD__  // which has threads of its own, and no word on their copies
// It has a copy of everything but the threads.
TEST(Fork, TheChildHasNothingOfTheAgentsOpen) {
  const auto count = [](std::string_view kind) {
    size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      if (std::filesystem::read_symlink(entry.path(), error).string().starts_with(kind)) ++n;
    }
    return n;
  };
  const auto open = [&] { return count("socket:") + count("anon_inode:[eventfd]"); };
  const size_t sockets = count("socket:"), before = open();
  AgentOnFake a("every=1h,output=%d/x.pb");
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  ASSERT_GT(open(), before + 1);
  // The agent has closed the connection that saw it start. A fork in the midst of that would leave
  // the child a copy.
  ASSERT_TRUE(Until(10, [&] { return count("socket:") == sockets + 1; }));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool nothing = open() == before && IsForkedChild();
    ::_exit(nothing ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(IsForkedChild());
  a.Allocate(5);
  EXPECT_EQ(a.Ask("interval"), "ok") << "the parent's agent goes on";
  EXPECT_TRUE(a.SpoolSays("x.pb", "T5", 5));
}
#endif

TEST(Silence, AFirstStartThatFailsSaysWhy) {
  AgentOnFake a("every=1h");
  EXPECT_EQ(a.StatusText("failure"), "");
  a.Detach();
  ASSERT_TRUE(Until(10, [&] { return a.ended(); }));

  AgentOnFake b("every=1h");
  b.runtime.refuses_sessions.store(true);
  EXPECT_EQ(b.Ask("stop"), "ok");
  EXPECT_EQ(b.Ask("start").substr(0, 6), "error ");
  b.runtime.refuses_sessions.store(false);
  EXPECT_EQ(b.Ask("start"), "ok");
}

TEST(Silence, ASessionThatIsRefusedIsAskedForAgainAndTold) {
  AgentOnFake a("every=1h");
  ASSERT_EQ(a.runtime.sessions(), 2u) << "with the first of its thread";
  a.runtime.refuses_sessions.store(true);
  // Nothing comes, so it begins its session anew, which fails.
  ASSERT_TRUE(Until(10, [&] { return !a.StatusText("failure").empty(); }));
  EXPECT_NE(a.StatusText("failure").find("EventPipeStartSession: 0x80004005"), std::string::npos);
  EXPECT_NE(a.Ask("status").find("\"sampling\":false"), std::string::npos);
  a.runtime.refuses_sessions.store(false);
  ASSERT_TRUE(Until(10, [&] { return a.StatusText("failure").empty(); }));
  EXPECT_NE(a.Ask("status").find("\"sampling\":true"), std::string::npos);
  EXPECT_GT(a.Status("session_missing_ms"), 0);
}

TEST(Silence, AProgramThatAllocatesUnheardIsTold) {
  AgentOnFake a("every=1h");
  for (int i = 0; i < 4; ++i) a.CollectForAllocation();
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_EQ(a.Status("deaf_intervals"), 1);
  EXPECT_NE(a.StatusText("failure").find("no allocation events"), std::string::npos);
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  a.Allocate(5);
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_EQ(a.Status("deaf_intervals"), 1);
  EXPECT_EQ(a.StatusText("failure"), "");
  // In the middle of an interval, too: GCs between samples are what GCs are.
  for (int i = 0; i < 20; ++i) {
    a.CollectForAllocation();
    a.Allocate(5);
    EXPECT_EQ(a.StatusText("failure"), "");
  }
}

// A method for each request, compiled, seen once, and dropped.
TEST(Bounded, DynamicMethodsThatAreMadeAgainAndAgainLevelOff) {
  AgentOnFake a("every=1h,live=0");
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  const char* text = std::getenv("CLRSCOPE_LAMBDAS");
  const auto count = static_cast<uintptr_t>(text == nullptr ? 60'000 : std::atoll(text));
  // Dictionaries are full with some 37,000 names. On a machine with other load they fill up late,
  // as many a method is gone before it has a name. Under sanitizers less do.
  const bool enough = count >= 60'000;
  double early = 0, late = 0, largest = 0;
  for (uintptr_t i = 0; i < count; ++i) {
    const FunctionId method = 10'000 + i;
    const uintptr_t code = 0x100000 + i % 1024 * 256;
    a.runtime.AddMethod(method, kApp, true, code, 200);
    FakeRuntime::SetStack({{method, code + 16}});
    a.Allocate(5);
    a.UnloadMethod(method);
    if (i % 2000 == 0) {
      EXPECT_EQ(a.Ask("interval"), "ok");
    }
    if (i % 500 != 0) continue;
    double& half = i < count / 2 ? early : late;
    half = std::max(half, a.Status("agent_bytes"));
    largest = std::max(largest, a.Status("methods"));
  }
  RecordProperty("agent_kb_at_most", static_cast<int>(std::max(early, late) / 1024));
  if (enough) {
    if (count >= 600'000) {
      EXPECT_LT(late, early * 1.3) << "each half has many fillings";
    } else {
      // Full dictionaries have 400 bytes for each method, addresses 50 for each that was ever seen.
      EXPECT_LT(std::max(early, late), 24e6);
    }
    EXPECT_LT(largest, 40'000);
    // They begin anew at the end of an interval with 16,384 names or more. An agent's thread that
    // gets no processor names fewer, and an interval has 2,000 methods here.
    if (largest > 20'000) {
      EXPECT_GT(a.Status("dictionaries"), 1);
    }
  }
  EXPECT_EQ(a.runtime.asked_of_the_dead(), 0u);
}

// … all in one interval.
TEST(Bounded, NamesOfOneInterval) {
  AgentOnFake a("every=1h,live=0");
  a.runtime.AddModule(kApp, 0);
  for (uintptr_t i = 0; i < Names::kMostTypes + 5'000; ++i) {
    a.runtime.AddType(100 + i, kApp);
    a.Allocate(100 + i);
    if (i % 1000 == 0) (void)a.Status("types");
  }
  EXPECT_EQ(a.Ask("interval"), "ok");
  EXPECT_LE(a.Status("types"), static_cast<double>(Names::kMostTypes));
  EXPECT_LT(a.Status("agent_bytes"), 80e6);
}

// A collection stops the threads that allocate, and none runs while the runtime is suspended: there
// handles may be destroyed, and nowhere else.
class Handles : public testing::Test {
 protected:
  // The bin is the process's: what other tests left in it has handles of no runtime.
  Handles() {
    while (GivenUpHandles::Get().DestroySome([](uint64_t) {}) != 0) {
    }
  }
  // More objects than there is room for: most are followed no more at the end.
  static void AllocateMany(AgentOnFake& a) {
    a.runtime.AddModule(kApp, 0);
    a.runtime.AddType(5, kApp);
    for (int i = 0; i < 20'000; ++i) {
      a.Allocate(5);
      if (i % 500 == 0) (void)a.Status("handles");  // they are drained
    }
  }
};

TEST_F(Handles, AreDestroyedByThreadsThatAllocate) {
  AgentOnFake a("every=1h,cap=64");
  AllocateMany(a);
  // Up to a second's handles are with their threads yet.
  EXPECT_EQ(a.Ask("interval"), "ok");
  const uint64_t most = a.runtime.handles();
  for (uint64_t i = 0; i < most && GivenUpHandles::Get().waiting() != 0; ++i) a.Allocate(5);
  EXPECT_EQ(GivenUpHandles::Get().waiting(), 0u);
  EXPECT_GT(a.runtime.destroyed(), a.runtime.handles() / 2);
  EXPECT_EQ(a.runtime.suspensions(), 0u);
  EXPECT_EQ(a.runtime.destroyed_outside(), 0u);
}

TEST_F(Handles, AreDestroyedAtDetachWhileTheRuntimeIsSuspended) {
  AgentOnFake a("every=1h,cap=5000");
  AllocateMany(a);
  const uint64_t before = a.runtime.destroyed();
  EXPECT_GT(a.runtime.handles() - before, 1'000u) << "nothing is left for the detach";
  a.Detach();
  ASSERT_TRUE(Until(20, [&] { return a.ended(); }));
  // All, unless the agent's thread had too little CPU in its second: what is left is the next
  // one's.
  const size_t left = GivenUpHandles::Get().waiting();
  EXPECT_EQ(a.runtime.destroyed() + left, a.runtime.handles());
  EXPECT_GT(a.runtime.destroyed(), before);
  EXPECT_EQ(a.runtime.destroyed_outside(), 0u);
  EXPECT_GT(a.runtime.suspensions(), 0u);
  EXPECT_FALSE(a.runtime.suspended());
  EXPECT_TRUE(a.runtime.detached());
}

// The end of a session does not always wait for those who are in its callback.
TEST_F(Handles, OfAnEventThatGoesOnAfterItsSessionAreDestroyed) {
  AgentOnFake a("every=1h,cap=64");
  a.runtime.AddModule(kApp, 0);
  a.runtime.AddType(5, kApp);
  const uint64_t ended = a.runtime.sessions_ended();
  a.runtime.creating_handles.Close();
  std::thread owner([&] { a.Allocate(5); });
  a.runtime.creating_handles.Await();
  a.Detach();
  ASSERT_TRUE(Until(10, [&] { return a.runtime.sessions_ended() != ended; }));
  EXPECT_FALSE(a.runtime.detached());
  a.runtime.creating_handles.Open();
  owner.join();
  ASSERT_TRUE(Until(10, [&] { return a.ended(); }));
  EXPECT_TRUE(a.runtime.detached());
  EXPECT_EQ(a.runtime.handles(), 1u);
  EXPECT_EQ(a.runtime.destroyed(), 1u);
}

TEST_F(Handles, WaitForACollectionThatIsUnderWay) {
  AgentOnFake a("every=1h,cap=64");
  AllocateMany(a);
  a.runtime.refuses_suspensions.store(3);
  a.Detach();
  ASSERT_TRUE(Until(20, [&] { return a.ended(); }));
  EXPECT_EQ(a.runtime.refuses_suspensions.load(), 0u);
  EXPECT_EQ(a.runtime.destroyed(), a.runtime.handles());
  EXPECT_EQ(a.runtime.destroyed_outside(), 0u);
}

TEST_F(Handles, WaitForTheNextAgentWhereTheRuntimeCannotBeSuspended) {
  size_t left = 0;
  {
    AgentOnFake a("every=1h,cap=64");
    AllocateMany(a);
    a.runtime.refuses_suspensions.store(~uint64_t{0});
    a.Detach();
    ASSERT_TRUE(Until(20, [&] { return a.ended(); }));
    left = GivenUpHandles::Get().waiting();
    EXPECT_EQ(a.runtime.destroyed() + left, a.runtime.handles());
    EXPECT_GT(left, 0u);
    EXPECT_EQ(a.runtime.destroyed_outside(), 0u);
    EXPECT_TRUE(a.runtime.detached());
  }
  AgentOnFake next("every=1h,live=0");
  EXPECT_EQ(next.Status("handles_waiting"), static_cast<double>(left));
  next.Detach();
  ASSERT_TRUE(Until(20, [&] { return next.ended(); }));
  EXPECT_EQ(next.runtime.destroyed(), left);
  EXPECT_EQ(next.runtime.destroyed_outside(), 0u);
}

TEST(Exact, StaysWhenItIsToGoAndAsksForNoCallsAnyMore) {
  AgentOnFake a("every=1h,exact=1", /*attached=*/false);
  EXPECT_NE(a.runtime.mask_low() & kMonitorObjectAllocated, 0u);
  EXPECT_NE(a.runtime.mask_low() & kEnableObjectAllocated, 0u);
  a.AllocateCounted(1);
  EXPECT_TRUE(Until(10, [&] { return a.Status("samples") == 1; }));
  EXPECT_EQ(a.Ask("detach").substr(0, 6), "error ");
  ASSERT_TRUE(Until(5, [&] { return (a.runtime.mask_low() & kMonitorObjectAllocated) == 0; }));
  EXPECT_NE(a.runtime.mask_low() & kEnableObjectAllocated, 0u) << "which may not change";
  EXPECT_NE(a.Ask("status").find("\"stopped\":true"), std::string::npos);
  EXPECT_EQ(a.Ask("start"), "ok");
  EXPECT_NE(a.runtime.mask_low() & kMonitorObjectAllocated, 0u);
  EXPECT_FALSE(a.runtime.detached());
  a.agent().OnShutdown();
}

}  // namespace
}  // namespace clrscope::agent
