// SPDX-License-Identifier: Apache-2.0
// Captures on disk: codecs, round trips, compaction, a writer that is killed, files that are
// damaged.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "analysis/bind.h"
#include "analysis/interval_fold.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/slice_codec.h"

namespace clrscope::store {
namespace {

namespace fs = std::filesystem;
using profile::HeapKind;
using profile::SeriesKey;
using profile::Slice;
using profile::Source;

constexpr int64_t kSecond = 1'000'000'000;

class TempFile {
 public:
  TempFile() {
    static int number = 0;
    path_ = fs::temp_directory_path() /
            ("clrscope_store_test." + std::to_string(::getpid()) + "." + std::to_string(number++));
    Remove();
  }
  ~TempFile() { Remove(); }
  std::string str() const { return path_.string(); }

 private:
  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path_.string() + suffix);
  }
  fs::path path_;
};

// A process with some stacks, types, methods and series; the same for the same seed.
std::unique_ptr<profile::ProcessTables> MakeProcess(StringPool& strings, uint32_t seed,
                                                    size_t series) {
  std::mt19937 random(seed);
  auto t = std::make_unique<profile::ProcessTables>();
  t->info.pid = 100 + seed;
  t->info.name = strings.Intern("app" + std::to_string(seed));
  t->types.push_back({0x7000, strings.Intern("System.String")});
  t->types.push_back({0x7008, {}});
  t->code.AddModule({5, strings.Intern("/app/App.dll"), {}, strings.Intern("00ff")});
  for (uint64_t i = 0; i < 10; ++i) {
    profile::MethodCode m;
    m.start = 0x1000 + i * 0x100;
    m.size = 0x100;
    m.method_id = i;
    m.module_id = 5;
    m.owner = strings.Intern("App.Type");
    m.name = strings.Intern("M" + std::to_string(i));
    m.signature = strings.Intern("void  ()");
    t->code.Add(m);
  }
  bool capped = false;
  for (size_t i = 0; i < series; ++i) {
    std::vector<uint64_t> ips(1 + random() % 8);
    for (uint64_t& ip : ips) ip = 0x1000 + random() % 0xA00;
    const uint32_t node =
        t->stacks.Fold(reinterpret_cast<const std::byte*>(ips.data()),
                       static_cast<uint32_t>(ips.size()), 8, 1, static_cast<int64_t>(i));
    const uint64_t size = 8 * (1 + random() % 20000);
    (void)t->series.Find(
        SeriesKey::Make(node, static_cast<uint32_t>(random() % 3),
                        static_cast<HeapKind>(random() % 4), static_cast<Source>(1 + random() % 3),
                        profile::SizeClass(size)),
        size, profile::StackTree::kOther, &capped);
  }
  return t;
}

Slice RandomSlice(std::mt19937& random, const profile::ProcessTables& t, int64_t start, int64_t end,
                  bool wild = false) {
  Slice s;
  s.start_ns = start;
  s.end_ns = end;
  for (uint32_t i = 0; i < t.series.keys().size(); ++i) {
    if (random() % 3 != 0) continue;
    profile::Sums sums{1 + random() % 50, random() % 100000, random() % 1000000};
    if (wild && random() % 2 == 0)
      sums = {1 + (uint64_t{random()} << 31), uint64_t{random()} << 32 | random(),
              ~uint64_t{0} - random()};
    s.rows.push_back({i, sums});
  }
  for (uint64_t thread = 1; thread < 6; ++thread) {
    if (random() % 2 == 0) continue;
    for (const Source source : {Source::kTick, Source::kSampled, Source::kCounted}) {
      profile::Estimate e = profile::EstimateSampled(1 + random() % 9, 24);
      if (source != Source::kSampled)
        e = profile::EstimateTick(2, static_cast<double>(random()), wild ? 0.3 : 8);
      s.threads.push_back({wild ? thread << 60 : thread, HeapKind::kLoh, source, e});
    }
  }
  return s;
}

