// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/trace_right.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "capture/testing/child.h"

namespace clrscope::capture {
namespace {

constexpr uid_t kAnotherUser = 65534;

// What WhyNotTraced() says as another user; in a process of its own.
std::string AsAnotherUser(pid_t pid) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t asker = ::fork();
  if (asker == 0) {
    std::string text = "it may be traced";
    if (::setgid(kAnotherUser) != 0 || ::setuid(kAnotherUser) != 0) text = "no other user";
    if (const auto refusal = WhyNotTraced(pid)) text = refusal->why;
    (void)!::write(pipe[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string told(4096, '\0');
  const ssize_t n = ::read(pipe[0], told.data(), told.size());
  ::close(pipe[0]);
  (void)::waitpid(asker, nullptr, 0);
  told.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return told;
}

void Wait(Shared& s) {
  s.ready = true;
  for (;;) ::pause();
}

TEST(TraceRight, AChildMayBeTraced) {
  const Child child(Wait);
  child.AwaitReady();
  const auto nobody = WhyNobodyTraced(/*but_children=*/true);
  if (nobody) GTEST_SKIP() << nobody->why;
  EXPECT_FALSE(WhyNotTraced(child.pid()));
  EXPECT_TRUE(MayTrace(child.pid()).ok());
}

TEST(TraceRight, WhoHasEndedIsNotFound) {
  pid_t gone = 0;
  {
    const Child child([](Shared&) {});
    gone = child.pid();
  }
  const Status may = MayTrace(gone);
  ASSERT_FALSE(may.ok());
  EXPECT_EQ(may.error().code, ErrorCode::kNotFound);
}

TEST(TraceRight, WhoHasEndedAndIsNotWaitedForIsNotFound) {
  const Child child([](Shared&) {});
  while (child.State() != 'Z') ::usleep(1000);
  const Status may = MayTrace(child.pid());
  ASSERT_FALSE(may.ok());
  EXPECT_EQ(may.error().code, ErrorCode::kNotFound) << may.error().message;
}

TEST(TraceRight, WhatIsNoMatterOfRightsIsNone) {
  const Child child(Wait);
  child.AwaitReady();
  const Child asker([&child](Shared& s) {
    rlimit none{};
    (void)::setrlimit(RLIMIT_NOFILE, &none);
    const auto refusal = WhyNotTraced(child.pid());
    s.other = refusal ? static_cast<uint64_t>(refusal->code) : 1000;
    Wait(s);
  });
  asker.AwaitReady();
  EXPECT_EQ(asker.shared().other, static_cast<uint64_t>(ErrorCode::kFailed));
}

TEST(TraceRight, ATracerIsNamed) {
  const Child child(Wait);
  child.AwaitReady();
  const Child tracer(Tracing(child.pid()));
  tracer.AwaitReady();
  if (tracer.shared().other != 1) GTEST_SKIP() << "processes may not trace each other here";
  const auto refusal = WhyNotTraced(child.pid());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->why, "process " + std::to_string(tracer.pid()) + " traces process " +
                              std::to_string(child.pid()) +
                              " already (gdb, strace), and a thread has one tracer at a time");
  EXPECT_EQ(refusal->error().code, ErrorCode::kPermission);
  EXPECT_FALSE(WhyNotRead(child.pid())) << "its memory has no owner";
}

TEST(TraceRight, AnotherUsersProcessIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Child child(Wait);
  child.AwaitReady();
  EXPECT_NE(AsAnotherUser(child.pid()).find("is another user's"), std::string::npos);
}

TEST(TraceRight, OneThatHidesItsMemoryIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Child child([](Shared& s) {
    if (::setgid(kAnotherUser) == 0 && ::setuid(kAnotherUser) == 0)
      (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    Wait(s);
  });
  child.AwaitReady();
  EXPECT_NE(AsAnotherUser(child.pid()).find("hides its memory"), std::string::npos);
}

}  // namespace
}  // namespace clrscope::capture
