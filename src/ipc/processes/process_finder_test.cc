// SPDX-License-Identifier: Apache-2.0
// Discovery and doctor against live .NET processes.
#include "ipc/processes/process_finder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>

#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/protocol/client.h"
#include "ipc/testing/fake_peer.h"
#include "ipc/testing/find_check.h"
#include "ipc/testing/idle_process.h"

namespace clrscope::ipc {
namespace {

using std::chrono::milliseconds;
using testing::Find;
using testing::IdleProcess;
using testing::TempDir;

const FindOptions kPatient{.ask = true, .timeout = milliseconds(5000)};

Verdict VerdictOf(const Diagnosis& diagnosis, std::string_view name) {
  const Check* check = Find(diagnosis, name);
  EXPECT_NE(check, nullptr) << name;
  return check != nullptr ? check->verdict : Verdict::kFail;
}

class LiveTest : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_IDLE_WORKLOAD(); }
  IdleProcess::Variables With(IdleProcess::Variables more = {}) const {
    more.emplace("TMPDIR", dir_.path());
    return more;
  }
  TempDir dir_;
};

TEST(ProcessFinderTest, OthersAreToldApart) {
  EXPECT_EQ(FindProcess(999999999).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(FindProcess(-1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(FindProcess(::getpid()).error().code, ErrorCode::kNotDotnet);
  for (const DotnetProcess& process : FindProcesses()) EXPECT_NE(process.pid, ::getpid());
}

TEST(ProcStatTest, AZombieHasEndedAndSomebodyWhoRunsHasNot) {
  EXPECT_FALSE(IsEnding(::getpid(), {}));
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    (void)!::read(pipe_ends[0], &byte, 1);
    ::_exit(0);
  }
  EXPECT_FALSE(IsEnding(child, std::chrono::milliseconds(20)));
  ASSERT_EQ(::write(pipe_ends[1], "x", 1), 1);
  EXPECT_TRUE(IsEnding(child, std::chrono::seconds(10)));  // nobody has waited for it
  EXPECT_EQ(ReadProcStat(child)->state, 'Z');
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(IsEnding(child, {}));
  EXPECT_FALSE(ReadProcStat(child).ok());
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST_F(LiveTest, ProcessIsFoundWithEverythingThatIsKnown) {
  IdleProcess idle(IdleProcess::DotnetArgs({"--seconds", "30"}), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  const auto found = FindProcess(idle.pid(), kPatient);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->attachable) << found->reason;
  EXPECT_EQ(found->name, "idle");
  EXPECT_EQ(found->entry_assembly, "idle");
  EXPECT_EQ(found->inner_pid, idle.pid());
  EXPECT_EQ(found->uid, ::geteuid());
  EXPECT_GT(found->rss_bytes, 1u << 20);
  EXPECT_LT(found->uptime_s, 60);
  EXPECT_EQ(found->socket_path,
            dir_.path() + "/" + FormatSocketName({idle.pid(), found->start_ticks}));
  EXPECT_GE(MajorVersion(found->clr_version), 10);
  EXPECT_EQ(found->sampling, SamplingEvent::kAllocationSampled);
  EXPECT_EQ(Describe(found->gc), "workstation, concurrent");
  EXPECT_NE(found->command_line.find("idle.dll --seconds 30"), std::string::npos);

  const auto all = FindByName("idle.dll", kPatient);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [&](const DotnetProcess& p) { return p.pid == idle.pid(); }));
  EXPECT_TRUE(FindByName("no-such-program").empty());
  for (const Check& check : Diagnose(idle.pid(), milliseconds(5000)).checks)
    EXPECT_EQ(check.verdict, Verdict::kOk) << check.name << ": " << check.what;
}

TEST_F(LiveTest, WithoutAskingTheVersionComesFromThePath) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  const auto found = FindProcess(idle.pid(), {.ask = false});
  ASSERT_TRUE(found.ok());
  EXPECT_GE(MajorVersion(found->clr_version), 10);
  EXPECT_EQ(found->name, "idle");
}

// A program with the runtime inside it; `tools/build_workloads --self-contained` makes it where the
// packages for that can be had.
#define REQUIRE_WORKLOAD(name)                                                \
  if (!std::filesystem::exists(::clrscope::ipc::testing::WorkloadFile(name))) \
  GTEST_SKIP() << "NOT TESTED: there is no " << ::clrscope::ipc::testing::WorkloadFile(name)

