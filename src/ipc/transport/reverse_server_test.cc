// SPDX-License-Identifier: Apache-2.0
// The diagnostic port against runtimes that are faked with plain sockets.
#include "ipc/transport/reverse_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "ipc/testing/fake_peer.h"

namespace clrscope::ipc {
namespace {

using std::chrono::milliseconds;
using testing::Buffer;
using testing::FromHex;
using testing::kLong;

constexpr milliseconds kShort{100};

Guid CookieOf(uint8_t last) {
  Guid cookie{};
  cookie[15] = last;
  return cookie;
}

Buffer Advertising(uint8_t last) {
  Buffer bytes = FromHex("414456525f563100 00000000000000000000000000000000 2a00000000000000 0000");
  bytes[23] = static_cast<std::byte>(last);
  return bytes;
}

Fd Dial(const ReverseServer& server, const Buffer& bytes) {
  Fd fd = ConnectUnix(server.path(), Deadline::After(kLong)).Take();
  EXPECT_TRUE(SendAll(fd.get(), bytes, Deadline::After(kLong)).ok());
  return fd;
}

TEST(ReverseServerTest, SocketIsPrivateAndRemovedAtTheEnd) {
  std::string path;
  {
    const auto server = ReverseServer::Create().Take();
    path = server->path();
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
    ASSERT_EQ(::stat(path.substr(0, path.rfind('/')).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0700u);
    const pid_t child = ::fork();  // a forked child lets go of its copy and removes nothing
    if (child == 0) {
      delete server.get();
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path.substr(0, path.rfind('/'))));
}

TEST(ReverseServerTest, TooLongAFolderIsRefused) {
  const testing::TempDir dir;
  const std::string folder = dir.path() + "/" + std::string(100, 'x');
  std::filesystem::create_directory(folder);
  EXPECT_EQ(ReverseServer::Create(folder).error().code, ErrorCode::kUsage);
}

TEST(ReverseServerTest, RuntimesAreToldApartByCookie) {
  const auto server = ReverseServer::Create().Take();
  const Fd a = Dial(*server, Advertising(1)), b = Dial(*server, Advertising(2));
  const auto fresh = server->Pump();
  ASSERT_EQ(fresh.size(), 2u);
  EXPECT_EQ(fresh[0].inner_pid, 42);
  EXPECT_EQ(fresh[0].pid, ::getpid());
  EXPECT_TRUE(server->Pump().empty());
  const auto got = server->Next(CookieOf(2), Deadline::After(kShort));
  ASSERT_TRUE(got.ok());
  ASSERT_TRUE(SendAll(got->get(), FromHex("77"), Deadline::After(kShort)).ok());
  Buffer byte(1);
  EXPECT_TRUE(ReceiveExactly(b.get(), byte, Deadline::After(kShort)).ok());
  // That connection is used up, and the runtime has not dialled again.
  EXPECT_EQ(server->Next(CookieOf(2), Deadline::After(kShort)).error().code, ErrorCode::kTimeout);
}

TEST(ReverseServerTest, NextWaitsForTheRuntimeToDialAgain) {
  const auto server = ReverseServer::Create().Take();
  Fd late;
  std::thread runtime([&] {
    std::this_thread::sleep_for(kShort);
    late = Dial(*server, Advertising(3));
  });
  EXPECT_TRUE(server->Next(CookieOf(3), Deadline::After(kLong)).ok());
  runtime.join();
  EXPECT_EQ(server->Pump().size(), 1u);  // a runtime first seen in Next() is still announced
}

TEST(ReverseServerTest, WhoeverPollsHearsOfARuntimeThatNextHasSeen) {
  const auto server = ReverseServer::Create().Take();
  const Fd known = Dial(*server, Advertising(1));
  const auto is_ready = [&server] {
    pollfd p{server->fd(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
  };
  EXPECT_TRUE(is_ready());
  EXPECT_EQ(server->Pump().size(), 1u);
  EXPECT_FALSE(is_ready());
  // Another thread waits for an answer of the first runtime, while a second dials.
  const Fd dialled = Dial(*server, Advertising(2));
  ASSERT_TRUE(server->Next(CookieOf(1), Deadline::After(kLong)).ok());
  EXPECT_TRUE(is_ready()) << "the second may wait for this at its start";
  EXPECT_EQ(server->Pump().size(), 1u);
  EXPECT_FALSE(is_ready());
}

TEST(ReverseServerTest, AnotherSocketTakesThePlaceOfOneThatWasRemoved) {
  std::string folder;
  {
    const auto server = ReverseServer::Create().Take();
    folder = server->path().substr(0, server->path().rfind('/'));
    ASSERT_TRUE(server->KeepPath().ok());
    const Fd before = Dial(*server, Advertising(1));
    std::filesystem::remove(server->path());
    ASSERT_TRUE(server->KeepPath().ok());
    const Fd after = Dial(*server, Advertising(2));
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(server->KeepPath().ok());
    const Fd last = Dial(*server, Advertising(3));
    EXPECT_EQ(server->Pump().size(), 3u);
    struct stat info {};
    ASSERT_EQ(::stat(folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0700u);
    std::filesystem::remove_all(folder);
    { std::ofstream(folder) << "somebody else's"; }
    EXPECT_FALSE(server->KeepPath().ok());
    std::filesystem::remove(folder);
    EXPECT_TRUE(server->KeepPath().ok());
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(ReverseServerTest, APlaceWhoseFolderIsGoneIsAdoptedAndRemovedAgain) {
  const testing::TempDir dir;
  const std::string folder = dir.path() + "/port", path = folder + "/port.sock";
  {
    const auto server = ReverseServer::Adopt(path).Take();
    const Fd runtime = Dial(*server, Advertising(1));
    EXPECT_EQ(server->Pump().size(), 1u);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(ReverseServerTest, IntroductionMayComeInPieces) {
  const auto server = ReverseServer::Create().Take();
  const Buffer whole = Advertising(4);
  const Fd fd = Dial(*server, Buffer(whole.begin(), whole.begin() + 10));
  EXPECT_TRUE(server->Pump().empty());
  ASSERT_TRUE(SendAll(fd.get(), Bytes(whole).subspan(10), Deadline::After(kShort)).ok());
  EXPECT_EQ(server->Pump().size(), 1u);
}

TEST(ReverseServerTest, StrangersAndHangUpsAreDropped) {
  const auto server = ReverseServer::Create().Take();
  const Fd stranger = Dial(*server, Buffer(kAdvertiseSize, std::byte{'x'}));
  const Fd silent = ConnectUnix(server->path(), Deadline::After(kLong)).Take();
  { const Fd gone = Dial(*server, Advertising(5)); }
  const Fd runtime = Dial(*server, Advertising(6));
  server->Pump();
  EXPECT_EQ(server->Next(CookieOf(5), Deadline::After(kShort)).error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(server->Next(CookieOf(6), Deadline::After(kShort)).ok());
  Buffer byte(1);  // the stranger was shown the door
  EXPECT_EQ(ReceiveExactly(stranger.get(), byte, Deadline::After(kShort)).error().code,
            ErrorCode::kTruncated);
}

TEST(ReverseServerTest, ManyRuntimesFromManyThreads) {
  const auto server = ReverseServer::Create().Take();
  constexpr int kCount = 100;
  std::vector<Fd> runtimes(kCount);
  std::thread dialling([&] {
    for (int i = 0; i < kCount; ++i)
      runtimes[static_cast<size_t>(i)] = Dial(*server, Advertising(static_cast<uint8_t>(i)));
  });
  std::atomic<int> served{0};
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w)
    workers.emplace_back([&, w] {
      for (int i = w; i < kCount; i += 4)
        if (server->Next(CookieOf(static_cast<uint8_t>(i)), Deadline::After(kLong)).ok()) ++served;
    });
  dialling.join();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(served, kCount);
  EXPECT_EQ(server->Pump().size(), static_cast<size_t>(kCount));
}

TEST(ReverseServerTest, EndedProcessIsNotWaitedFor) {
  const auto server = ReverseServer::Create().Take();
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd fd = Dial(*server, Advertising(9));
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  server->Pump();
  const auto start = Deadline::Clock::now();
  EXPECT_EQ(server->Next(CookieOf(9), Deadline::After(kLong)).error().code, ErrorCode::kNotFound);
  EXPECT_LT(Deadline::Clock::now() - start, kLong);
}

}  // namespace
}  // namespace clrscope::ipc
