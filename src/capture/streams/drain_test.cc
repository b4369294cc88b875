// SPDX-License-Identifier: Apache-2.0
// The drain thread beside the thread that decodes; the tsan build runs these to find races.
#include "capture/streams/drain.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "nettrace/reader.h"
#include "nettrace/testing/collecting_sink.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

using nettrace::testing::EventRowSpec;
using nettrace::testing::IgnoringSink;
using nettrace::testing::SyntheticWriter;

constexpr int kBlocks = 400, kPerBlock = 5;
constexpr int kPatienceMs = 20'000;

std::string Trace() {
  SyntheticWriter w;
  w.Metadata({{1, "P", 7, 0, "", 0, 4, "", 0}});
  int64_t time = 2000;
  for (int b = 0; b < kBlocks; ++b) {
    std::vector<EventRowSpec> rows(kPerBlock);
    for (EventRowSpec& row : rows) {
      row.time = time++;
      row.payload = std::string(301, 'x');
    }
    w.Events(rows);
  }
  w.SequencePoint(time, w.Sequences()).End();
  return w.str();
}

struct Pair {
  Fd ours, theirs;  // ours is nonblocking
};
Pair Sockets() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  Pair pair{Fd(fds[0]), Fd(fds[1])};
  EXPECT_EQ(::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK), 0);
  return pair;
}

// As a runtime does: writes until all is out or nobody listens any more. Returns whether all went.
bool Send(int fd, std::string_view bytes, size_t piece) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), std::min(piece, bytes.size()), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool WaitFor(const Drain& drain) {
  pollfd wait{drain.ready_fd(), POLLIN, 0};
  if (::poll(&wait, 1, kPatienceMs) != 1) return false;
  uint64_t count;
  return ::read(drain.ready_fd(), &count, sizeof(count)) == sizeof(count);
}

TEST(Drain, EverySocketIsReadToItsEndIntoItsRing) {
  const std::string trace = Trace();
  auto drain = Drain::Start();
  ASSERT_TRUE(drain.ok());
  constexpr size_t kSockets = 3;
  std::vector<std::shared_ptr<StreamRing>> rings;
  std::vector<std::thread> runtimes;
  std::vector<Fd> ends;
  for (size_t i = 0; i < kSockets; ++i) {
    Pair pair = Sockets();
    rings.push_back(std::make_shared<StreamRing>());
    ASSERT_TRUE((*drain)->Add(std::move(pair.ours), rings.back()).ok());
    runtimes.emplace_back([&trace, fd = std::move(pair.theirs), i] {
      EXPECT_TRUE(Send(fd.get(), trace, 100 + 1000 * i));
    });
  }
  std::vector<IgnoringSink> sinks(kSockets);
  std::vector<std::unique_ptr<nettrace::Reader>> readers;
  for (IgnoringSink& sink : sinks) readers.push_back(std::make_unique<nettrace::Reader>(&sink));
  const auto exhausted = [&rings] {
    return std::all_of(rings.begin(), rings.end(), [](const auto& r) { return r->exhausted(); });
  };
  bool in_time = true;
  while (in_time && !exhausted()) {
    in_time = WaitFor(**drain);
    StreamRing::Item item;
    for (size_t i = 0; i < kSockets; ++i)
      while (rings[i]->Pop(item)) EXPECT_TRUE(readers[i]->Feed(item.bytes).ok());
  }
  EXPECT_TRUE(in_time);
  for (std::thread& t : runtimes) t.join();
  for (const auto& reader : readers) {
    reader->Finish();
    EXPECT_TRUE(reader->ended());
    EXPECT_EQ(reader->events(), uint64_t{kBlocks * kPerBlock});
    EXPECT_EQ(reader->dropped(), 0u);
  }
}

TEST(Drain, NobodyWhoPopsHoldsNoRuntimeUp) {
  const std::string trace = Trace();
  auto drain = Drain::Start();
  ASSERT_TRUE(drain.ok());
  Pair pair = Sockets();
  auto ring = std::make_shared<StreamRing>(50'000);  // a twelfth of the trace
  ASSERT_TRUE((*drain)->Add(std::move(pair.ours), ring).ok());
  std::thread runtime(
      [&trace, fd = std::move(pair.theirs)] { EXPECT_TRUE(Send(fd.get(), trace, 4096)); });
  runtime.join();
  IgnoringSink sink;
  nettrace::Reader reader(&sink);
  while (!ring->exhausted()) {
    StreamRing::Item item;
    while (ring->Pop(item)) {
      if (item.skipped_bytes != 0) reader.SkipDiscarded(item.skipped_bytes, item.skipped_blocks);
      ASSERT_TRUE(reader.Feed(item.bytes).ok());
    }
    if (!ring->exhausted()) {
      ASSERT_TRUE(WaitFor(**drain));
    }
  }
  reader.Finish();
  EXPECT_TRUE(reader.ended());
  EXPECT_EQ(reader.events() + reader.dropped(), uint64_t{kBlocks * kPerBlock});
}

TEST(Drain, RemovingARingClosesItsSocketWhileItIsRead) {
  auto drain = Drain::Start();
  ASSERT_TRUE(drain.ok());
  Pair pair = Sockets();
  auto ring = std::make_shared<StreamRing>(50'000);
  ASSERT_TRUE((*drain)->Add(std::move(pair.ours), ring).ok());
  const std::string trace = Trace();
  std::thread runtime([&trace, fd = std::move(pair.theirs)] {
    while (Send(fd.get(), trace, 4096)) {
    }
  });
  ASSERT_TRUE(WaitFor(**drain));
  (*drain)->Remove(ring);
  runtime.join();  // it was told that nobody listens
  StreamRing::Item item;
  while (ring->Pop(item)) {
  }
  EXPECT_TRUE(ring->exhausted());
}

}  // namespace
}  // namespace clrscope::capture