TEST_F(LiveTest, SingleFileProgramsAreNotTakenForNativeAot) {
  REQUIRE_WORKLOAD("idle-single/idle");
  IdleProcess idle({testing::WorkloadFile("idle-single/idle"), "--seconds", "30"}, With());
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_EQ(GatherFacts(idle.pid())->runtime, RuntimeKind::kSingleFile);
  for (const Check& check : Diagnose(idle.pid(), milliseconds(5000)).checks)
    EXPECT_EQ(check.verdict, Verdict::kOk) << check.name << ": " << check.what;
}

TEST_F(LiveTest, ProgramsCompiledAheadOfTimeAreTold) {
  REQUIRE_WORKLOAD("idle-aot/idle");
  IdleProcess idle({testing::WorkloadFile("idle-aot/idle"), "--seconds", "30"}, With());
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_EQ(GatherFacts(idle.pid())->runtime, RuntimeKind::kNativeAot);
  EXPECT_EQ(VerdictOf(Diagnose(idle.pid(), milliseconds(5000)), "runtime"), Verdict::kWarn);
}

TEST_F(LiveTest, StaleSocketsAreNotTakenForTheRealOne) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  const std::string stale = dir_.path() + "/" + FormatSocketName({idle.pid(), 1});
  { const Fd dead = ListenUnix(stale).Take(); }
  const auto found = FindProcess(idle.pid(), kPatient);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->attachable) << found->reason;
  EXPECT_NE(found->socket_path, stale);

  ::unlink(found->socket_path.c_str());
  const Diagnosis diagnosis = Diagnose(idle.pid());
  EXPECT_EQ(VerdictOf(diagnosis, "socket"), Verdict::kFail);
  EXPECT_NE(Find(diagnosis, "socket")->what.find(stale), std::string::npos);
  // Somebody else who listens at the wrong name is not taken for the process either.
  ::unlink(stale.c_str());
  const Fd impostor = ListenUnix(stale).Take();
  EXPECT_FALSE(FindProcess(idle.pid(), kPatient)->attachable);
}

TEST_F(LiveTest, SocketUnderAnotherKeyIsTakenWhenTheProcessItselfListens) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  const std::string real = FindProcess(idle.pid(), kPatient)->socket_path;
  const std::string other = dir_.path() + "/" + FormatSocketName({idle.pid(), 7});
  ASSERT_EQ(::rename(real.c_str(), other.c_str()), 0);
  const auto found = FindProcess(idle.pid(), kPatient);
  EXPECT_TRUE(found->attachable) << found->reason;
  EXPECT_EQ(found->socket_path, other);
}

TEST_F(LiveTest, SwitchedOffDiagnosticsAreNamed) {
  for (const char* variable : {"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics_IPC"}) {
    IdleProcess idle(IdleProcess::DotnetArgs(), With({{variable, "0"}}));
    ASSERT_TRUE(idle.WaitUntilReady());
    const auto found = FindProcess(idle.pid(), kPatient);
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->attachable);
    EXPECT_EQ(found->reason_code, ErrorCode::kRefused);
    EXPECT_NE(found->reason.find(variable), std::string::npos) << found->reason;
    EXPECT_EQ(OpenTransport(*found).error().code, ErrorCode::kRefused);
  }
}

TEST_F(LiveTest, TooLongATmpDirIsNamed) {
  const std::string folder = dir_.path() + "/" + std::string(90, 'x');
  std::filesystem::create_directory(folder);
  IdleProcess idle(IdleProcess::DotnetArgs(), {{"TMPDIR", folder}});
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_EQ(VerdictOf(Diagnose(idle.pid()), "tmpdir"), Verdict::kFail);
}

TEST_F(LiveTest, ServerGcIsSeen) {
  IdleProcess idle(IdleProcess::DotnetArgs(),
                   With({{"DOTNET_gcServer", "1"}, {"DOTNET_gcConcurrent", "0"}}));
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_EQ(Describe(FindProcess(idle.pid(), kPatient)->gc), "server, non-concurrent");
}