TEST(ColumnCodec, NumbersOfAllShapesReadBack) {
  std::mt19937_64 random(1);
  ColumnWriter w;
  std::vector<uint64_t> unsigneds = {0, 1, 127, 128, ~uint64_t{0}};
  std::vector<int64_t> signeds = {0, -1, 1, INT64_MIN, INT64_MAX};
  std::vector<double> numbers = {0, 1, 0.5, -3, 1e15, 1e15 - 1, 1e300, -0.25, 123456789};
  for (int i = 0; i < 1000; ++i) {
    unsigneds.push_back(random() >> (random() % 64));
    signeds.push_back(static_cast<int64_t>(random() >> (random() % 64)));
    numbers.push_back(static_cast<double>(random() % 1000000) /
                      (1 + static_cast<double>(random() % 4)));
  }
  for (const uint64_t v : unsigneds) w.Unsigned(v);
  for (const int64_t v : signeds) w.Signed(v);
  for (const double v : numbers) w.Number(v);
  w.Float(1.5f);
  const std::string blob = w.Finish();
  auto r = ColumnReader::Open(AsBytes(blob.data(), blob.size()));
  ASSERT_TRUE(r.ok());
  for (const uint64_t v : unsigneds) ASSERT_EQ(r->Unsigned(), v);
  for (const int64_t v : signeds) ASSERT_EQ(r->Signed(), v);
  for (const double v : numbers) ASSERT_EQ(r->Number(), v);
  EXPECT_EQ(r->Float(), 1.5f);
  EXPECT_TRUE(r->ok());
  (void)r->Unsigned();
  EXPECT_FALSE(r->ok());
}

TEST(SliceCodec, AnySliceReadsBackExactly) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    StringPool strings;
    const auto t = MakeProcess(strings, seed, random() % 60);
    const Slice want = RandomSlice(random, *t, 0, kSecond, seed % 2 == 1);
    const std::string blob = EncodeSlice(want, t->series);
    Slice got;
    ASSERT_TRUE(DecodeSlice(AsBytes(blob.data(), blob.size()), t->series, got).ok());
    ASSERT_EQ(got.rows.size(), want.rows.size());
    for (size_t i = 0; i < want.rows.size(); ++i) {
      ASSERT_EQ(got.rows[i].series, want.rows[i].series);
      ASSERT_EQ(got.rows[i].sums.samples, want.rows[i].sums.samples);
      ASSERT_EQ(got.rows[i].sums.size_sum, want.rows[i].sums.size_sum);
      ASSERT_EQ(got.rows[i].sums.amount_sum, want.rows[i].sums.amount_sum);
    }
    ASSERT_EQ(got.threads.size(), want.threads.size());
    for (size_t i = 0; i < want.threads.size(); ++i) {
      ASSERT_EQ(got.threads[i].thread, want.threads[i].thread);
      ASSERT_EQ(got.threads[i].kind, want.threads[i].kind);
      ASSERT_EQ(got.threads[i].source, want.threads[i].source);
      ASSERT_EQ(got.threads[i].value.samples, want.threads[i].value.samples);
      ASSERT_EQ(got.threads[i].value.bytes, want.threads[i].value.bytes);
      ASSERT_EQ(got.threads[i].value.seen_objects, want.threads[i].value.seen_objects);
      // Errors are kept with the precision of a float.
      if (want.threads[i].source != Source::kSampled) continue;
      const double variance = want.threads[i].value.var_bytes;
      ASSERT_NEAR(got.threads[i].value.var_bytes, variance, 1e-6 * variance);
    }
    // Any damage gives an error or a slice, never more.
    for (int k = 0; k < 20 && !blob.empty(); ++k) {
      std::string bad = blob;
      bad[random() % bad.size()] = static_cast<char>(random());
      Slice ignored;
      (void)DecodeSlice(AsBytes(bad.data(), bad.size()), t->series, ignored);
    }
  }
}

