// SPDX-License-Identifier: Apache-2.0
// What a thread does at its first sample: it takes no lock and allocates nothing, so that it gets
// through whatever others hold.
#include "agent/samples/shard_pool.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/samples/given_up_handles.h"
#include "agent/samples/sampler.h"
#include "agent/testing/agent_on_fake.h"
#include "agent/testing/fake_runtime.h"

// Calls of the C library's functions by threads that count them, in this whole program.
namespace {
std::atomic<uint64_t> g_locks{0}, g_allocations{0};
[[maybe_unused]] __attribute__((tls_model("initial-exec"))) thread_local bool t_counts = false;
}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLRSCOPE_COUNTS_CALLS
#ifndef __GLIBC__  // whose dlsym() calls calloc(); musl's calls nothing
namespace {
void* __libc_malloc(size_t n) {
  static const auto next = reinterpret_cast<void* (*)(size_t)>(::dlsym(RTLD_NEXT, "malloc"));
  return next(n);
}
void* __libc_calloc(size_t n, size_t size) {
  using Calloc = void* (*)(size_t, size_t);
  static const auto next = reinterpret_cast<Calloc>(::dlsym(RTLD_NEXT, "calloc"));
  return next(n, size);
}
}  // namespace
#endif
extern "C" {
#ifdef __GLIBC__
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
#endif
void* malloc(size_t n) {
  if (t_counts) g_allocations.fetch_add(1);
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  if (t_counts) g_allocations.fetch_add(1);
  return __libc_calloc(n, size);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (t_counts) g_locks.fetch_add(1);
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return next(mutex);
}
}
#endif

