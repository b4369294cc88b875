// SPDX-License-Identifier: Apache-2.0
// The judgement over facts that are made up.
#include "ipc/diagnosis/diagnosis.h"

#include <gtest/gtest.h>

#include "ipc/testing/find_check.h"

namespace clrscope::ipc {
namespace {

using testing::Find;

ProcessFacts Healthy() {
  ProcessFacts facts;
  facts.pid = facts.inner_pid = 42;
  facts.state = 'S';
  facts.uid = 1000;
  facts.uptime_s = 100;
  facts.comm = "dotnet";
  facts.environ_readable = true;
  facts.environ = {"PATH=/bin"};
  facts.runtime = RuntimeKind::kCoreClr;
  facts.coreclr_path = "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/libcoreclr.so";
  facts.threads = {".NET EventPipe", ".NET Finalizer"};
  facts.tmp_dir = "/tmp/";
  facts.socket_path = "/tmp/dotnet-diagnostic-42-1-socket";
  return facts;
}

Result<ProcessInfo> Version(std::string version) {
  ProcessInfo info;
  info.clr_version = std::move(version);
  return info;
}

Diagnosis Judge(const ProcessFacts& facts, uid_t us = 1000,
                std::optional<Result<ProcessInfo>> answer = Version("10.0.1")) {
  Diagnosis diagnosis;
  diagnosis.process.pid = facts.pid;
  diagnosis.checks = Examine(facts, us, answer);
  return diagnosis;
}

void ExpectFailure(const ProcessFacts& facts, std::string_view name, ErrorCode code,
                   std::string_view text, uid_t us = 1000) {
  const Diagnosis diagnosis = Judge(facts, us, std::nullopt);
  const Check* check = Find(diagnosis, name);
  ASSERT_NE(check, nullptr) << name;
  EXPECT_EQ(check->verdict, Verdict::kFail) << name;
  EXPECT_EQ(check->code, code) << name;
  EXPECT_NE((check->what + check->fix).find(text), std::string::npos) << check->what << check->fix;
  EXPECT_TRUE(diagnosis.blocker().has_value());
}

TEST(DiagnosisTest, HealthyProcessHasNoBlocker) {
  const Diagnosis diagnosis = Judge(Healthy());
  EXPECT_FALSE(diagnosis.blocker().has_value());
  for (const Check& check : diagnosis.checks) EXPECT_EQ(check.verdict, Verdict::kOk) << check.name;
  EXPECT_TRUE(WorthAsking(Healthy(), 1000));
  EXPECT_TRUE(WorthAsking(Healthy(), 0));
}

TEST(DiagnosisTest, AnotherToolsSessionIsAWarningWhereItMatters) {
  ProcessFacts facts = Healthy();
  EXPECT_EQ(Find(Judge(facts), "sessions"), nullptr);
  facts.open_sessions = 2;
  const Diagnosis ten = Judge(facts), nine = Judge(facts, 1000, Version("9.0.1"));
  ASSERT_NE(Find(ten, "sessions"), nullptr);
  EXPECT_EQ(Find(ten, "sessions")->verdict, Verdict::kWarn);
  EXPECT_NE(Find(ten, "sessions")->fix.find("--sampling tick"), std::string::npos);
  EXPECT_FALSE(ten.blocker().has_value());
  ASSERT_NE(Find(nine, "sessions"), nullptr);
  EXPECT_EQ(Find(nine, "sessions")->verdict, Verdict::kOk);
}

TEST(DiagnosisTest, RootWithoutItsCapabilitiesIsToldWhoMayReachAContainer) {
  ProcessFacts facts = Healthy();
  facts.gid = 2000;
  facts.root_denied = true;
  const Diagnosis shared = Judge(facts, 0);  // its /tmp is ours, too
  ASSERT_NE(Find(shared, "reach"), nullptr);
  EXPECT_EQ(Find(shared, "reach")->verdict, Verdict::kWarn);
  EXPECT_FALSE(shared.blocker().has_value());

  facts.socket_path.clear();
  facts.environ_readable = false;
  ExpectFailure(facts, "reach", ErrorCode::kPermission, "root without the capability SYS_PTRACE",
                0);
  ExpectFailure(facts, "reach", ErrorCode::kPermission, "{runAsUser: 1000, runAsGroup: 2000}", 0);
  ExpectFailure(facts, "reach", ErrorCode::kPermission, "it is of group 2000", 1000);
  EXPECT_EQ(Find(Judge(facts, 0, std::nullopt), "socket"), nullptr) << "nothing is known of it";
  const Diagnosis other = Judge(facts, 1001, std::nullopt);
  EXPECT_EQ(Find(other, "reach"), nullptr) << "the user says it all";
  EXPECT_EQ(other.blocker()->code, ErrorCode::kPermission);
}

TEST(DiagnosisTest, EventSourceThatIsOffIsAWarning) {
  ProcessFacts facts = Healthy();
  EXPECT_EQ(Find(Judge(facts), "events"), nullptr);
  facts.runtime_config =
      R"({"runtimeOptions": {"configProperties":
          {"System.Diagnostics.Tracing.EventSource.IsSupported": false}}})";
  const Diagnosis off = Judge(facts);
  ASSERT_NE(Find(off, "events"), nullptr);
  EXPECT_EQ(Find(off, "events")->verdict, Verdict::kWarn);
  EXPECT_NE(Find(off, "events")->fix.find("<EventSourceSupport>true"), std::string::npos);
  EXPECT_FALSE(off.blocker().has_value());
}