// Every field differs from its default.
profile::Counting Counted() {
  profile::Counting c;
  c.mode = profile::CountMode::kHigh;
  c.ended = c.loh_known = c.gc_known = true;
  c.loh_threshold = 90'000;
  c.events = 1;
  c.aligned_low = 2;
  c.aligned_high = ~uint64_t{0};
  c.added = 4;
  c.added_bytes = 5;
  c.guessed = 6;
  c.guessed_bytes = 7;
  c.threads = 8;
  c.gaps = 9;
  c.gc_bytes = 10;
  c.gc_heaps = 11;
  return c;
}

// What the slices of a capture add up to, by process and series.
using Totals = std::map<std::pair<uint32_t, uint32_t>, std::array<uint64_t, 3>>;
void AddTo(Totals& totals, const Slice& s) {
  for (const profile::SliceRow& r : s.rows) {
    auto& t = totals[{s.process, r.series}];
    t[0] += r.sums.samples;
    t[1] += r.sums.size_sum;
    t[2] += r.sums.amount_sum;
  }
}

TEST(Capture, RoundTripKeepsDictionariesAndSums) {
  TempFile file;
  profile::Recording recording;
  recording.start_unix_ns = 1234567890;
  Totals want;
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    std::mt19937 random(4);
    for (int64_t second = 0; second < 20; ++second) {
      if (second % 7 == 0)  // processes come while it goes on
        recording.processes.push_back(
            MakeProcess(recording.strings, static_cast<uint32_t>(second), 30));
      for (uint32_t p = 0; p < recording.processes.size(); ++p) {
        Slice s =
            RandomSlice(random, *recording.processes[p], second * kSecond, (second + 1) * kSecond);
        s.process = p;
        AddTo(want, s);
        (*writer)->OnSlice(std::move(s));
      }
      if (second == 9)  // named late
        recording.processes[0]->types[2].raw_name = recording.strings.Intern("App.Late");
      if (second == 12) recording.losses.Add(Loss::kEventsDropped, 5);
      ASSERT_TRUE((*writer)->Commit((second + 1) * kSecond).ok());
      EXPECT_EQ((*writer)->pending_bytes(), 0u);
    }
    profile::GcRecord gc;
    gc.number = 3;
    gc.end_ns = 5;
    recording.processes[0]->gcs.push_back(gc);
    recording.processes[0]->losses.Add(Loss::kMissingStack, 2);
    recording.processes[1]->counting = Counted();
    recording.end_ns = 20 * kSecond;
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  EXPECT_FALSE(fs::exists(file.str() + "-wal"));
  EXPECT_TRUE(LooksLikeCapture(file.str()));
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  EXPECT_EQ(read.start_unix_ns, 1234567890);
  EXPECT_EQ(read.end_ns, 20 * kSecond);
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.losses[Loss::kEventsDropped], 5u);
  ASSERT_EQ(read.processes.size(), 3u);
  for (size_t p = 0; p < 3; ++p) {
    const profile::ProcessTables &a = *recording.processes[p], &b = *read.processes[p];
    EXPECT_EQ(b.info.pid, a.info.pid);
    EXPECT_EQ(read.strings.Get(b.info.name), recording.strings.Get(a.info.name));
    ASSERT_EQ(b.stacks.size(), a.stacks.size());
    for (uint32_t n = profile::StackTree::kFirstReal; n < a.stacks.size(); ++n) {
      ASSERT_EQ(b.stacks.parent(n), a.stacks.parent(n));
      const auto &x = a.stacks.addresses()[a.stacks.address_index(n)],
                 &y = b.stacks.addresses()[b.stacks.address_index(n)];
      ASSERT_EQ(y.address, x.address);
      ASSERT_EQ(y.first_ns, x.first_ns);
    }
    ASSERT_EQ(b.series.keys(), a.series.keys());
    ASSERT_EQ(b.series.nominal_sizes(), a.series.nominal_sizes());
    ASSERT_EQ(b.types.size(), a.types.size());
    for (size_t i = 0; i < a.types.size(); ++i)
      EXPECT_EQ(read.strings.Get(b.types[i].raw_name), recording.strings.Get(a.types[i].raw_name));
    EXPECT_EQ(b.code.size(), a.code.size());
    ASSERT_NE(b.code.FindModule(5), nullptr);
  }
  EXPECT_EQ(read.processes[0]->losses[Loss::kMissingStack], 2u);
  EXPECT_EQ(read.processes[0]->counting, profile::Counting());
  EXPECT_EQ(read.processes[1]->counting, Counted());
  ASSERT_EQ(read.processes[0]->gcs.size(), 1u);
  Totals got;
  ASSERT_TRUE((*reader)->ForEachSlice({}, [&](const Slice& s) { AddTo(got, s); }).ok());
  EXPECT_EQ(got, want);
}