TEST_F(LiveTest, StoppedProcessDoesNotHoldUsUp) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  ASSERT_EQ(::kill(idle.pid(), SIGSTOP), 0);
  for (int i = 0; i < 500 && Diagnose(idle.pid()).process.reason_code != ErrorCode::kTimeout; ++i)
    ::usleep(2000);
  const auto start = Deadline::Clock::now();
  const Diagnosis diagnosis = Diagnose(idle.pid(), milliseconds(3000));
  EXPECT_LT(Deadline::Clock::now() - start, milliseconds(2000));
  EXPECT_EQ(VerdictOf(diagnosis, "state"), Verdict::kFail);
  ASSERT_EQ(::kill(idle.pid(), SIGCONT), 0);
}

TEST_F(LiveTest, SuspendedStartIsSeenAndEnded) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With({{"DOTNET_DefaultDiagnosticPortSuspend", "1"}}));
  Diagnosis diagnosis;
  for (int i = 0; i < 2000; ++i, ::usleep(5000)) {
    diagnosis = Diagnose(idle.pid(), milliseconds(3000));
    if (diagnosis.process.attachable && Find(diagnosis, "start") != nullptr) break;
  }
  EXPECT_TRUE(diagnosis.process.attachable) << diagnosis.process.reason;
  EXPECT_EQ(VerdictOf(diagnosis, "start"), Verdict::kWarn);
  const auto transport = OpenTransport(diagnosis.process).Take();
  ASSERT_TRUE(Client(*transport).ResumeRuntime(Deadline::After(milliseconds(5000))).ok());
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_EQ(Find(Diagnose(idle.pid()), "start"), nullptr);
}

TEST_F(LiveTest, ProcessInAnotherPidNamespaceIsReached) {
  std::vector<std::string> argv = {"unshare", "-pf", "--mount-proc"};
  for (const std::string& arg : IdleProcess::DotnetArgs()) argv.push_back(arg);
  IdleProcess idle(argv, With());
  if (!idle.WaitUntilReady()) GTEST_SKIP() << "unshare does not work here";
  const auto all = FindProcesses(kPatient);
  const auto inner = std::find_if(all.begin(), all.end(), [&](const DotnetProcess& p) {
    return p.inner_pid != p.pid && p.socket_path.find(dir_.path()) != std::string::npos;
  });
  ASSERT_NE(inner, all.end());
  EXPECT_TRUE(inner->attachable) << inner->reason;
  EXPECT_EQ(inner->inner_pid, 1);
  EXPECT_EQ(inner->socket_path.rfind("/proc/", 0), 0u) << inner->socket_path;
  const auto transport = OpenTransport(*inner).Take();
  const auto info = Client(*transport).GetProcessInfo(Deadline::After(milliseconds(5000)));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->pid, 1u);
  ::kill(inner->pid, SIGKILL);
}

// As in a container: its own /tmp, which is not ours.
TEST_F(LiveTest, ProcessWithATmpOfItsOwnIsReached) {
  const std::string script = "mount -t tmpfs none /tmp && exec dotnet '" + testing::IdleDll() + "'";
  IdleProcess idle({"unshare", "-m", "sh", "-c", script}, {{"TMPDIR", ""}});
  if (!idle.WaitUntilReady()) GTEST_SKIP() << "unshare or mount does not work here";
  const auto found = FindProcess(idle.pid(), kPatient);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->attachable) << found->reason;
  EXPECT_EQ(found->clr_version.empty(), false);
  EXPECT_EQ(found->socket_path, "/proc/" + std::to_string(idle.pid()) + "/root/tmp/" +
                                    FormatSocketName({idle.pid(), found->start_ticks}));
  EXPECT_EQ(VerdictOf(Diagnose(idle.pid(), milliseconds(5000)), "namespace"), Verdict::kOk);
}

TEST_F(LiveTest, AnotherUserIsTurnedAway) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  IdleProcess idle(IdleProcess::DotnetArgs(), {{"TMPDIR", "/tmp"}});
  ASSERT_TRUE(idle.WaitUntilReady());
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    const auto found = FindProcess(idle.pid(), kPatient);
    if (!found.ok()) ::_exit(2);
    ::_exit(!found->attachable && found->reason_code == ErrorCode::kPermission ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace clrscope::ipc
