// SPDX-License-Identifier: Apache-2.0
// The client against peers that behave, misbehave and do nothing at all.
#include "ipc/protocol/client.h"

#include <gtest/gtest.h>

#include "ipc/protocol/hresult.h"
#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using std::chrono::milliseconds;
using testing::Buffer;
using testing::FakePeer;
using testing::FromHex;
using testing::kLong;
using testing::Message;
using testing::RefusalMessage;
using testing::TempDir;
using testing::ToHex;

constexpr milliseconds kSoon{150};

// The error of ProcessInfo against a peer that answers.
Error InfoError(FakePeer::Script script) {
  FakePeer peer(std::move(script));
  SocketTransport transport(peer.path());
  const auto info = Client(transport).GetProcessInfo(Deadline::After(kLong));
  EXPECT_FALSE(info.ok());
  return info.ok() ? Error{} : info.error();
}

Buffer InfoPayload() {
  return FromHex(
      "01000000 0700000000000000 000102030405060708090a0b0c0d0e0f 02000000 6300 0000 "
      "00000000 00000000 02000000 4500 0000 04000000 3900 2e00 3100 0000 00000000");
}

TEST(ClientTest, SilentPeerTimesOut) {
  FakePeer* self = nullptr;
  const Error error = [&] {
    FakePeer peer([&self](int, const Buffer&) { self->WaitForEnd(); });
    self = &peer;
    SocketTransport transport(peer.path());
    return Client(transport).GetProcessInfo(Deadline::After(kSoon)).error();
  }();
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
}

TEST(ClientTest, PeerThatNeverAcceptsTimesOut) {
  const TempDir dir;
  const Fd listener = ListenUnix(dir.path() + "/s").Take();
  SocketTransport transport(dir.path() + "/s");
  std::vector<Fd> fill;  // connections that use up the backlog
  for (int i = 0; i < 300; ++i) {
    auto fd = ConnectUnix(dir.path() + "/s", Deadline::After(milliseconds(0)));
    if (!fd.ok()) {
      EXPECT_EQ(fd.error().code, ErrorCode::kTimeout);
      break;
    }
    fill.push_back(fd.Take());
  }
  EXPECT_LT(fill.size(), 300u);
  EXPECT_EQ(Client(transport).ResumeRuntime(Deadline::After(kSoon)).error().code,
            ErrorCode::kTimeout);
}

TEST(ClientTest, GarbageIsCorrupt) {
  EXPECT_EQ(InfoError([](int fd, const Buffer&) {
              FakePeer::Send(fd, Buffer(4096, std::byte{0xAB}));
            }).code,
            ErrorCode::kCorrupt);
}

TEST(ClientTest, LengthBeyondWhatComesIsTruncatedOrLate) {
  const auto wild = FromHex("444f544e45545f4950435f563100 ffff ff 00 0000 01000000");
  EXPECT_EQ(InfoError([&](int fd, const Buffer&) { FakePeer::Send(fd, wild); }).code,
            ErrorCode::kTruncated);
}

TEST(ClientTest, EarlyCloseIsTruncated) {
  const Error error = InfoError([](int, const Buffer&) {});
  EXPECT_EQ(error.code, ErrorCode::kTruncated);
  EXPECT_NE(error.message.find("ProcessInfo"), std::string::npos) << error.message;
  EXPECT_EQ(InfoError([](int fd, const Buffer&) {
              FakePeer::Send(fd, FromHex("444f544e45545f49"));
            }).code,
            ErrorCode::kTruncated);
}

TEST(ClientTest, UnknownReplyCodeIsCorrupt) {
  EXPECT_EQ(
      InfoError([](int fd, const Buffer&) { FakePeer::Send(fd, Message(Command::kDump1)); }).code,
      ErrorCode::kCorrupt);
}

