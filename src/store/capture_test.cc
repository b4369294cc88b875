// SPDX-License-Identifier: Apache-2.0
// Captures on disk: round trips and compaction.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>
#include <random>

#include "base/units.h"
#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/column_codec.h"
#include "store/schema.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

namespace fs = std::filesystem;
using profile::Slice;
using testing::AddTo;
using testing::MakeProcess;
using testing::RandomSlice;
using testing::TempFile;
using testing::Totals;

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

TEST(Capture, PlacesOfAddressesAreKeptAsTheyChange) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  profile::ProcessTables& t = *recording.processes.front();
  StringPool& s = recording.strings;
  const uint32_t source = t.places.FileOf(
      {s.Intern("/src/A.cs"), s.Intern("sha256:00"), s.Intern("https://a"), s.Intern("text")});
  const profile::Place line{{}, 12, 20, source, 34, profile::Place::Sure::kAfterThrow};
  profile::Place native;
  native.symbol = s.Intern("memset");
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    t.places.Set(1, {{}, 12, 20, 0, 0, profile::Place::Sure::kExact});
    ASSERT_TRUE((*writer)->Commit(1).ok());
    t.places.Set(1, line);
    t.places.Set(0, native);
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  const auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok());
  const profile::Recording& read = (*reader)->recording();
  const profile::Places& places = read.processes.front()->places;
  ASSERT_NE(places.At(0), nullptr);
  EXPECT_EQ(read.strings.Get(places.At(0)->symbol), "memset");
  const profile::Place* const at = places.At(1);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->il_offset, 12);
  EXPECT_EQ(at->il_next, 20u);
  EXPECT_EQ(at->line, 34u);
  EXPECT_EQ(at->sure, profile::Place::Sure::kAfterThrow);
  const profile::SourceFile& f = places.files().at(at->file);
  EXPECT_EQ(read.strings.Get(f.path), "/src/A.cs");
  EXPECT_EQ(read.strings.Get(f.hash), "sha256:00");
  EXPECT_EQ(read.strings.Get(f.url), "https://a");
  EXPECT_EQ(read.strings.Get(f.text), "text");
  EXPECT_EQ(places.At(2), nullptr);
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

TEST(Capture, RoundTripKeepsLabelsAndMeasures) {
  using profile::LabelKey;
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  profile::ProcessTables& t = *recording.processes[0];
  t.info.Record(profile::Measure::kExceptions);
  t.info.Record(profile::Measure::kWaits);
  bool capped = false;
  const auto add = [&](uint64_t thread) {
    const uint16_t labels = t.labels.Find(profile::LabelSet{}
                                              .With(LabelKey::kThread, thread)
                                              .With(LabelKey::kOwner, ~thread)
                                              .With(LabelKey::kUnfinished, thread % 2)
                                              .With(LabelKey::kWindow, thread % 17)
                                              .With(LabelKey::kHolding, thread % 5));
    (void)t.series.Find(
        testing::SeriesKey::Make(profile::StackTree::kNoStack, 0, profile::HeapKind::kUnknown,
                                 profile::Source::kContention, 0, labels),
        0, profile::StackTree::kOther, &capped);
  };
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  for (uint64_t thread = 1; thread <= 300; ++thread) {
    add(thread);
    if (thread % 100 == 0) {
      ASSERT_TRUE((*writer)->Commit(kSecond * static_cast<int64_t>(thread)).ok());
    }
  }
  add(301);
  ASSERT_TRUE((*writer)->Finish(true).ok());
  writer->reset();
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->schema_version(), kSchemaVersion);
  const profile::ProcessTables& read = *(*reader)->recording().processes[0];
  EXPECT_EQ(read.info.measures, t.info.measures);
  EXPECT_TRUE(read.info.Recorded(profile::Measure::kWaits));
  EXPECT_FALSE(read.info.Recorded(profile::Measure::kAllocations));
  EXPECT_EQ(read.labels.sets().size(), 303u);
  EXPECT_EQ(read.labels.sets(), t.labels.sets());
  EXPECT_EQ(read.series.keys(), t.series.keys());
}

