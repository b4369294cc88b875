// SPDX-License-Identifier: Apache-2.0
// Captures that are cut off, damaged or of another kind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/units.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::Slice;
using testing::AddTo;
using testing::MakeProcess;
using testing::RandomSlice;
using testing::TempFile;
using testing::Totals;

TEST(Capture, KilledWriterLeavesEverythingUpToItsLastCommit) {
  TempFile file;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    profile::Recording recording;
    recording.processes.push_back(MakeProcess(recording.strings, 1, 20));
    auto writer = CaptureWriter::Create(file.str(), &recording);
    if (!writer.ok()) ::_exit(1);
    std::mt19937 random(4);
    for (int64_t second = 0;; ++second) {
      (*writer)->OnSlice(
          RandomSlice(random, *recording.processes[0], second * kSecond, (second + 1) * kSecond));
      if (second % 4 != 3) continue;  // some wait in memory at any time
      if (!(*writer)->Commit((second + 1) * kSecond).ok()) ::_exit(2);
      const int64_t done = second + 1;
      if (::write(pipe_ends[1], &done, sizeof(done)) != sizeof(done)) ::_exit(3);
    }
  }
  ::close(pipe_ends[1]);
  int64_t committed = 0;
  for (int64_t n; committed < 200 && ::read(pipe_ends[0], &n, sizeof(n)) == sizeof(n);)
    committed = n;
  ::kill(child, SIGKILL);
  for (int64_t n; ::read(pipe_ends[0], &n, sizeof(n)) == sizeof(n);) committed = n;
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));

  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_FALSE((*reader)->recording().complete);
  const int64_t end = (*reader)->recording().end_ns / kSecond;
  EXPECT_GE(end, committed);
  EXPECT_LE(end, committed + 4) << "one commit may have ended unannounced";
  std::mt19937 random(4);
  StringPool strings;
  const auto tables = MakeProcess(strings, 1, 20);
  Totals want, got;
  for (int64_t second = 0; second < end; ++second)
    AddTo(want, RandomSlice(random, *tables, second * kSecond, (second + 1) * kSecond));
  ASSERT_TRUE((*reader)->ForEachSlice({}, [&](const Slice& s) { AddTo(got, s); }).ok());
  EXPECT_EQ(got, want);
}

TEST(Capture, OtherFilesAreRefused) {
  TempFile file;
  EXPECT_EQ(CaptureReader::Open(file.str()).error().code, ErrorCode::kNotFound);
  std::ofstream(file.str()) << "not a database at all, but long enough to be looked at";
  auto text = CaptureReader::Open(file.str());
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, ErrorCode::kCorrupt);
  TempFile plain;
  auto db = Database::Open(plain.str(), Database::Mode::kCreate);
  ASSERT_TRUE(db.ok() && db->Execute("create table meta(key, value)").ok());
  EXPECT_FALSE(CaptureReader::Open(plain.str()).ok());
}

TEST(Capture, NewerSchemaAsksForAnUpdate) {
  TempFile file;
  profile::Recording recording;
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
  writer->reset();
  auto db = Database::Open(file.str(), Database::Mode::kCreate);
  ASSERT_TRUE(db->Execute("update meta set value=99 where key='schema_version'").ok());
  auto reader = CaptureReader::Open(file.str());
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code, ErrorCode::kRefused);
  EXPECT_NE(reader.error().message.find("update clrscope"), std::string::npos);
}

TEST(Capture, HostileViewsAndBlobsAreRefusedQuickly) {
  for (const char* attack :
       {"drop table process; create view process as with recursive c(x) as (select 1 union all "
        "select x+1 from c) "
        "select x id,x pid,'' name,'' command_line,'' runtime,'' os,'' arch,8 pointer_size,0 "
        "start_ns,0 end_ns,0 complete,0 sizes_unknown,0 measures from c",
        "insert into process values(0,1,'','','','','',8,0,0,0,0,0); insert into dictionary "
        "values(0,'node',4,1000000000,zeroblob(10))",
        "insert into process values(0,1,'','','','','',8,0,0,0,0,0); insert into dictionary "
        "values(0,'node',4,0,x'28b52ffd2000010000')",
        "insert into slice values(1,7,0,1,1,1,x'00')", "insert into type values(0,5,5,'x')"}) {
    TempFile file;
    profile::Recording recording;
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
    writer->reset();
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    ASSERT_TRUE(db->Execute(attack).ok()) << attack;
    auto reader = CaptureReader::Open(file.str());
    const bool whole = reader.ok() && (*reader)->ForEachSlice({}, [](const Slice&) {}).ok();
    EXPECT_FALSE(whole) << attack;
  }
}

