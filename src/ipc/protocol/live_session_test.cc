// SPDX-License-Identifier: Apache-2.0
// Commands, sessions and the diagnostic port against live .NET processes.
#include <gtest/gtest.h>
#include <poll.h>

#include "ipc/processes/clr_config.h"
#include "ipc/processes/process_finder.h"
#include "ipc/processes/release.h"
#include "ipc/protocol/client.h"
#include "ipc/testing/fake_peer.h"
#include "ipc/testing/idle_process.h"
#include "ipc/transport/reverse_server.h"

namespace clrscope::ipc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IdleProcess;
using testing::TempDir;

Deadline Soon() { return Deadline::After(seconds(15)); }

SessionConfig GcConfig() {
  SessionConfig config;
  config.providers.push_back({"Microsoft-Windows-DotNETRuntime", 0x1, 4, "", std::nullopt});
  return config;
}

// Reads a session's stream on a thread of its own until it ends.
class Drain {
 public:
  explicit Drain(Fd fd) : fd_(std::move(fd)), thread_([this] { Run(); }) {}
  ~Drain() { Wait(); }
  std::string Wait() {
    if (thread_.joinable()) thread_.join();
    return bytes_;
  }

 private:
  void Run() {
    char chunk[65536];
    for (;;) {
      pollfd p{fd_.get(), POLLIN, 0};
      if (::poll(&p, 1, 20000) <= 0) return;
      const ssize_t n = ::read(fd_.get(), chunk, sizeof(chunk));
      if (n <= 0) return;
      bytes_.append(chunk, static_cast<size_t>(n));
    }
  }
  Fd fd_;
  std::string bytes_;
  std::thread thread_;
};

ReverseRuntime WaitForRuntime(ReverseServer& server) {
  const Deadline deadline = Soon();
  while (!deadline.expired()) {
    const auto fresh = server.Pump();
    if (!fresh.empty()) return fresh.front();
    pollfd p{server.fd(), POLLIN, 0};
    ::poll(&p, 1, 100);
  }
  ADD_FAILURE() << "no runtime dialled";
  return {};
}

class LiveSessionTest : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_IDLE_WORKLOAD(); }
  IdleProcess::Variables With(IdleProcess::Variables more = {}) const {
    more.emplace("TMPDIR", dir_.path());
    return more;
  }
  TempDir dir_;
};

TEST_F(LiveSessionTest, EveryQueryIsAnswered) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With({{"CLRSCOPE_MARK", "ä=1"}}));
  ASSERT_TRUE(idle.WaitUntilReady());
  const auto transport = OpenTransport(*FindProcess(idle.pid())).Take();
  Client client(*transport);

  const auto info = client.GetProcessInfo(Soon());
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->command_version, 3);
  EXPECT_EQ(info->os, "Linux");
  EXPECT_FALSE(info->rid.empty());

  ASSERT_TRUE(client.SetEnvironmentVariable("CLRSCOPE_NEW", "ß", Soon()).ok());
  const auto environment = client.GetEnvironment(Soon());
  ASSERT_TRUE(environment.ok()) << environment.error().message;
  const auto value = [&](std::string_view name) {
    for (const auto& [key, text] : *environment)
      if (key == name) return text;
    return std::string("(absent)");
  };
  EXPECT_EQ(value("CLRSCOPE_MARK"), "ä=1");
  EXPECT_EQ(value("CLRSCOPE_NEW"), "ß");

  EXPECT_TRUE(client.EnablePerfMap(PerfMapType::kPerfMap, Soon()).ok());
  EXPECT_TRUE(client.DisablePerfMap(Soon()).ok());
  ::unlink(("/tmp/perf-" + std::to_string(idle.pid()) + ".map").c_str());
  EXPECT_TRUE(client.ResumeRuntime(Soon()).ok());
  const Status attach = client.AttachProfiler({1}, "/no/such.so", {}, seconds(1), Soon());
  ASSERT_FALSE(attach.ok());
  EXPECT_EQ(attach.error().code, ErrorCode::kRefused) << attach.error().message;
  EXPECT_NE(attach.error().message.find("not found"), std::string::npos) << attach.error().message;
  // As .NET 10 does it, and as client.h says.
  EXPECT_TRUE(client.SetStartupProfiler({1}, "/x.so", Soon()).ok());
  EXPECT_TRUE(client.StopTracing(0x1234, Soon()).ok());
}

TEST_F(LiveSessionTest, SessionStreamsUntilItIsStopped) {
  IdleProcess idle(IdleProcess::DotnetArgs(), With());
  ASSERT_TRUE(idle.WaitUntilReady());
  const auto transport = OpenTransport(*FindProcess(idle.pid())).Take();
  Client client(*transport);
  for (int version = kMinCollectVersion; version <= 5; ++version) {
    auto session = client.CollectTracing(GcConfig(), Soon(), version);
    ASSERT_TRUE(session.ok()) << session.error().message;
    EXPECT_EQ(session->version, version);
    EXPECT_NE(session->id, 0u);
    Drain drain(std::move(session->stream));
    const Status stopped = client.StopTracing(session->id, Soon());
    EXPECT_TRUE(stopped.ok()) << stopped.error().message;
    EXPECT_EQ(drain.Wait().substr(0, 8), "Nettrace");
  }
  auto session = client.CollectTracing(GcConfig(), Soon());
  ASSERT_TRUE(session.ok());
  EXPECT_GE(session->version, 5);
  EXPECT_TRUE(session->limits.filters);
}