TEST(Capture, LabelsThatWereWrittenBeforeAKeyCameStillRead) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 1));
  profile::LabelTable& labels = recording.processes[0]->labels;
  for (uint64_t thread = 300; thread < 340; ++thread)
    (void)labels.Find(profile::LabelSet{}.With(profile::LabelKey::kThread, thread));
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
  }
  ColumnWriter w;
  for (size_t key = 0; key + 1 < profile::kLabelKeys; ++key)
    for (size_t i = 2; i < labels.sets().size(); ++i) w.Unsigned(labels.sets()[i].values[key]);
  const std::string blob = w.Finish();
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    auto update = db->Prepare("update dictionary set data=? where kind='label'");
    ASSERT_TRUE(update.ok());
    update->Bind(0, AsBytes(blob.data(), blob.size()));
    ASSERT_TRUE(update->Run().ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->recording().processes[0]->labels.sets(), labels.sets());
}

// Two bits for the source, no labels, no measures.
TEST(Capture, OneOfSchema1StillReads) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 40));
  const profile::SeriesTable& series = recording.processes[0]->series;
  Totals want;
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    ASSERT_TRUE(writer.ok());
    std::mt19937 random(4);
    Slice s = RandomSlice(random, *recording.processes[0], 0, kSecond);
    AddTo(want, s);
    (*writer)->OnSlice(std::move(s));
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  ColumnWriter w;
  for (const profile::SeriesKey& k : series.keys()) w.Unsigned(k.node);
  for (const profile::SeriesKey& k : series.keys()) w.Unsigned(k.type);
  for (const profile::SeriesKey& k : series.keys())
    w.Unsigned(static_cast<uint64_t>(k.kind()) | static_cast<uint64_t>(k.source()) << 2 |
               uint64_t{k.size_class()} << 4);
  for (const uint64_t size : series.nominal_sizes()) w.Unsigned(size);
  const std::string blob = w.Finish();
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    ASSERT_TRUE(db->Execute("update meta set value=1 where key='schema_version'; "
                            "alter table process drop column measures; drop table mapping; "
                            "create table mapping(process, start, end, file_offset, path); "
                            "insert into mapping values(0, 4096, 8192, 16, '/lib/a.so')")
                    .ok());
    auto update = db->Prepare("update dictionary set data=? where kind='series'");
    ASSERT_TRUE(update.ok());
    update->Bind(0, AsBytes(blob.data(), blob.size()));
    ASSERT_TRUE(update->Run().ok());
  }
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->schema_version(), 1);
  const profile::ProcessTables& read = *(*reader)->recording().processes[0];
  EXPECT_EQ(read.info.measures, 0u) << "unknown";
  const profile::Image* image = read.images.Find(4096, 5);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ((*reader)->recording().strings.Get(image->path), "/lib/a.so");
  EXPECT_EQ(image->offset, 16u);
  EXPECT_EQ(read.series.keys(), series.keys());
  EXPECT_EQ(read.series.nominal_sizes(), series.nominal_sizes());
  Totals got;
  ASSERT_TRUE((*reader)->ForEachSlice({}, [&](const Slice& s) { AddTo(got, s); }).ok());
  EXPECT_EQ(got, want);
}

TEST(Capture, ATypeWhoseOwnerIsFoundAfterItWasWrittenIsWrittenAnew) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  profile::ProcessTables& t = *recording.processes[0];
  t.types[1].raw_name = recording.strings.Intern("Slot[System.Int32]");
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Commit(kSecond).ok());
  t.types[1].raw_name = recording.strings.Intern("Shop.Box`1+Slot[System.Int32]");
  ++t.types_renamed;
  t.types.push_back({0x9000, recording.strings.Intern("Entry")});
  ASSERT_TRUE((*writer)->Commit(2 * kSecond).ok());
  t.types.back().raw_name = recording.strings.Intern("Shop.Map+Entry");
  ++t.types_renamed;
  ASSERT_TRUE((*writer)->Finish(true).ok());
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  ASSERT_EQ(read.processes[0]->types.size(), t.types.size());
  EXPECT_EQ(read.strings.Get(read.processes[0]->types[1].raw_name),
            "Shop.Box`1+Slot[System.Int32]");
  EXPECT_EQ(read.strings.Get(read.processes[0]->types.back().raw_name), "Shop.Map+Entry");
}

