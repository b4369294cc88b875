// SPDX-License-Identifier: Apache-2.0
// Feeds beside a process's sessions: pumped, stopped and given up on by the engine.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "capture/sessions/session_engine.h"
#include "capture/testing/fake_machine.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

// What a feed was asked, in order, with the runtime's sessions that were open then.
struct Log {
  std::vector<std::string> asked;
  std::vector<std::string> notes;
};

class ScriptedFeed final : public Feed {
 public:
  // `after_stop`: how many pumps it goes on after it was asked to stop; negative: for ever.
  ScriptedFeed(Log* log, const testing::FakeRuntime* runtime, int after_stop)
      : log_(log), runtime_(runtime), left_(after_stop) {}
  bool Pump() override {
    ++samples_;
    if (stopping_ && left_ == 0) ended_ = true;
    if (stopping_ && left_ > 0) --left_;
    return false;
  }
  void BeginStop() override {
    Note("stop");
    stopping_ = true;
  }
  bool ended() const override { return ended_; }
  void Abandon(std::string_view why) override {
    Note("abandon");
    notes_.emplace_back(why);
    ended_ = true;
  }
  void EndOfProcess() override {
    Note("process ended");
    ended_ = true;
  }
  uint64_t samples() const override { return samples_; }
  std::vector<std::string> TakeNotes() override { return std::exchange(notes_, {}); }

 private:
  void Note(const std::string& what) {
    log_->asked.push_back(what + ", sessions: " + std::to_string(runtime_->open_sessions()));
  }
  Log* log_;
  const testing::FakeRuntime* runtime_;
  int left_;
  bool stopping_ = false, ended_ = false;
  uint64_t samples_ = 0;
  std::vector<std::string> notes_{"it came"};
};

class EngineFeedsTest : public ::testing::Test, private SessionObserver {
 protected:
  EngineFeedsTest() : engine(Options(), &machine.clock, machine.Processes()) {
    engine.AddObserver(this);
    runtime = machine.Start(11, "a");
    engine.Work();
    machine.clock.Advance(kSecond / 10);  // its rundown is over
    engine.Work();
    sessions = std::to_string(runtime->open_sessions());
  }
  static EngineOptions Options() {
    EngineOptions options;
    options.discover = options.start_now = true;
    options.max_workers = 0;
    return options;
  }
  void Add(int after_stop) {
    engine.Add(0, std::make_unique<ScriptedFeed>(&log, runtime.get(), after_stop));
  }
  void OnNote(const Target&, const std::string& note) override { log.notes.push_back(note); }
  void OnEnded(const Target&) override { log.asked.emplace_back("ended"); }

  testing::FakeMachine machine;
  std::shared_ptr<testing::FakeRuntime> runtime;
  SessionEngine engine;
  std::string sessions;
  Log log;
};

TEST_F(EngineFeedsTest, IsPumpedAndItsSamplesCount) {
  Add(0);
  for (int i = 0; i < 7; ++i) engine.Work();
  EXPECT_EQ(engine.counts().samples, 7u);
  machine.clock.Advance(kSecond);
  engine.Work();
  EXPECT_EQ(log.notes, std::vector<std::string>{"it came"});
}

TEST_F(EngineFeedsTest, SaysItsLastWordsWhileTheSessionsGoOn) {
  Add(3);
  engine.StopFeeds(10s, [] { return true; });
  EXPECT_EQ(log.asked, std::vector<std::string>{"stop, sessions: " + sessions});
  EXPECT_EQ(engine.counts().samples, 4u) << "what came last counts";
  EXPECT_NE(runtime->open_sessions(), 0u);
  engine.Close();
  EXPECT_EQ(log.asked.back(), "ended");
  EXPECT_EQ(log.asked.size(), 2u) << "it was let go of";
}

TEST_F(EngineFeedsTest, OneThatDoesNotEndIsGivenUp) {
  Add(-1);
  int asked = 0;
  engine.StopFeeds(10s, [&] { return ++asked < 3; });
  EXPECT_EQ(log.asked.back(), "abandon, sessions: " + sessions);
  EXPECT_EQ(log.notes.back(), "did not say its last words in time");
}

TEST_F(EngineFeedsTest, EndsWithItsProcessBeforeThatIsTold) {
  Add(0);
  runtime->End();
  for (int i = 0; i < 12; ++i) {
    machine.clock.Advance(kSecond / 4);
    engine.Work();
  }
  EXPECT_EQ(log.asked, (std::vector<std::string>{"process ended, sessions: 0", "ended"}));
  EXPECT_GT(engine.counts().samples, 0u);
}

}  // namespace
}  // namespace clrscope::capture