TEST(ClientTest, DribblingPeerIsReadWhenItIsInTime) {
  FakePeer peer([](int fd, const Buffer&) {
    for (const std::byte b : Message(Command::kOk, InfoPayload())) {
      FakePeer::Send(fd, Buffer{b});
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  SocketTransport transport(peer.path());
  const auto info = Client(transport).GetProcessInfo(Deadline::After(std::chrono::seconds(60)));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->entry_assembly, "E");
}

TEST(ClientTest, DribblingPeerCannotOutlastTheDeadline) {
  FakePeer* self = nullptr;
  FakePeer peer([&self](int fd, const Buffer&) {
    Buffer endless = FromHex("444f544e45545f4950435f563100 ffff ff 00 0000");
    endless.resize(60000);
    for (const std::byte b : endless) {
      if (self->ending() || !SendAll(fd, Bytes(&b, 1), Deadline::After(kSoon)).ok()) return;
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  self = &peer;
  SocketTransport transport(peer.path());
  const auto info = Client(transport).GetProcessInfo(Deadline::After(kSoon));
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code, ErrorCode::kTimeout);
}

TEST(ClientTest, EnvironmentOfWildSizeIsRefusedWithoutMemory) {
  FakePeer peer([](int fd, const Buffer&) {
    FakePeer::Send(fd, Message(Command::kOk, FromHex("ffffffff 0000")));
  });
  SocketTransport transport(peer.path());
  EXPECT_EQ(Client(transport).GetEnvironment(Deadline::After(kLong)).error().code,
            ErrorCode::kCorrupt);
}

TEST(ClientTest, NoSocketAndNoListenerAreNotFound) {
  const TempDir dir;
  SocketTransport missing(dir.path() + "/none");
  EXPECT_EQ(Client(missing).ResumeRuntime(Deadline::After(kSoon)).error().code,
            ErrorCode::kNotFound);
  { const Fd listener = ListenUnix(dir.path() + "/dead").Take(); }
  SocketTransport dead(dir.path() + "/dead");
  EXPECT_EQ(Client(dead).ResumeRuntime(Deadline::After(kSoon)).error().code, ErrorCode::kNotFound);
}

TEST(ClientTest, ListenerOfAnotherProcessIsRefused) {
  FakePeer peer([](int, const Buffer&) {});
  SocketTransport wrong(peer.path(), ::getpid() + 1);
  EXPECT_EQ(Client(wrong).ResumeRuntime(Deadline::After(kSoon)).error().code,
            ErrorCode::kPermission);
  SocketTransport right(peer.path(), ::getpid());
  EXPECT_EQ(Client(right).ResumeRuntime(Deadline::After(kLong)).error().code,
            ErrorCode::kTruncated);
}

TEST(ClientTest, PathsLongerThanSunPathAreReached) {
  const TempDir dir;
  const std::string folder = dir.path() + "/" + std::string(120, 'd');
  std::filesystem::create_directory(folder);
  const auto listener = ListenUnix(folder + "/s");
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_TRUE(ConnectUnix(folder + "/s", Deadline::After(kSoon)).ok());
  EXPECT_EQ(
      ConnectUnix(dir.path() + "/" + std::string(120, 's'), Deadline::After(kSoon)).error().code,
      ErrorCode::kUsage);
}

TEST(ClientTest, RefusalNamesTheHresult) {
  FakePeer peer([](int fd, const Buffer&) { FakePeer::Send(fd, RefusalMessage(0x8013136a)); });
  SocketTransport transport(peer.path());
  const Status status =
      Client(transport).AttachProfiler({}, "/x.so", {}, milliseconds(1), Deadline::After(kLong));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kRefused);
  EXPECT_NE(status.error().message.find("0x8013136a (another profiler is already active)"),
            std::string::npos)
      << status.error().message;
}

TEST(ClientTest, FailureInsideASuccessIsARefusal) {
  FakePeer peer([](int fd, const Buffer&) {
    FakePeer::Send(fd, Message(Command::kOk, FromHex("05400080")));
  });
  SocketTransport transport(peer.path());
  EXPECT_EQ(Client(transport).DisablePerfMap(Deadline::After(kLong)).error().code,
            ErrorCode::kRefused);
}

TEST(ClientTest, ProcessInfoGoesDownTheLadder) {
  FakePeer peer([](int fd, const Buffer& request) {
    if (ParseHeader(request)->command != Command::kProcessInfo1)
      return FakePeer::Send(fd, RefusalMessage(kUnknownCommand));
    Buffer payload = InfoPayload();
    payload.erase(payload.begin(), payload.begin() + 4);
    FakePeer::Send(fd, Message(Command::kOk, payload));
  });
  SocketTransport transport(peer.path());
  const auto info = Client(transport).GetProcessInfo(Deadline::After(kLong));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->command_version, 1);
  EXPECT_EQ(peer.requests().size(), 3u);
}

TEST(ClientTest, CollectTracingGoesDownTheLadderAndSaysWhatWasLost) {
  FakePeer peer([](int fd, const Buffer& request) {
    if (static_cast<int>(ParseHeader(request)->command) > 0x0203)
      return FakePeer::Send(fd, RefusalMessage(kUnknownCommand));
    FakePeer::Send(fd, Message(Command::kOk, FromHex("2a00000000000000")));
    FakePeer::Send(fd, FromHex("4e657474726163 65"));
  });
  SocketTransport transport(peer.path());
  SessionConfig config;
  config.providers.push_back({"P", 1, 4, "", EventFilter{true, {1}}});
  const auto session = Client(transport).CollectTracing(config, Deadline::After(kLong));
  ASSERT_TRUE(session.ok()) << session.error().message;
  EXPECT_EQ(session->id, 42u);
  EXPECT_EQ(session->version, 2);
  EXPECT_FALSE(session->limits.filters);
  EXPECT_EQ(peer.requests().size(), 5u);
  Buffer stream(8);  // what follows the reply was not swallowed with it
  ASSERT_TRUE(ReceiveExactly(session->stream.get(), stream, Deadline::After(kLong)).ok());
  EXPECT_EQ(ToHex(stream), "4e65747472616365");
}

TEST(ClientTest, OtherRefusalsEndTheLadder) {
  FakePeer peer([](int fd, const Buffer&) { FakePeer::Send(fd, RefusalMessage(kBadEncoding)); });
  SocketTransport transport(peer.path());
  SessionConfig config;
  config.providers.push_back({"P", 1, 4, "", std::nullopt});
  EXPECT_EQ(Client(transport).CollectTracing(config, Deadline::After(kLong)).error().code,
            ErrorCode::kRefused);
  EXPECT_EQ(peer.requests().size(), 1u);
}

TEST(ClientTest, RequestsAreByteExact) {
  FakePeer peer([](int fd, const Buffer&) {
    FakePeer::Send(fd, Message(Command::kOk, FromHex("00000000 00000000")));
  });
  SocketTransport transport(peer.path());
  Client client(transport);
  const Deadline soon = Deadline::After(kLong);
  Guid guid{};
  for (uint8_t i = 0; i < 16; ++i) guid[i] = i;
  const Buffer data = FromHex("aabb");
  EXPECT_TRUE(client.StopTracing(0x1122334455667788, soon).ok());
  EXPECT_TRUE(client.AttachProfiler(guid, "/a", data, milliseconds(3000), soon).ok());
  EXPECT_TRUE(client.SetStartupProfiler(guid, "/a", soon).ok());
  EXPECT_TRUE(client.EnablePerfMap(PerfMapType::kPerfMap, soon).ok());
  EXPECT_TRUE(client.ApplyStartupHook("h", soon).ok());
  EXPECT_TRUE(client.WriteDump(DumpType::kHeap, "/d", true, soon).ok());
  const auto sent = peer.requests();
  ASSERT_EQ(sent.size(), 6u);
  const auto expect = [](std::string_view rest) {
    return ToHex(FromHex(std::string("444f544e45545f4950435f563100") + std::string(rest)));
  };
  EXPECT_EQ(ToHex(sent[0]), expect("1c00 02 01 0000 8877665544332211"));
  EXPECT_EQ(ToHex(sent[1]), expect("3800 03 01 0000 b80b0000 000102030405060708090a0b0c0d0e0f "
                                   "03000000 2f00 6100 0000 02000000 aabb"));
  EXPECT_EQ(ToHex(sent[2]), expect("2e00 03 02 0000 000102030405060708090a0b0c0d0e0f "
                                   "03000000 2f00 6100 0000"));
  EXPECT_EQ(ToHex(sent[3]), expect("1800 04 05 0000 03000000"));
  EXPECT_EQ(ToHex(sent[4]), expect("1c00 04 07 0000 02000000 6800 0000"));
  EXPECT_EQ(ToHex(sent[5]), expect("2600 01 03 0000 03000000 2f00 6400 0000 02000000 01000000"));
}

TEST(ClientTest, VariableNamesAreChecked) {
  SocketTransport transport("/nowhere");
  EXPECT_EQ(
      Client(transport).SetEnvironmentVariable("A=B", "", Deadline::After(kSoon)).error().code,
      ErrorCode::kUsage);
}

}  // namespace
}  // namespace clrscope::ipc