TEST(Capture, AnImageThatEndsAfterItWasWrittenKeepsItsTimes) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(MakeProcess(recording.strings, 1, 5));
  profile::ImageMap& images = recording.processes[0]->images;
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  uint64_t left_out = 0;
  profile::Image old{4096, 8192, 0, recording.strings.Intern("/lib/old.so"),
                     recording.strings.Intern("0123")};
  profile::Image generated{1 << 20, 2 << 20, 0, {}, {}};
  images.Look({{old, generated}}, 10, &left_out);
  ASSERT_TRUE((*writer)->Commit(kSecond).ok());
  profile::Image later = old;
  later.path = recording.strings.Intern("/lib/new.so");
  generated.end = 3 << 20;
  images.Look({{later, generated}}, 20, &left_out);
  ASSERT_TRUE((*writer)->Finish(true).ok());
  auto reader = CaptureReader::Open(file.str());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  const auto path_at = [&](uint64_t address, int64_t time_ns) {
    const profile::Image* image = read.processes[0]->images.Find(address, time_ns);
    return image == nullptr ? std::string_view("none") : read.strings.Get(image->path);
  };
  EXPECT_EQ(read.processes[0]->images.images().size(), 3u);
  EXPECT_EQ(path_at(5000, 5), "/lib/old.so");
  EXPECT_EQ(path_at(5000, 25), "/lib/new.so");
  EXPECT_EQ(path_at((3 << 20) - 1, 25), "");
  EXPECT_EQ(read.strings.Get(read.processes[0]->images.Find(5000, 5)->build_id), "0123");
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
      const profile::GcRecord want = make(p, i + 1), got = gcs[i].Unpack();
      ASSERT_EQ(got.number, want.number);
      ASSERT_EQ(got.pause_start_ns, want.pause_start_ns);
      ASSERT_EQ(got.pause_ns, want.pause_ns);
      ASSERT_EQ(got.promoted, want.promoted);
      ASSERT_EQ(got.heaps.size(), want.heaps.size());
      ASSERT_EQ(got.top_types.at(0).bytes, want.top_types[0].bytes);
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

std::string NameAt(const std::string& path, uint64_t address) {
  auto reader = CaptureReader::Open(path);
  if (!reader.ok()) return reader.error().message;
  const profile::Recording& read = (*reader)->recording();
  const auto match = read.processes[0]->code.Find(address, 0);
  return match.method ? std::string(read.strings.Get(match.method->name)) : "nobody";
}

TEST(Capture, WhatComesLaterCorrectsWhatEntryPointsNamed) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  profile::ProcessTables& t = *recording.processes[0];
  const auto method = [&](uint64_t start, uint32_t size, std::string_view name) {
    profile::MethodCode m;
    m.start = start;
    m.size = size;
    m.method_id = start;
    m.name = recording.strings.Intern(name);
    return m;
  };
  t.code.AddEntry(method(0x1000, 0, "Before"));
  const uint64_t stack[] = {0x1840};
  (void)t.stacks.Fold(reinterpret_cast<const std::byte*>(stack), 1, 8, 1, 0);
  auto writer = CaptureWriter::Create(file.str(), &recording);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Commit(kSecond).ok());
  t.code.AddEntry(method(0x1700, 0, "Nearer"));
  ASSERT_TRUE((*writer)->Commit(2 * kSecond).ok());
  EXPECT_EQ(NameAt(file.str(), 0x1840), "Nearer");
  t.code.Add(method(0x1000, 0x100, "Before"));
  t.code.Add(method(0x1700, 0x100, "Nearer"));
  t.code.Add(method(0x1800, 0x80, "Owner"));
  ASSERT_TRUE((*writer)->Finish(true).ok());
  EXPECT_EQ(NameAt(file.str(), 0x1840), "Owner");
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

}  // namespace
}  // namespace clrscope::store
