// SPDX-License-Identifier: Apache-2.0
// Captures of requests: round trips, older ones, damaged ones.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/schema.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::LabelKey;
using profile::LabelSet;
using profile::RouteKind;
using testing::TempFile;

void AddRequests(StringPool& strings, profile::ProcessTables& t, uint32_t seed, size_t routes) {
  auto random = [engine = std::mt19937(seed)]() mutable { return static_cast<uint32_t>(engine()); };
  for (size_t i = t.requests.routes.size(); i < routes; ++i) {
    t.requests.routes.push_back({static_cast<RouteKind>(random() % 6), strings.Intern("GET"),
                                 strings.Intern("/r\u00e9/{" + std::to_string(i) + "}"),
                                 static_cast<int64_t>(random())});
    (void)t.labels.Find(LabelSet()
                            .With(LabelKey::kRequest, i + 1)
                            .With(LabelKey::kDuration, random() % 434)
                            .With(LabelKey::kRequestPart, random() % 5)
                            .With(LabelKey::kStatus, profile::StatusLabel(404, false)));
  }
  for (size_t i = t.requests.operations.size(); i < routes / 2; ++i) {
    t.requests.operations.push_back(strings.Intern("HTTP h\u00e9:" + std::to_string(i)));
    (void)t.labels.Find(
        LabelSet().With(LabelKey::kRequestPart, 9).With(LabelKey::kOperation, i + 1));
  }
  t.requests.slowest.clear();
  for (size_t i = 0; i < std::min<size_t>(2 * routes, profile::RequestTables::kMostSlow); ++i)
    t.requests.slowest.push_back(
        {static_cast<int64_t>(random()) - (1 << 30), static_cast<int64_t>(random()),
         static_cast<uint32_t>(random() % routes), "/r/" + std::to_string(random()),
         random() % 2 == 0, random(), static_cast<double>(random()), static_cast<double>(random()),
         random(), static_cast<int64_t>(random()), static_cast<int64_t>(random()),
         static_cast<int64_t>(random()) - 9, static_cast<int64_t>(random()) - 9});
  ++t.requests.changes;
}

auto SlowFields(const profile::SlowRequest& r) {
  return std::tuple(r.start_ns, r.duration_ns, r.route, r.path, r.finished, r.samples, r.bytes,
                    r.objects, r.exceptions, r.lock_wait_ns, r.gc_waited_ns, r.queued_ns,
                    r.awaiting_ns);
}

void ExpectSame(const profile::Recording& want, const profile::Recording& got) {
  ASSERT_EQ(got.processes.size(), want.processes.size());
  for (size_t p = 0; p < want.processes.size(); ++p) {
    const profile::RequestTables &a = want.processes[p]->requests, &b = got.processes[p]->requests;
    ASSERT_EQ(b.routes.size(), a.routes.size());
    for (size_t i = 0; i < a.routes.size(); ++i) {
      EXPECT_EQ(b.routes[i].kind, a.routes[i].kind);
      EXPECT_EQ(got.strings.Get(b.routes[i].method), want.strings.Get(a.routes[i].method));
      EXPECT_EQ(got.strings.Get(b.routes[i].text), want.strings.Get(a.routes[i].text));
      EXPECT_EQ(b.routes[i].max_ns, a.routes[i].max_ns);
      EXPECT_EQ(b.routes[i].of, a.routes[i].of);
    }
    ASSERT_EQ(b.operations.size(), a.operations.size());
    for (size_t i = 0; i < a.operations.size(); ++i)
      EXPECT_EQ(got.strings.Get(b.operations[i]), want.strings.Get(a.operations[i]));
    ASSERT_EQ(b.slowest.size(), a.slowest.size());
    for (size_t i = 0; i < a.slowest.size(); ++i)
      EXPECT_EQ(SlowFields(b.slowest[i]), SlowFields(a.slowest[i]));
    EXPECT_EQ(got.processes[p]->labels.sets(), want.processes[p]->labels.sets());
  }
}

