// SPDX-License-Identifier: Apache-2.0
// Hours and days of a watch in seconds: the clock is ours, the processes are recorded or made up.
#include "capture/watch/watch.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <zstd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "analysis/bind.h"
#include "base/testing/source_dir.h"
#include "base/units.h"
#include "capture/testing/fake_machine.h"
#include "store/capture_reader.h"
#include "store/leftover.h"

namespace clrscope::capture {
namespace {

namespace fs = std::filesystem;
using testing::FakeMachine;
using testing::FakeRuntime;

constexpr int64_t kHour = 3600 * kSecond;

std::string Trace(const std::string& name) {
  std::ifstream in(fs::path(SourceDir()) / "tests/golden/traces" / (name + ".nettrace.zst"),
                   std::ios::binary);
  std::stringstream packed;
  packed << in.rdbuf();
  const std::string bytes = packed.str();
  std::string out(ZSTD_getFrameContentSize(bytes.data(), bytes.size()), '\0');
  ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  return out;
}

class WatchedLog final : public WatchLog {
 public:
  void Write(LogLevel level, const std::string& text) override {
    if (level <= LogLevel::kWarning) warnings.push_back(text);
    for (const char* word : {"wrote", "deleted", "ends early", "nothing is written"})
      if (text.find(word) != std::string::npos) ++count[word];
  }
  std::vector<std::string> warnings;
  std::map<std::string, int> count;
};

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/clrscope-watch-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  uint64_t bytes() const {
    uint64_t n = 0;
    for (const auto& e : fs::directory_iterator(path_)) n += e.file_size();
    return n;
  }
  std::vector<std::string> captures() const {
    std::vector<std::string> out;
    for (const auto& e : fs::directory_iterator(path_))
      if (e.path().extension() == ".clrscope") out.push_back(e.path().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::string path_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Memory that is in use, as malloc sees it; 0 where a sanitizer has replaced it.
size_t Heap() {
  if (kSanitized) return 0;
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// A service that lives all day: samples of many types in many stacks, code that comes and goes.
class Service {
 public:
  Service(FakeMachine* machine, pid_t pid, std::string name)
      : runtime_(machine->Start(pid, name)), random_(static_cast<uint64_t>(pid)) {}

  // Returns how many samples.
  int Second(bool first) {
    if (first)
      for (uint64_t m = 0; m < 200; ++m)
        runtime_->Method("Service", "Work" + std::to_string(m), 0x100000 + m * 0x100, 0x100);
    // Dynamic code, at an address of its own each time.
    const uint64_t dynamic = 0x900000000 + seconds_ * 0x1000;
    runtime_->Method("dynamicClass", "Made", dynamic, 0x1000);
    const int samples = 10;
    for (int i = 0; i < samples; ++i) {
      std::vector<uint64_t> stack = {Pick(200), Pick(20), Pick(5), 0x100000};
      if (i == 0) stack.insert(stack.begin(), dynamic + 0x10);
      const uint64_t type = Random() % 50;
      runtime_->Sample("Type" + std::to_string(type), 0x7000 + type, stack, 24 + 8 * (type % 9));
    }
    if (seconds_ % 4 == 0) runtime_->Gc(static_cast<uint32_t>(seconds_ / 4 + 1), 0);
    runtime_->Unload(dynamic, 0x1000);
    runtime_->Flush();
    ++seconds_;
    return samples;
  }

 private:
  uint64_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    return random_ ^= random_ << 17;
  }
  uint64_t Pick(uint64_t n) { return 0x100000 + Random() % n * 0x100 + 0x20; }

  std::shared_ptr<FakeRuntime> runtime_;
  uint64_t random_;
  uint64_t seconds_ = 0;
};

struct Capture {
  std::unique_ptr<store::CaptureReader> reader;
  std::map<std::string, uint64_t> samples;  // by process name
  uint64_t unresolved = 0;
};

Capture Open(const std::string& path) {
  Capture out;
  auto reader = store::CaptureReader::Open(path);
  EXPECT_TRUE(reader.ok()) << path << ": " << (reader.ok() ? "" : reader.error().message);
  if (!reader.ok()) return out;
  out.reader = reader.Take();
  const profile::Recording& r = out.reader->recording();
  EXPECT_TRUE(out.reader
                  ->ForEachSlice({},
                                 [&](const profile::Slice& s) {
                                   const auto name =
                                       r.strings.Get(r.processes[s.process]->info.name);
                                   for (const profile::SliceRow& row : s.rows)
                                     out.samples[std::string(name)] += row.sums.samples;
                                 })
                  .ok());
  analysis::Aggregate sums(&r);
  EXPECT_TRUE(out.reader->ForEachSlice({}, [&](const profile::Slice& s) { sums.Add(s); }).ok());
  out.unresolved = analysis::Bind(r, sums).losses[Loss::kUnresolvedFrame];
  return out;
}

WatchOptions Options(const std::string& folder) {
  WatchOptions options;
  options.folder = folder;
  options.engine.max_workers = 0;
  return options;
}

void StepUntilIdle(Watch& watch) {
  while (watch.Step()) {
  }
}

// CLRSCOPE_WATCH_HOURS=24 makes a day of it.
TEST(Watch, MemoryIsFlatDiskIsWithinItsLimitAndEachHourCanBeOpened) {
  const char* wanted = std::getenv("CLRSCOPE_WATCH_HOURS");
  const int hours = wanted != nullptr ? std::atoi(wanted) : kSanitized ? 1 : 2;
  const std::string recorded = Trace("12b-norundown-csharpier");
  ASSERT_FALSE(recorded.empty());
  Folder folder;
  WatchedLog log;
  FakeMachine machine;
  machine.clock.unix = 1'795'000'000 * kSecond / kHour * kHour;  // begins with an hour
  WatchOptions options = Options(folder.path());
  options.max_bytes = uint64_t{192} << 20;
  auto watch = Watch::Start(options, &log, &machine.clock, machine.Processes());
  ASSERT_TRUE(watch.ok());

  constexpr int kEvery = 30, kLasts = 10;  // seconds: a short process comes, and ends
  constexpr uint64_t kTicks = 1080;        // of the recorded one
  std::vector<Service> services;
  for (pid_t pid = 1; pid <= 3; ++pid)
    services.emplace_back(&machine, pid, "service" + std::to_string(pid));
  std::shared_ptr<FakeRuntime> brief;
  size_t fed = 0;
  std::vector<size_t> heap;
  uint64_t largest = 0;
  for (int second = 0; second < hours * 3600; ++second) {
    if (second % kEvery == 2) {
      brief = machine.Start(1000 + second / kEvery, "brief", 0, "9.0.0");
      brief->raw_streams = true;
      fed = 0;
    }
    StepUntilIdle(**watch);
    for (Service& s : services) s.Second(second == 0);
    if (brief) {
      const size_t n = std::min(recorded.size() - fed, recorded.size() / kLasts + 1);
      brief->Raw(AsBytes(recorded.data() + fed, n));
      fed += n;
      if (fed == recorded.size()) {
        brief->End();
        machine.Remove(*brief);
        brief.reset();
      }
    }
    machine.clock.Advance(kSecond);
    StepUntilIdle(**watch);
    if (second % 60 == 0) {
      largest = std::max(largest, folder.bytes());
      EXPECT_LE(folder.bytes(), options.max_bytes);
    }
    if ((second + 1) % 3600 == 0) heap.push_back(Heap());
  }
  (*watch)->End([] { return true; });
  watch->reset();

  EXPECT_EQ(log.count["wrote"], hours + 1);
  for (const std::string& warning : log.warnings) ADD_FAILURE() << warning;
  const std::vector<std::string> captures = folder.captures();
  ASSERT_GE(captures.size(), 2u);
  EXPECT_EQ(captures.size() + static_cast<size_t>(log.count["deleted"]),
            static_cast<size_t>(hours) + 1);
  for (size_t i = 0; i + 1 < captures.size(); ++i) {  // the last began with the end
    const Capture c = Open(captures[i]);
    ASSERT_TRUE(c.reader) << captures[i];
    EXPECT_TRUE(c.reader->recording().complete);
    EXPECT_EQ(c.reader->recording().end_ns, kHour);
    for (const char* name : {"service1", "service2", "service3"})
      EXPECT_EQ(c.samples.at(name), 36000u) << name << " in " << captures[i];
    EXPECT_EQ(c.samples.at("brief"), kTicks * 3600 / kEvery) << captures[i];
  }
  std::cout << hours << " hours: largest " << (largest >> 20) << " MiB on disk, "
            << log.count["deleted"] << " captures deleted, heap after each hour (KiB):";
  for (const size_t h : heap) std::cout << ' ' << (h >> 10);
  std::cout << '\n';
  for (size_t i = 1; i < heap.size(); ++i) EXPECT_LE(heap[i], heap[0] * 11 / 10 + (1 << 20));
}

class WatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Watch> Start() {
    auto watch = Watch::Start(Options(folder.path()), &log, &machine.clock, machine.Processes());
    EXPECT_TRUE(watch.ok()) << watch.error().message;
    return watch.Take();
  }
  void Pass(Watch& watch, int seconds) {
    for (; seconds > 0; --seconds) {
      machine.clock.Advance(kSecond);
      StepUntilIdle(watch);
    }
  }
  Folder folder;
  WatchedLog log;
  FakeMachine machine;
};

TEST_F(WatchTest, AFolderHasOneWatchAtATime) {
  auto first = Start();
  const auto second =
      Watch::Start(Options(folder.path()), &log, &machine.clock, machine.Processes());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
  first.reset();
  EXPECT_NE(Start(), nullptr);
}

TEST_F(WatchTest, ACaptureThatAKilledWatchLeftBehindIsClosedAndKept) {
  Folder crashed;
  {
    auto watch = Start();
    auto a = machine.Start(11, "orders");
    StepUntilIdle(*watch);
    for (int i = 0; i < 20; ++i) {
      a->Sample("A", 1, {0x100});
      a->Flush();
      Pass(*watch, 1);
    }
    // What a SIGKILL leaves: the files as they are.
    fs::copy(folder.path(), crashed.path(), fs::copy_options::recursive);
  }
  ASSERT_EQ(crashed.captures().size(), 1u);
  const std::string left = crashed.captures()[0];
  ASSERT_TRUE(fs::exists(left + "-wal"));
  std::ofstream(crashed.path() + "/clrscope.20200101T000000Z.clrscope");  // killed at its birth
  std::ofstream(crashed.path() + "/mine.clrscope") << "not a capture";
  auto watch = Watch::Start(Options(crashed.path()), &log, &machine.clock, machine.Processes());
  ASSERT_TRUE(watch.ok());
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_NE(log.warnings[0].find("was not closed"), std::string::npos) << log.warnings[0];
  EXPECT_FALSE(fs::exists(left + "-wal"));
  EXPECT_TRUE(fs::exists(crashed.path() + "/mine.clrscope"));
  EXPECT_FALSE(fs::exists(crashed.path() + "/clrscope.20200101T000000Z.clrscope"));
  ASSERT_EQ((*watch)->folder().files().size(), 1u);
  const Capture c = Open(left);
  EXPECT_FALSE(c.reader->recording().complete);
  EXPECT_GE(c.samples.at("orders"), 18u);
}

TEST_F(WatchTest, CapturesGoWhenTheirTimeIsOver) {
  WatchOptions options = Options(folder.path());
  options.rotate_ns = 60 * kSecond;
  options.keep_ns = 300 * kSecond;
  auto watch = Watch::Start(options, &log, &machine.clock, machine.Processes());
  ASSERT_TRUE(watch.ok());
  for (int minute = 0; minute < 20; ++minute) {
    Pass(**watch, 60);
    EXPECT_LE(folder.captures().size(), 8u);  // five minutes, what began before them, the open one
  }
  EXPECT_GE(folder.captures().size(), 6u);
  EXPECT_GE(log.count["deleted"], 12);
}

TEST_F(WatchTest, AClockThatIsSetBackDoesNotStopTheRotation) {
  auto watch = Start();
  Pass(*watch, 10);
  machine.clock.unix -= 50 * kHour;
  Pass(*watch, 2);
  EXPECT_EQ(log.count["wrote"], 1);
  for (int hour = 0; hour < 3; ++hour) {
    machine.clock.Advance(kHour);
    StepUntilIdle(*watch);
  }
  EXPECT_EQ(log.count["wrote"], 4);
}

TEST_F(WatchTest, ADiskThatTakesNothingIsToldAndTriedAgain) {
  auto watch = Start();
  auto a = machine.Start(11, "orders");
  StepUntilIdle(*watch);
  // The folder has gone: no new capture can be made at the next rotation.
  const std::string aside = folder.path() + "-aside";
  fs::rename(folder.path(), aside);
  machine.clock.Advance(kHour);
  StepUntilIdle(*watch);
  EXPECT_GE(log.count["nothing is written"], 1);
  for (int i = 0; i < 5; ++i) {
    a->Sample("A", 1, {0x100});
    a->Flush();
    Pass(*watch, 1);
  }
  fs::rename(aside, folder.path());
  Pass(*watch, 11);
  a->Sample("A", 1, {0x100});
  a->Flush();
  Pass(*watch, 3);
  watch->End([] { return true; });
  watch.reset();
  EXPECT_EQ(a->open_sessions(), 0u);
  EXPECT_EQ(Open(folder.captures().back()).samples.at("orders"), 1u);
}

}  // namespace
}  // namespace clrscope::capture