// A capture of a process with one series, and what comes instead of it: (source, label).
std::string MessageOf(uint64_t source, uint64_t label, bool with_label) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 0));
  if (with_label)
    (void)recording.processes[0]->labels.Find(
        profile::LabelSet{}.With(profile::LabelKey::kThread, 7));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  EXPECT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
  writer->reset();
  ColumnWriter w;
  for (const uint64_t v : {uint64_t{2}, uint64_t{0}, source << 2, label, uint64_t{0}})
    w.Unsigned(v);
  const std::string blob = w.Finish();
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    auto insert = db->Prepare("insert into dictionary values(0,'series',0,1,?)");
    insert->Bind(0, AsBytes(blob.data(), blob.size()));
    EXPECT_TRUE(insert->Run().ok());
  }
  auto reader = CaptureReader::Open(file.str());
  return reader.ok() ? "" : reader.error().message;
}

TEST(Capture, UnknownEventsAndLabelsAreRefused) {
  const auto event = static_cast<uint64_t>(profile::Source::kException);
  EXPECT_EQ(MessageOf(event, 0, false), "");
  EXPECT_EQ(MessageOf(event, profile::LabelTable::kOther, false), "");
  EXPECT_EQ(MessageOf(event, 2, true), "");
  for (const auto& [source, label] :
       {std::pair<uint64_t, uint64_t>{profile::kSources, 0}, {15, 0}, {1 << 20, 0}})
    EXPECT_NE(MessageOf(source, label, true).find("is damaged: a series' event"), std::string::npos)
        << source;
  for (const uint64_t label : {uint64_t{3}, uint64_t{65'536 + 2}, ~uint64_t{0}})
    EXPECT_NE(MessageOf(event, label, true).find("is damaged: a series' labels"), std::string::npos)
        << label;
}

TEST(Capture, LabelsOutOfOrderAreRefused) {
  for (const char* attack :
       {"update dictionary set first=first+1 where kind='label'",
        "insert into dictionary select process,kind,first,count,data from dictionary where "
        "kind='label'",
        "update dictionary set count=60000 where kind='label'",
        "update dictionary set data=substr(data,1,length(data)-3) where kind='label'"}) {
    TempFile file;
    profile::Recording recording;
    recording.processes.push_back(MakeProcess(recording.strings, 1, 1));
    for (uint64_t thread = 1; thread < 100; ++thread)
      (void)recording.processes[0]->labels.Find(
          profile::LabelSet{}.With(profile::LabelKey::kThread, thread * thread << 20));
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
    writer->reset();
    {
      auto db = Database::Open(file.str(), Database::Mode::kCreate);
      ASSERT_TRUE(db->Execute(attack).ok()) << attack;
    }
    auto reader = CaptureReader::Open(file.str());
    ASSERT_FALSE(reader.ok()) << attack;
    EXPECT_EQ(reader.error().code, ErrorCode::kCorrupt) << attack;
    EXPECT_NE(reader.error().message.find("damaged"), std::string::npos) << reader.error().message;
  }
}

TEST(Capture, FailedCommitIsTheLast) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Commit(kSecond).ok());
  auto other = Database::Open(file.str(), Database::Mode::kCreate);
  ASSERT_TRUE(other->Execute("drop table gc").ok());
  profile::GcRecord gc;
  gc.end_ns = 1;
  for (int i = 0; i < 20; ++i) recording.processes[0]->gcs.push_back(gc);
  EXPECT_FALSE((*writer)->Commit(2 * kSecond).ok());
  ASSERT_TRUE(other
                  ->Execute("create table gc(process integer, number integer, generation integer, "
                            "type integer, reason integer, "
                            "start_ns integer, end_ns integer, gen0_bytes integer, gen1_bytes "
                            "integer, gen2_bytes integer, "
                            "loh_bytes integer, poh_bytes integer)")
                  .ok());
  EXPECT_FALSE((*writer)->Commit(3 * kSecond).ok()) << "the dictionaries would have holes";
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->recording().end_ns, kSecond);
}

}  // namespace
}  // namespace clrscope::store