TEST(CaptureRequests, ComeBackAsTheyWereAtTheLastCommit) {
  TempFile file;
  profile::Recording recording;
  for (uint32_t p = 0; p < 3; ++p)
    recording.processes.push_back(testing::MakeProcess(recording.strings, p, 5));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  for (uint32_t second = 1; second <= 6; ++second) {
    // Not all at a time, and one of them never.
    for (uint32_t p = 0; p < 2; ++p)
      if (second % (p + 1) == 0)
        AddRequests(recording.strings, *recording.processes[p], second * 10 + p, second * 20);
    ASSERT_TRUE((*writer)->Commit(second * kSecond).ok());
  }
  recording.processes[0]->requests.routes[3].max_ns = 77;  // the longest so far
  ++recording.processes[0]->requests.changes;
  ASSERT_TRUE((*writer)->Finish(true).ok());
  writer->reset();
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->schema_version(), kSchemaVersion);
  ExpectSame(recording, (*reader)->recording());
  EXPECT_EQ((*reader)->recording().processes[0]->requests.slowest.size(),
            profile::RequestTables::kMostSlow);
}

TEST(CaptureRequests, OneOfSchema2StillReads) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(testing::MakeProcess(recording.strings, 1, 40));
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
  }
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    ASSERT_TRUE(db->Execute("update meta set value=2 where key='schema_version'; "
                            "drop table route; drop table slow_request")
                    .ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->schema_version(), 2);
  EXPECT_TRUE((*reader)->recording().processes[0]->requests.routes.empty());
  EXPECT_EQ((*reader)->recording().processes[0]->series.keys(),
            recording.processes[0]->series.keys());
}

TEST(CaptureRequests, DamagedOnesAreRefused) {
  const auto damaged = [](const char* attack) {
    TempFile file;
    profile::Recording recording;
    recording.processes.push_back(testing::MakeProcess(recording.strings, 1, 1));
    AddRequests(recording.strings, *recording.processes[0], 4, 30);
    {
      auto writer = CaptureWriter::Create(file.str(), &recording);
      EXPECT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
    }
    {
      auto db = Database::Open(file.str(), Database::Mode::kCreate);
      EXPECT_TRUE(db->Execute(attack).ok()) << attack;
    }
    auto reader = CaptureReader::Open(file.str());
    if (reader.ok()) return std::string();
    EXPECT_EQ(reader.error().code, ErrorCode::kCorrupt);
    return reader.error().message;
  };
  EXPECT_EQ(damaged("select 1"), "");
  for (const char* attack :
       {"delete from route where id=7", "update route set id=100 where id=29",
        "update route set kind=7 where id=1", "update route set kind=6,template=1 where id=1",
        "update route set kind=-1 where id=1", "update route set id=-1 where id=0"})
    EXPECT_NE(damaged(attack).find("routes"), std::string::npos) << attack;
  for (const char* attack :
       {"update slow_request set route=30 where rowid=3", "update slow_request set route=-1",
        "insert into slow_request select a.* from slow_request a, slow_request b",
        "update slow_request set samples=-5 where rowid=2", "update slow_request set exceptions=-5",
        "update slow_request set bytes=-1", "update slow_request set objects=-1",
        "update slow_request set lock_wait_ns=-1",
        "update slow_request set gc_waited_ns=-9223372036854775807",
        "update slow_request set duration_ns=-1"})
    EXPECT_NE(damaged(attack).find("slowest requests"), std::string::npos) << attack;
  // Other processes than there are: nobody's.
  EXPECT_EQ(damaged("update slow_request set process=9; update route set process=-4"), "");
  EXPECT_EQ(damaged("update route set text=zeroblob(10), method=null, max_ns='x'"), "");
  EXPECT_EQ(damaged("update slow_request set path=null"), "");
}

}  // namespace
}  // namespace clrscope::store