TEST_F(LiveSessionTest, LauncherFlowOverReverseConnections) {
  const auto server = ReverseServer::Create().Take();
  IdleProcess idle(IdleProcess::DotnetArgs({"--getenv", "CLRSCOPE_SET"}),
                   With({{"DOTNET_DiagnosticPorts", WithPort("", server->path(), true)}}));
  const ReverseRuntime runtime = WaitForRuntime(*server);
  EXPECT_EQ(runtime.pid, idle.pid());
  EXPECT_EQ(runtime.inner_pid, idle.pid());
  ReverseTransport transport(*server, runtime);
  Client client(transport);
  EXPECT_EQ(client.GetProcessInfo(Soon())->cookie, runtime.cookie);
  auto session = client.CollectTracing(GcConfig(), Soon());
  ASSERT_TRUE(session.ok()) << session.error().message;
  Drain drain(std::move(session->stream));
  EXPECT_FALSE(idle.WaitForOutput("ready", seconds(0)));  // nothing runs before it is resumed
  ASSERT_TRUE(client.SetEnvironmentVariable("CLRSCOPE_SET", "yes", Soon()).ok());
  ASSERT_TRUE(Release(*server, runtime).ok());
  ASSERT_TRUE(idle.WaitUntilReady());
  EXPECT_NE(idle.output().find("env CLRSCOPE_SET=yes\n"), std::string::npos) << idle.output();
  EXPECT_TRUE(client.StopTracing(session->id, Soon()).ok());
  EXPECT_EQ(drain.Wait().substr(0, 8), "Nettrace");
  idle.CloseStdin();
  ASSERT_TRUE(idle.Wait(seconds(10)));
  EXPECT_EQ(idle.exit_code(), 0);
  EXPECT_EQ(client.ResumeRuntime(Soon()).error().code, ErrorCode::kNotFound);
}

TEST_F(LiveSessionTest, ChildrenOfAReleasedProcessRunWithoutUs) {
  auto server = ReverseServer::Create().Take();
  const std::string path = server->path();
  IdleProcess idle(
      IdleProcess::DotnetArgs({"--child", "--getenv", "DOTNET_DiagnosticPorts"}),
      With({{"DOTNET_DiagnosticPorts", WithPort("/no/monitor,nosuspend", path, true)}}));
  const ReverseRuntime runtime = WaitForRuntime(*server);
  ASSERT_TRUE(Release(*server, runtime).ok());
  server.reset();  // gone before the child starts, or soon after: it must not matter
  ASSERT_TRUE(idle.WaitForOutput("child ready")) << idle.output();
  EXPECT_NE(idle.output().find("child env DOTNET_DiagnosticPorts=/no/monitor,nosuspend;" + path +
                               ",nosuspend"),
            std::string::npos)
      << idle.output();
  idle.CloseStdin();
  EXPECT_TRUE(idle.Wait(seconds(10)));
}

TEST_F(LiveSessionTest, OrphansOfAKilledServerAreAdopted) {
  auto server = ReverseServer::Create().Take();
  const std::string path = server->path();
  IdleProcess idle(IdleProcess::DotnetArgs(),
                   With({{"DOTNET_DiagnosticPorts", WithPort("", path, true)}}));
  WaitForRuntime(*server);
  EXPECT_EQ(ReverseServer::Adopt(path).error().code, ErrorCode::kRefused);  // it is in use
  server.reset();
  std::filesystem::create_directory(path.substr(0, path.rfind('/')));
  { const Fd dead = ListenUnix(path).Take(); }  // what SIGKILL leaves: a file without a listener
  EXPECT_FALSE(idle.WaitForOutput("ready", seconds(1)));
  auto adopted = ReverseServer::Adopt(path);
  ASSERT_TRUE(adopted.ok()) << adopted.error().message;
  std::vector<ReverseRuntime> waiting = {WaitForRuntime(**adopted)};
  EXPECT_EQ(ReleaseAll(**adopted, waiting).size(), 1u);
  EXPECT_TRUE(waiting.empty());
  EXPECT_TRUE(idle.WaitUntilReady());
  adopted->reset();
  std::filesystem::remove_all(path.substr(0, path.rfind('/')));
}

TEST_F(LiveSessionTest, WithoutReleaseAChildWaitsAndReleaseAllFreesIt) {
  const auto server = ReverseServer::Create().Take();
  IdleProcess idle(IdleProcess::DotnetArgs({"--child"}),
                   With({{"DOTNET_DiagnosticPorts", WithPort("", server->path(), true)}}));
  const ReverseRuntime parent = WaitForRuntime(*server);
  ReverseTransport transport(*server, parent);
  ASSERT_TRUE(Client(transport).ResumeRuntime(Soon()).ok());
  const ReverseRuntime child = WaitForRuntime(*server);
  EXPECT_NE(child.pid, parent.pid);
  EXPECT_FALSE(idle.WaitForOutput("child ready", seconds(1)));
  EXPECT_EQ(WaitsAt(child.pid, server->path()), true);
  std::vector<ReverseRuntime> waiting = {parent, child};
  EXPECT_EQ(ReleaseAll(*server, waiting).size(), 2u);
  EXPECT_TRUE(idle.WaitForOutput("child ready")) << idle.output();
}

}  // namespace
}  // namespace clrscope::ipc