TEST(Capture, CollectionsKeepEveryFigureOverCommitsAndCompaction) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 12));
  recording.processes.push_back(MakeProcess(recording.strings, 2, 12));
  constexpr uint32_t kGcs = 1500;
  const auto make = [](uint32_t process, uint32_t number) {
    profile::GcRecord gc;
    gc.number = number;
    gc.start_ns = int64_t{number} * kSecond / 10;
    gc.end_ns = gc.start_ns + 5;
    gc.pause_start_ns = gc.start_ns - 3;
    gc.pause_ns = 7 + number;
    gc.promoted[profile::kGcPoh] = process + number;
    gc.heaps.resize(1 + number % 2);
    gc.top_types.push_back({1, 0, 100 * number});
    return gc;
  };
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    for (uint32_t number = 1; number <= kGcs; ++number) {
      for (uint32_t p = 0; p < 2; ++p) recording.processes[p]->gcs.push_back(make(p, number));
      recording.processes[0]->info.gc.started = number;
      if (number % 7 == 0) {
        ASSERT_TRUE((*writer)->Commit(int64_t{number} * kSecond / 10).ok());
      }
    }
    profile::GcFacts& facts = recording.processes[1]->info.gc;
    facts.hard_limit_bytes = 77;
    facts.pinned_types.push_back({0, recording.strings.Intern("System.Byte[]"), 4, 400});
    recording.end_ns = kGcs * kSecond / 10;
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  for (uint32_t p = 0; p < 2; ++p) {
    const auto& gcs = read.processes[p]->gcs;
    ASSERT_EQ(gcs.size(), kGcs);
    for (uint32_t i = 0; i < kGcs; ++i) {
      const profile::GcRecord want = make(p, i + 1);
      ASSERT_EQ(gcs[i].number, want.number);
      ASSERT_EQ(gcs[i].pause_start_ns, want.pause_start_ns);
      ASSERT_EQ(gcs[i].pause_ns, want.pause_ns);
      ASSERT_EQ(gcs[i].promoted, want.promoted);
      ASSERT_EQ(gcs[i].heaps.size(), want.heaps.size());
      ASSERT_EQ(gcs[i].top_types.at(0).bytes, want.top_types[0].bytes);
    }
  }
  EXPECT_EQ(read.processes[0]->info.gc.started, kGcs);
  EXPECT_EQ(read.processes[1]->info.gc.hard_limit_bytes, 77);
  ASSERT_EQ(read.processes[1]->info.gc.pinned_types.size(), 1u);
  EXPECT_EQ(read.processes[1]->info.gc.pinned_types[0].bytes, 400u);
  // Small blobs were put together.
  auto q = (*reader)->database().Prepare("select count(*) from gc_detail");
  ASSERT_TRUE(q.ok());
  ASSERT_TRUE(*q->Step());
  EXPECT_LE(q->Int(0), 8);
}