TEST(DiagnosisTest, NotDotnet) {
  ProcessFacts facts = Healthy();
  facts.runtime = RuntimeKind::kNone;
  ExpectFailure(facts, "runtime", ErrorCode::kNotDotnet, "not a .NET process");
}

TEST(DiagnosisTest, Zombie) {
  ProcessFacts facts = Healthy();
  facts.state = 'Z';
  ExpectFailure(facts, "process", ErrorCode::kNotFound, "has ended");
}

TEST(DiagnosisTest, OtherUser) {
  ExpectFailure(Healthy(), "user", ErrorCode::kPermission, "sudo", 1001);
  EXPECT_FALSE(WorthAsking(Healthy(), 1001));
}

TEST(DiagnosisTest, SwitchedOffByEachVariable) {
  for (const char* variable : {"DOTNET_EnableDiagnostics=0", "DOTNET_EnableDiagnostics_IPC=0",
                               "COMPlus_EnableDiagnostics=0", "COMPlus_EnableDiagnostics_IPC=00"}) {
    ProcessFacts facts = Healthy();
    facts.socket_path.clear();
    facts.environ.push_back(variable);
    const std::string name = std::string(variable).substr(0, std::string(variable).find('='));
    ExpectFailure(facts, "diagnostics", ErrorCode::kRefused, name);
    EXPECT_EQ(Find(Judge(facts), "socket"), nullptr) << "one reason is enough";
  }
  ProcessFacts facts = Healthy();
  facts.environ = {"COMPlus_EnableDiagnostics=0", "DOTNET_EnableDiagnostics=1"};
  EXPECT_FALSE(Judge(facts).blocker().has_value());
}

TEST(DiagnosisTest, SocketMissingStaleOrNotYetThere) {
  ProcessFacts facts = Healthy();
  facts.socket_path.clear();
  ExpectFailure(facts, "socket", ErrorCode::kRefused, "no diagnostics socket in /tmp/");
  facts.stale_sockets = {"/tmp/dotnet-diagnostic-42-9-socket"};
  ExpectFailure(facts, "socket", ErrorCode::kRefused, "earlier process");
  facts.stale_sockets.clear();
  facts.uptime_s = 0.5;
  ExpectFailure(facts, "socket", ErrorCode::kRefused, "just started");
}

TEST(DiagnosisTest, TmpDirTooLongOrGone) {
  ProcessFacts facts = Healthy();
  facts.socket_path.clear();
  facts.tmp_dir_exists = false;
  ExpectFailure(facts, "tmpdir", ErrorCode::kRefused, "does not exist");
  facts.socket_name_too_long = true;
  ExpectFailure(facts, "tmpdir", ErrorCode::kRefused, "too long");
}

TEST(DiagnosisTest, StoppedProcessIsNotAsked) {
  ProcessFacts facts = Healthy();
  facts.state = 'T';
  EXPECT_FALSE(WorthAsking(facts, 1000));
  ExpectFailure(facts, "state", ErrorCode::kTimeout, "kill -CONT 42");
}

TEST(DiagnosisTest, SuspendedStartIsAWarning) {
  ProcessFacts facts = Healthy();
  facts.threads = {".NET EventPipe"};
  facts.environ.push_back("DOTNET_DiagnosticPorts=/monitor.sock");
  const Diagnosis diagnosis = Judge(facts);
  ASSERT_NE(Find(diagnosis, "start"), nullptr);
  EXPECT_EQ(Find(diagnosis, "start")->verdict, Verdict::kWarn);
  EXPECT_NE(Find(diagnosis, "start")->what.find("/monitor.sock"), std::string::npos);
  EXPECT_FALSE(diagnosis.blocker().has_value());
}