namespace clrscope::agent {
namespace {

bool IsAlive(uint32_t thread) { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0; }

bool Empty(Shard& s) {
  return s.Empty([](const ShardTable&) {});
}

Shard* TakeMine() { return ShardPool::Get().Mine(ShardPool::ThisThread()); }

TEST(ShardPool, AThreadKeepsItsShard) {
  ShardPool& pool = ShardPool::Get();
  pool.Refill();
  std::thread([&] {
    Shard* mine = TakeMine();
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(TakeMine(), mine);
    Shard* theirs = nullptr;
    std::thread([&] { theirs = TakeMine(); }).join();
    EXPECT_NE(theirs, mine);
  }).join();
}

TEST(ShardPool, ThreadsThatEndLeaveTheirShardsToOthers) {
  ShardPool& pool = ShardPool::Get();
  const auto round = [&] {
    pool.Refill();
    std::vector<std::thread> threads;
    std::atomic<int> taken{0};
    std::atomic<bool> go{false};
    for (int i = 0; i < 30; ++i)
      threads.emplace_back([&] {
        taken.fetch_add(TakeMine() != nullptr ? 1 : 0);
        while (!go.load()) std::this_thread::yield();
      });
    while (taken.load() < 30) std::this_thread::yield();
    pool.TakeBack(IsAlive, Empty);  // nobody has ended
    go.store(true);
    for (std::thread& t : threads) t.join();
    pool.TakeBack(IsAlive, Empty);
  };
  round();
  const size_t before = pool.count();
  for (int i = 0; i < 50; ++i) round();
  EXPECT_LE(pool.count(), before + 30);
}

TEST(ShardPool, WhoFindsNoneIsCounted) {
  ShardPool& pool = ShardPool::Get();
  pool.Refill();
  const uint64_t before = pool.turned_away();
  std::atomic<bool> go{false};
  std::atomic<int> came{0}, got{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ShardPool::kSpare + 10; ++i)
    threads.emplace_back([&] {
      got.fetch_add(TakeMine() != nullptr ? 1 : 0);
      came.fetch_add(1);
      while (!go.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  while (came.load() < static_cast<int>(ShardPool::kSpare) + 10) std::this_thread::yield();
  EXPECT_TRUE(pool.wants_more());
  EXPECT_EQ(pool.turned_away() - before + static_cast<uint64_t>(got.load()),
            ShardPool::kSpare + 10);
  EXPECT_GE(got.load(), static_cast<int>(ShardPool::kSpare));
  go.store(true);
  for (std::thread& t : threads) t.join();
  pool.TakeBack(IsAlive, Empty);
}

// The next thread may get the identity of the last, its descriptor's address, before anybody saw
// that that one has ended.
TEST(ShardPool, SamplesOfThreadsThatComeAndGoAreAllTakenIn) {
  ShardPool& pool = ShardPool::Get();
  std::atomic<bool> done{false};
  std::atomic<uint64_t> folded{0};
  uint64_t seen = 0;
  const auto take = [&](Shard& s) {
    return s.Empty([&](const ShardTable& t) {
      for (const ShardEntry& e : t.entries()) seen += e.value.samples;
    });
  };
  std::thread agent([&] {
    while (!done.load()) {
      pool.Refill();
      pool.TakeBack(IsAlive, take);
      pool.ForEach([&](Shard& s) {
        if (s.place.load() != nullptr) (void)take(s);
      });
    }
  });
  // A thread that comes while its shard is being taken back has none. More come for those.
  for (int i = 0; i < 1500 || (i < 15'000 && folded.load() < 20'000); ++i) {
    std::thread([&] {
      const uintptr_t self = ShardPool::ThisThread();
      for (int n = 0; n < 20; ++n) {
        Shard* s = pool.Mine(self);
        ShardTable* t = s == nullptr ? nullptr : s->Enter(self);
        if (t == nullptr) continue;
        t->entry(t->Fold({}, 1, profile::HeapKind::kSoh)).value.samples += 1;
        folded.fetch_add(1);
        s->Leave();
      }
    }).join();
  }
  done.store(true);
  agent.join();
  pool.ForEach([&](Shard& s) { (void)take(s); });
  EXPECT_EQ(seen, folded.load());
  EXPECT_GE(seen, 20'000u);
}

// A library is being loaded, and its constructor does not come to an end: the loader's lock is held
// for that long.
TEST(FirstSample, GetsThroughWhileALibraryIsBeingLoaded) {
  AgentOnFake a("every=1h");
  a.runtime.AddModule(1, 0);
  a.runtime.AddType(5, 1);
  int ready[2], go[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(go), 0);
  ::setenv("CLRSCOPE_BLOCK_READY", std::to_string(ready[1]).c_str(), 1);
  ::setenv("CLRSCOPE_BLOCK_GO", std::to_string(go[0]).c_str(), 1);
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string path = program.parent_path() / "../lib" / CLRSCOPE_BLOCKING_LIBRARY;
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  std::thread loading([&] {
    void* library = ::dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << ::dlerror();
    ::dlclose(library);
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1) << "its constructor runs";
  std::atomic<bool> sampled{false};
  std::thread thread([&] {
    a.Allocate(5);
    sampled.store(true);
  });
  EXPECT_TRUE(Until(10, [&] { return sampled.load(); }));
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  thread.join();
  loading.join();
  EXPECT_EQ(a.Status("samples"), 1);
}

#ifdef CLRSCOPE_COUNTS_CALLS
TEST(FirstSample, TakesNoLockAndAllocatesNothing) {
  FakeRuntime runtime;
  CodeTable code;
  LookupGate gate;
  ShardPool::Get().Refill();
  // Of the tests before this one; destroying them is the fake runtime's work.
  while (GivenUpHandles::Get().waiting() != 0) GivenUpHandles::Get().DestroySome([](uint64_t) {});
  for (const bool live : {false, true}) {
    ThrownNames thrown;
    Sampler sampler(
        &runtime, code, gate, thrown, {profile::Source::kSampled, false, false}, [](void*) {},
        nullptr);
    profile::LiveSample followed({});
    const auto native = NativeMap::Make();
    sampler.SetNativeMap(native.get());
    if (live) sampler.Follow(&followed);
    std::thread([&] {
      Registers from;
      __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\t"
                       : "=r"(from.ip), "=r"(from.sp), "=r"(from.rbp));
      g_locks.store(0);
      g_allocations.store(0);
      t_counts = true;
      sampler.OnAllocation({profile::HeapKind::kSoh, 5, 100, 0, 0x1000}, from);
      // A new type of exception, and waits.
      const std::u16string_view name = u"Shop.OutOfStock";
      const Bytes units = AsBytes(name.data(), name.size() * 2);
      sampler.OnThrow({units.data(), name.size()}, false, from);
      sampler.OnWaitStart(profile::Source::kContention, 5, from);
      sampler.OnWaitStart(profile::Source::kWait, 0, from);
      sampler.OnWaitStop(profile::Source::kWait, -1);
      sampler.OnWaitStop(profile::Source::kContention, 100);
      const uint64_t locks = g_locks.load(), allocations = g_allocations.load();
      std::free(std::malloc(1));
      t_counts = false;
      // The handle is the fake runtime's, which has a lock of its own.
      EXPECT_EQ(locks, live ? 1u : 0u);
      EXPECT_EQ(allocations, 0u);
      EXPECT_GT(g_allocations.load(), allocations) << "calls are counted at all";
    }).join();
  }
  ShardPool::Get().TakeBack(IsAlive, Empty);
}
#endif

}  // namespace
}  // namespace clrscope::agent