TEST(Capture, CompactionToWiderSlicesKeepsEverySum) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 12));
  recording.processes.push_back(MakeProcess(recording.strings, 2, 12));
  Totals want;
  constexpr int64_t kEnd = 3 * 3600;
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    std::mt19937 random(4);
    for (int64_t second = 0; second < kEnd; ++second) {
      if (second % 5 != 0) continue;  // gaps are normal
      Slice s =
          RandomSlice(random, *recording.processes[0], second * kSecond, (second + 1) * kSecond);
      s.process = static_cast<uint32_t>(second % 2);
      AddTo(want, s);
      (*writer)->OnSlice(std::move(s));
      if (second % 30 != 0) continue;
      ASSERT_TRUE((*writer)->Commit((second + 1) * kSecond).ok());
    }
    recording.end_ns = kEnd * kSecond;
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok());
  Totals got;
  std::map<int64_t, int64_t> oldest, youngest;  // by width
  ASSERT_TRUE((*reader)
                  ->ForEachSlice({},
                                 [&](const Slice& s) {
                                   AddTo(got, s);
                                   const int64_t width = (s.end_ns - s.start_ns) / kSecond;
                                   EXPECT_EQ(s.start_ns % (width * kSecond), 0);
                                   if (!oldest.contains(width))
                                     oldest[width] = s.start_ns / kSecond;
                                   oldest[width] = std::min(oldest[width], s.start_ns / kSecond);
                                   youngest[width] = std::max(youngest[width], s.end_ns / kSecond);
                                 })
                  .ok());
  EXPECT_EQ(got, want);
  ASSERT_EQ(oldest.size(), 3u);
  EXPECT_EQ(oldest[60], 0);
  EXPECT_LE(youngest[60], kEnd - 7200);
  EXPECT_LE(youngest[10], kEnd - 600);
  EXPECT_GE(oldest[1], kEnd - 600);
}

TEST(Capture, AProcessThatHasEndedNeedsItsTablesNoLonger) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 12));
  recording.processes.push_back(MakeProcess(recording.strings, 2, 12));
  Totals want;
  constexpr int64_t kEnds = 1000, kEnd = 3 * 3600;  // compacted twice after it has ended
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    std::mt19937 random(4);
    for (int64_t second = 0; second < kEnd; ++second) {
      if (second < kEnds || second % 10 == 0) {
        Slice s = RandomSlice(random, *recording.processes[second < kEnds ? 0 : 1],
                              second * kSecond, (second + 1) * kSecond);
        s.process = second < kEnds ? 0 : 1;
        AddTo(want, s);
        (*writer)->Add(s);
      }
      if (second == kEnds) {
        recording.processes[0]->losses.Add(Loss::kTargetLost);
        (*writer)->Retire(0);
      }
      if (second % 30 != 0 && second != kEnds) continue;
      ASSERT_TRUE((*writer)->Commit((second + 1) * kSecond).ok());
      if (second == kEnds) recording.processes[0]->Release();
    }
    recording.end_ns = kEnd * kSecond;
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  EXPECT_EQ(read.strings.Get(read.processes[0]->info.name), "app1");
  EXPECT_EQ(read.processes[0]->series.keys().size(), 12u);
  EXPECT_EQ(read.processes[0]->losses[Loss::kTargetLost], 1u);
  EXPECT_NE(read.processes[0]->code.size(), 0u);
  Totals got;
  ASSERT_TRUE((*reader)->ForEachSlice({}, [&](const Slice& s) { AddTo(got, s); }).ok());
  EXPECT_EQ(got, want);
}

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

TEST(Capture, BackgroundGcIsWrittenOnceItEnded) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 1));
  profile::GcRecords& gcs = recording.processes[0]->gcs;
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  for (uint32_t number = 1; number <= 50; ++number) {
    profile::GcRecord gc;
    gc.number = number;
    gc.start_ns = number;
    if (number != 2) gc.end_ns = number + 1;
    gcs.push_back(gc);
    ASSERT_TRUE((*writer)->Commit(number).ok());
    EXPECT_LE(gcs.size(), 9u);
  }
  ASSERT_EQ(gcs.front().number, 2u);
  gcs.front().end_ns = 1000;
  ASSERT_TRUE((*writer)->Finish(true).ok());
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok());
  const auto& read = (*reader)->recording().processes[0]->gcs;
  ASSERT_EQ(read.size(), 50u);
  EXPECT_EQ(read[1].number, 2u);
  EXPECT_EQ(read[1].end_ns, 1000);
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
        "start_ns,0 end_ns,0 complete,0 sizes_unknown from c",
        "insert into process values(0,1,'','','','','',8,0,0,0,0); insert into dictionary "
        "values(0,'node',4,1000000000,zeroblob(10))",
        "insert into process values(0,1,'','','','','',8,0,0,0,0); insert into dictionary "
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

