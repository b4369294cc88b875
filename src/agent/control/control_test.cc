// SPDX-License-Identifier: Apache-2.0
// The control socket against peers that flood it, do not read, or come too late.
#include "agent/control/control.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "agent/testing/temporary_folder.h"
#include "base/fd.h"

namespace clrscope::agent {
namespace {

class ControlTest : public ::testing::Test, public ControlHandler {
 protected:
  std::string Command(std::string_view line) override {
    ++commands_;
    if (line == "long") return std::string(4000, 'x');
    return "answer to " + std::string(line);
  }
  void OwnerCame() override { ++came_; }
  void OwnerLeft() override { ++left_; }

  static Fd Connect(const Control& c) {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, c.path().c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static bool Say(const Fd& fd, std::string_view text) {
    return ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // What has come so far.
  static std::string Hear(const Fd& fd) {
    std::string out;
    char buffer[65536];
    for (ssize_t n; (n = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
      out.append(buffer, static_cast<size_t>(n));
    return out;
  }

  TemporaryFolder folder_;
  int commands_ = 0, came_ = 0, left_ = 0;
};

TEST_F(ControlTest, AnswersLineByLine) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd peer = Connect(c);
  ASSERT_TRUE(Say(peer, "a\nb\nc"));
  c.Serve(*this);
  EXPECT_EQ(Hear(peer), "answer to a\nanswer to b\n");
  ASSERT_TRUE(Say(peer, "\n"));
  ::shutdown(peer.get(), SHUT_WR);
  c.Serve(*this);
  EXPECT_EQ(Hear(peer), "answer to c\n") << "though it says no more";
}

TEST_F(ControlTest, WhoAsksMayTraceTheProgram) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd peer = Connect(c);
  ASSERT_TRUE(Say(peer, "ptracer\n"));
  c.Serve(*this);
  const bool yama = ::access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0;
  EXPECT_EQ(Hear(peer),
            yama ? "ok\n" : "error the kernel has no Yama, or does not find who asks\n");
  EXPECT_EQ(commands_, 0);
}

TEST_F(ControlTest, WhoFloodsItAndDoesNotReadCostsLittle) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd flood = Connect(c);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "long\n";
  const Fd other = Connect(c);
  size_t said = 0, most = 0;
  int before = 0;
  for (int i = 0; i < 2000; ++i) {
    said += Say(flood, lines) ? lines.size() : 0;
    before = commands_;
    c.Serve(*this);
    EXPECT_LE(commands_ - before, Control::kLinesATurn) << "others wait for it";
    most = std::max(most, c.memory_bytes());
  }
  EXPECT_LT(most, 2 * (Control::kMaxLine + Control::kMaxAnswers));
  EXPECT_FALSE(Say(flood, lines)) << "it is not read from any more";
  ASSERT_TRUE(Say(other, "hello\n"));
  c.Serve(*this);
  EXPECT_EQ(Hear(other), "answer to hello\n");
  // Once it reads, it goes on.
  before = commands_;
  for (int i = 0; i < 100; ++i) {
    (void)Hear(flood);
    c.Serve(*this);
  }
  EXPECT_GT(commands_, before + 100);
  EXPECT_GT(said, 0u);
}

TEST_F(ControlTest, ALineWithoutEndIsNotKept) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd peer = Connect(c);
  for (int i = 0; i < 100; ++i) {
    (void)Say(peer, std::string(1000, 'x'));
    c.Serve(*this);
    EXPECT_LT(c.memory_bytes(), 2 * Control::kMaxLine + 8192);
  }
  EXPECT_FALSE(Say(peer, "x")) << "it was turned away";
  EXPECT_EQ(commands_, 0);
}

TEST_F(ControlTest, ASubscriberThatDoesNotReadLosesFramesThatDoNotFit) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd peer = Connect(c);
  ASSERT_TRUE(Say(peer, "subscribe\n"));
  c.Serve(*this);
  EXPECT_EQ(came_, 1);
  const std::string frame(size_t{4} << 20, 'f');
  int taken = 0;
  while (c.Send(frame)) ++taken;
  EXPECT_GE(taken, 7);
  EXPECT_LE(c.memory_bytes(), Control::kMaxFrames + (size_t{8} << 20));
  size_t heard = 0;
  for (int idle = 0; idle < 10;) {
    const size_t n = Hear(peer).size();
    heard += n;
    idle = n == 0 ? idle + 1 : 0;
    c.Serve(*this);
  }
  EXPECT_EQ(heard, static_cast<size_t>(taken) * (frame.size() + 4) + 3);
  EXPECT_TRUE(c.Send("next"));
}

TEST_F(ControlTest, WhoNeverSpeaksMakesRoomForOthers) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd owner = Connect(c);
  ASSERT_TRUE(Say(owner, "subscribe\n"));
  c.Serve(*this);
  std::vector<Fd> silent;
  for (size_t i = 0; i < 3 * Control::kMaxPeers; ++i) {
    silent.push_back(Connect(c));
    c.Serve(*this);
  }
  const Fd peer = Connect(c);
  ASSERT_TRUE(Say(peer, "hello\n"));
  c.Serve(*this);
  EXPECT_EQ(Hear(peer), "answer to hello\n");
  EXPECT_TRUE(c.has_subscriber()) << "whose recording goes on";
  EXPECT_EQ(left_, 0);
}

// A detaching agent that was preempted must not take the next one's socket away.
TEST_F(ControlTest, RemovesNoSocketButItsOwn) {
  Control first, second;
  ASSERT_TRUE(first.Listen(folder_.path()).ok());
  ASSERT_TRUE(second.Listen(folder_.path()).ok()) << "the same name";
  ASSERT_EQ(first.path(), second.path());
  first.Close();
  const Fd peer = Connect(second);
  ASSERT_TRUE(Say(peer, "hello\n"));
  second.Serve(*this);
  EXPECT_EQ(Hear(peer), "answer to hello\n");
  second.Close();
  EXPECT_FALSE(std::filesystem::exists(second.path()));
}

TEST_F(ControlTest, ThePeersOfAnAgentThatIsLeavingHearItsLastWords) {
  Control c;
  ASSERT_TRUE(c.Listen(folder_.path()).ok());
  const Fd owner = Connect(c);
  ASSERT_TRUE(Say(owner, "subscribe\n"));
  c.Serve(*this);
  c.StopListening();
  EXPECT_FALSE(std::filesystem::exists(c.path()));
  EXPECT_TRUE(c.Send("last"));
  c.Flush(1000);
  EXPECT_EQ(Hear(owner), std::string("ok\n\4\0\0\0last", 11));
}

}  // namespace
}  // namespace clrscope::agent
