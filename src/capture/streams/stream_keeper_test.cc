// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nettrace/reader.h"
#include "nettrace/testing/collecting_sink.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

using nettrace::testing::EventRowSpec;
using nettrace::testing::IgnoringSink;
using nettrace::testing::SyntheticWriter;
using nettrace::testing::WriterOptions;

constexpr uint64_t kEvents = 1000;

// 200 event blocks that end at every alignment, so that a block's padding depends on its place.
std::string Trace(uint32_t version) {
  WriterOptions options;
  options.version = version;
  SyntheticWriter w(options);
  w.Metadata({{1, "P", 7, 0, "", 0, 4, "", 0}});
  int64_t time = 2000;
  for (size_t block = 0; block < kEvents / 5; ++block) {
    std::vector<EventRowSpec> rows;
    for (size_t i = 0; i < 5; ++i) {
      EventRowSpec row;
      row.time = time++;
      row.payload = std::string(100 + block % 7, 'x');
      rows.push_back(row);
    }
    w.Events(rows);
  }
  w.SequencePoint(time, w.Sequences()).End();
  return w.str();
}

// As the decoder does it: what the ring gives, to the reader and to the file.
void Keep(StreamRing& ring, StreamKeeper::File& file) {
  IgnoringSink sink;
  nettrace::Reader reader(&sink);
  StreamRing::Item item;
  while (ring.Pop(item)) {
    if (item.skipped_bytes != 0) reader.SkipDiscarded(item.skipped_bytes, item.skipped_blocks);
    ASSERT_TRUE(reader.Feed(item.bytes).ok());
    file.Append(std::move(item), reader.info().version);
  }
}

class StreamKeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "keeper-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  std::string Contents(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  std::string dir_;
};

TEST_F(StreamKeeperTest, TheFileIsTheStreamWhenNothingWasDiscarded) {
  const std::string trace = Trace(4);
  StreamKeeper keeper(Path("x"), false);
  auto file = keeper.Create("");
  ASSERT_TRUE(file.ok()) << file.error().message;
  StreamRing ring;
  for (size_t at = 0; at < trace.size(); at += 777)
    ring.Push(AsBytes(trace.data() + at, std::min<size_t>(777, trace.size() - at)));
  ring.Close();
  Keep(ring, **file);
  keeper.Finish();
  EXPECT_FALSE((*file)->error());
  EXPECT_EQ((*file)->bytes_written(), trace.size());
  EXPECT_EQ(Contents("x.nettrace"), trace);
}

TEST_F(StreamKeeperTest, AFileWithGapsIsReadToItsEndAndTheGapsAreCounted) {
  for (const uint32_t version : {4u, 5u, 6u}) {
    const std::string trace = Trace(version);
    StreamKeeper keeper(Path("gaps"), true);
    auto file = keeper.Create("");
    ASSERT_TRUE(file.ok());
    StreamRing ring(20'000);  // full most of the time
    constexpr size_t kPiece = 50'000;
    for (size_t at = 0; at < trace.size(); at += kPiece) {
      ring.Push(AsBytes(trace.data() + at, std::min(kPiece, trace.size() - at)));
      if (at + kPiece >= trace.size()) ring.Close();
    }
    Keep(ring, **file);
    keeper.Finish();
    const std::string kept = Contents("gaps.nettrace");
    ASSERT_LT(kept.size(), trace.size() / 2);
    IgnoringSink sink;
    nettrace::Reader reader(&sink);
    const Status status = reader.Feed(AsBytes(kept.data(), kept.size()));
    EXPECT_TRUE(status.ok()) << version << ": " << status.error().message;
    reader.Finish();
    EXPECT_TRUE(reader.ended()) << version;
    EXPECT_GT(reader.events(), 0u);
    EXPECT_LT(reader.events(), kEvents);
    EXPECT_EQ(reader.events() + reader.dropped(), kEvents) << version;
  }
}

TEST_F(StreamKeeperTest, AnAlignmentBlockEndsWhereItIsToldTo) {
  for (uint64_t offset = 100; offset < 104; ++offset)
    for (uint64_t alignment = 0; alignment < 4; ++alignment)
      EXPECT_EQ((offset + AlignmentBlock(offset, alignment).size()) % 4, alignment) << offset;
}

TEST_F(StreamKeeperTest, AFullDiskIsToldAndEveryByteThatIsNotKeptIsCounted) {
  ASSERT_EQ(::symlink("/dev/full", Path("x.nettrace").c_str()), 0);
  StreamKeeper keeper(Path("x"), true);
  auto file = keeper.Create("");
  ASSERT_TRUE(file.ok()) << file.error().message;
  for (int i = 0; i < 10; ++i) (*file)->Append({std::vector<std::byte>(1000), 0, 0}, 4);
  keeper.Finish();
  ASSERT_TRUE((*file)->error());
  EXPECT_NE((*file)->error()->message.find("No space left"), std::string::npos);
  EXPECT_EQ((*file)->bytes_lost(), 10'000u);
}

TEST_F(StreamKeeperTest, AStalledDiskHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo(Path("x.nettrace").c_str(), 0600), 0);
  const int reader = ::open(Path("x.nettrace").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  StreamKeeper keeper(Path("x"), true, 300'000);
  auto file = keeper.Create("");
  ASSERT_TRUE(file.ok()) << file.error().message;
  // Nobody reads the pipe: the writer stands still, and this thread goes on.
  for (int i = 0; i < 20; ++i) (*file)->Append({std::vector<std::byte>(100'000), 0, 0}, 4);
  ::close(reader);
  keeper.Finish();
  ASSERT_TRUE((*file)->error());
  EXPECT_NE((*file)->error()->message.find("too slow"), std::string::npos);
  EXPECT_EQ((*file)->bytes_written() + (*file)->bytes_lost(), 2'000'000u);
  EXPECT_GT((*file)->bytes_lost(), 1'600'000u);
}

TEST_F(StreamKeeperTest, ExistingFilesStayUnlessTheyMayBeReplaced) {
  std::ofstream(Path("x.nettrace")) << "mine";
  StreamKeeper keeper(Path("x"), false);
  auto first = keeper.Create(""), second = keeper.Create("");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)->path(), Path("x.2.nettrace"));
  EXPECT_EQ((*second)->path(), Path("x.3.nettrace"));
  EXPECT_EQ(Contents("x.nettrace"), "mine");
  StreamKeeper replacing(Path("x"), true);
  auto over = replacing.Create(""), next = replacing.Create("");
  ASSERT_TRUE(over.ok() && next.ok());
  EXPECT_EQ((*over)->path(), Path("x.nettrace"));
  EXPECT_EQ((*next)->path(), Path("x.2.nettrace"));  // its own file it never writes over
  EXPECT_EQ(Contents("x.nettrace"), "");
}

}  // namespace
}  // namespace clrscope::capture