TEST(Capture, OneOfBeforeTypesWereCountedStillReads) {
  TempFile file;
  profile::Recording recording;
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    recording.processes.push_back(MakeProcess(recording.strings, 1, 3));
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file.str().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, "drop table counting", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->recording().processes[0]->counting, profile::Counting());
}

// What the agent told comes back, however long ago it was: flows and turnover add up over the
// intervals that were merged, what lives is the last state.
TEST(CaptureTest, IntervalsOfTheAgentComeBack) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  analysis::IntervalFold fold(&recording, 0, writer->get(), true);
  constexpr uint32_t kFrames = 1'000;  // of 10 s
  double allocated = 0, deaths = 0;
  for (uint32_t i = 0; i < kFrames; ++i) {
    profile::IntervalFrame f;
    f.sequence = i;
    f.start_ns = i * 10 * kSecond;
    f.end_ns = f.start_ns + 10 * kSecond;
    f.live = true;
    f.first_method = i;
    f.first_type = f.first_node = i + 1;
    f.methods = {{"App", "00", "M" + std::to_string(i), "", 0, 0}};
    f.types = {{i + 1, "T" + std::to_string(i), ""}};
    f.nodes = {{i, i}};
    f.flows = {{i + 1, i + 1, HeapKind::kSoh, profile::EstimateSampled(1, 64)},
               {1, 1, HeapKind::kLoh, profile::EstimateSampled(2, 100'000)}};
    f.lives = {{1, 1, HeapKind::kLoh, 3, false, 3, 2, 0, i, 0, 0,
                profile::EstimateSampled(i + 1, 100'000)}};
    f.turnover = {{1, 1, 2, {}, profile::EstimateSampled(1, 100'000), 5}};
    f.cpu.process_ns = 100;
    allocated += f.flows[0].value.bytes + f.flows[1].value.bytes;
    deaths += f.turnover[0].deaths.bytes;
    ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
    recording.end_ns = (i + 1) * 10 * kSecond;
    if (i % 7 == 0) {
      ASSERT_TRUE((*writer)->Commit(recording.end_ns).ok());
    }
  }
  ASSERT_TRUE((*writer)->Finish(true).ok());

  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::AgentTables& agent = (*reader)->recording().processes[0]->agent;
  ASSERT_EQ(agent.nodes.size(), kFrames + 1);
  EXPECT_EQ(agent.methods[999].method, "M999");
  EXPECT_EQ(agent.types[1000].name, "T999");
  analysis::Aggregate aggregate(&(*reader)->recording());
  size_t intervals = 0;
  double dead = 0;
  int64_t last_end = 0;
  ASSERT_TRUE((*reader)
                  ->ForEachInterval({},
                                    [&](profile::AgentInterval&& i) {
                                      EXPECT_EQ(i.start_ns(), last_end) << "no gap, no overlap";
                                      last_end = i.end_ns();
                                      ++intervals;
                                      for (const auto& t : i.frame.turnover) dead += t.deaths.bytes;
                                      aggregate.Add(i);
                                    })
                  .ok());
  EXPECT_LT(intervals, 250u);
  EXPECT_EQ(last_end, 10'000 * kSecond);
  EXPECT_NEAR(dead, deaths, 1e-6 * deaths);
  const profile::Profile p = analysis::Bind((*reader)->recording(), aggregate);
  ASSERT_EQ(p.lives.size(), 1u);
  EXPECT_EQ(p.lives[0].value.samples, kFrames);
  double bytes = 0;
  for (const auto& [key, value] : aggregate.agents().at(0).flows) bytes += value.bytes;
  EXPECT_NEAR(bytes, allocated, 1e-6 * allocated);
  int64_t cpu = 0;
  for (const profile::GcCpuRow& r : p.gc_cpu) cpu += r.process_ns;
  EXPECT_EQ(cpu, 100 * kFrames);
}

}  // namespace
}  // namespace clrscope::store