TEST(DiagnosisTest, APortThatNobodyListensAtIsNamedWithTheWayOut) {
  ProcessFacts facts = Healthy();
  facts.threads = {".NET EventPipe"};
  facts.environ.push_back("DOTNET_DiagnosticPorts=/monitor.sock");
  facts.unheard_ports = {"/monitor.sock"};
  const Diagnosis diagnosis = Judge(facts);
  ASSERT_NE(Find(diagnosis, "start"), nullptr);
  EXPECT_NE(Find(diagnosis, "start")->what.find("nobody listens at /monitor.sock"),
            std::string::npos);
  EXPECT_NE(Find(diagnosis, "start")->fix.find("doctor 42 --resume"), std::string::npos);
}

TEST(DiagnosisTest, SilenceBlocksAndOldAgeWarns) {
  const Diagnosis silent =
      Judge(Healthy(), 1000, Result<ProcessInfo>(Error{ErrorCode::kTimeout, "x"}));
  ASSERT_TRUE(silent.blocker().has_value());
  EXPECT_EQ(silent.blocker()->code, ErrorCode::kTimeout);
  const Diagnosis old =
      Judge(Healthy(), 1000, Result<ProcessInfo>(Error{ErrorCode::kRefused, "x"}));
  EXPECT_FALSE(old.blocker().has_value());
}

TEST(DiagnosisTest, AnAnswerThatIsNoneIsToldWithoutTheProcessTwice) {
  const Error error{ErrorCode::kTruncated,
                    "process 42: ProcessInfo: the peer closed the connection after 0 of 20 bytes"};
  const auto blocker = Judge(Healthy(), 1000, Result<ProcessInfo>(error)).blocker();
  ASSERT_TRUE(blocker.has_value());
  EXPECT_EQ(blocker->code, ErrorCode::kTruncated);
  EXPECT_EQ(blocker->message,
            "process 42 cannot be asked: ProcessInfo: the peer closed the connection after 0 of 20 "
            "bytes");
}

TEST(DiagnosisTest, VersionDecidesTheSamplingEvent) {
  EXPECT_EQ(SamplingEventOf("10.0.12"), SamplingEvent::kAllocationSampled);
  EXPECT_EQ(SamplingEventOf("11.0.0-preview.1"), SamplingEvent::kAllocationSampled);
  EXPECT_EQ(SamplingEventOf("9.0.1"), SamplingEvent::kAllocationTick);
  EXPECT_EQ(SamplingEventOf(""), SamplingEvent::kUnknown);
  EXPECT_EQ(MajorVersion("x.1"), 0);
  EXPECT_EQ(MajorVersion("10"), 0);
  const auto what = [](std::string version) {
    const Diagnosis diagnosis = Judge(Healthy(), 1000, Version(std::move(version)));
    return *Find(diagnosis, "version");
  };
  EXPECT_NE(what("10.0.0").what.find("AllocationSampled"), std::string::npos);
  EXPECT_NE(what("8.0.1").what.find("AllocationTick"), std::string::npos);
  EXPECT_EQ(what("6.0.1").verdict, Verdict::kWarn);
}

TEST(DiagnosisTest, NativeAotAndOtherProfilersWarn) {
  ProcessFacts facts = Healthy();
  facts.runtime = RuntimeKind::kNativeAot;
  facts.environ.push_back("CORECLR_ENABLE_PROFILING=1");
  facts.environ.push_back("CORECLR_PROFILER_PATH=/dd.so");
  const Diagnosis diagnosis = Judge(facts);
  EXPECT_EQ(Find(diagnosis, "runtime")->verdict, Verdict::kWarn);
  EXPECT_NE(Find(diagnosis, "profiler")->what.find("/dd.so"), std::string::npos);
  EXPECT_EQ(Find(diagnosis, "version")->what.find("sampled"), std::string::npos)
      << "the runtime's line says what samples lack";
  facts.socket_path.clear();
  ExpectFailure(facts, "runtime", ErrorCode::kRefused, "NativeAOT");
}

TEST(DiagnosisTest, ProcessThatIsNotThere) {
  const Diagnosis diagnosis = Diagnose(999999999);
  ASSERT_FALSE(diagnosis.checks.empty());
  EXPECT_EQ(diagnosis.checks.front().name, "process");
  // A process of another pid namespace that listens in /tmp is told as well.
  for (size_t i = 1; i < diagnosis.checks.size(); ++i)
    EXPECT_EQ(diagnosis.checks[i].name, "namespace");
  ASSERT_TRUE(diagnosis.blocker().has_value());
  EXPECT_EQ(diagnosis.blocker()->code, ErrorCode::kNotFound);
  EXPECT_FALSE(diagnosis.process.attachable);
}

}  // namespace
}  // namespace clrscope::ipc
