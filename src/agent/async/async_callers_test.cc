// SPDX-License-Identifier: Apache-2.0
#include "agent/async/async_callers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <initializer_list>

#include "agent/async/async_roles.h"
#include "agent/testing/fake_types.h"

namespace clrscope::agent {
namespace {

using AsyncObject = std::array<uintptr_t, 40>;
constexpr size_t kContinuation = 5, kMachineWord = 12;  // words of a box
constexpr int32_t kMachineRuns = -1, kMachineWaits = 0;

// A heap of boxes and what they wait by, and a stack that begins at a resumed one.
class AsyncCallersTest : public testing::Test {
 protected:
  AsyncCallersTest() {
    types_.SetCoreLib(FakeTypes::kCore);
    resumes_ = FrameOf(0x5000, AsyncRole::kResumes);
    leaf_code_ = FrameOf(0x6000, RoleOfMachine(leaf_machine_));
    below_ = FrameOf(0x7000, 0);
  }

  uint32_t FrameOf(uint64_t ip, uint64_t role) {
    const uint32_t id = code_.FindOrAdd(ip)->frame.load();
    code_.SetRole(id, role);
    return id;
  }
  uint64_t RoleOfMachine(uintptr_t machine) {
    ModuleId module = 0;
    uint32_t token = 0, count = 0;
    ClassId parent = 0;
    EXPECT_TRUE(
        Succeeded(runtime_.GetClassIDInfo2(machine, &module, &token, &parent, 0, &count, nullptr)));
    return AsyncRole::Machine(module, token, false);
  }
  uintptr_t Machine(const char* name) {
    return runtime_.Add(
        {name, FakeTypes::kProgram, 0, {{"<>t__builder", 8}, {"<>1__state", 16}}, {}, true});
  }
  uintptr_t Box(uintptr_t machine) {
    return runtime_.Add(
        {"System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1",
         FakeTypes::kCore,
         task_,
         {{"StateMachine", kMachineWord * 8}},
         {task_, machine}});
  }
  uintptr_t New(uintptr_t type, std::initializer_list<std::pair<size_t, uintptr_t>> words) {
    AsyncObject& o = heap_.emplace_back();
    o[0] = type;
    for (const auto& [at, word] : words) o[at] = word;
    return reinterpret_cast<uintptr_t>(o.data());
  }
  uintptr_t NewBox(uintptr_t type, int32_t state, uintptr_t continuation = 0) {
    const uintptr_t box = New(
        type, {{kContinuation, continuation}, {kMachineWord + 2, static_cast<uint32_t>(state)}});
    heap_.back()[kMachineWord + 1] = box;
    return box;
  }
  static uintptr_t ThisOf(uintptr_t box) { return box + kMachineWord * 8; }

  // Samples the stack whose MoveNext has these words in its frame; what it looks like then.
  std::vector<uint32_t> Sample(std::initializer_list<uintptr_t> words, AsyncEnd* end) {
    stack_.fill(0);
    std::copy(words.begin(), words.end(), stack_.begin() + 4);
    const auto low = reinterpret_cast<uintptr_t>(stack_.data());
    const StackBounds own = on_own_stack_ ? StackBounds{low, low + sizeof stack_} : StackBounds{};
    frames_[0] = leaf_code_;
    frames_[1] = resumes_;
    frames_[2] = below_;
    spans_[0] = {low, low + 16 * 8};
    size_t count = 3;
    const AsyncFollowed f =
        FollowAsyncCallers(code_, types_, own, {frames_, window_, spans_, words_}, &count);
    *end = f.end;
    several_ = f.several;
    return {frames_, frames_ + count};
  }
  // As the agent's thread looks types up between samples, until nothing is new.
  std::vector<uint32_t> Settle(std::initializer_list<uintptr_t> words, AsyncEnd* end) {
    std::vector<uint32_t> out;
    for (int i = 0; i < 10; ++i) {
      out = Sample(words, end);
      for (uint32_t id = kFirstFrame; id < code_.frame_count(); ++id)
        if ((code_.frame(id)->ip & kTypeKey) != 0) (void)types_.Resolve(id);
      if (*end != AsyncEnd::kNewType) return out;
    }
    return out;
  }
  uint32_t CallerOf(uintptr_t box_type) {
    return code_.FindOrAdd(box_type | kTypeKey)->frame.load();
  }

  FakeTypes runtime_;
  uintptr_t object_ = runtime_.Add({"System.Object"});
  uintptr_t task_ = runtime_.Add({"System.Threading.Tasks.Task",
                                  FakeTypes::kCore,
                                  object_,
                                  {{"m_continuationObject", kContinuation * 8}}});
  uintptr_t action_ = runtime_.Add({"System.Action", FakeTypes::kCore, object_, {{"_target", 8}}});
  uintptr_t list_ = runtime_.Add({"System.Collections.Generic.List`1",
                                  FakeTypes::kCore,
                                  object_,
                                  {{"_items", 8}, {"_size", 16}}});
  uintptr_t array_ = runtime_.Add({"System.Array", FakeTypes::kCore, object_, {}, {}, false, true});
  uintptr_t leaf_machine_ = Machine("<Leaf>d__0"), leaf_ = Box(leaf_machine_);
  uintptr_t caller_ = Box(Machine("<Caller>d__1")), root_ = Box(Machine("<Root>d__2"));
  CodeTable code_;
  LookupGate gate_;
  Heartbeat heartbeat_;
  Lookup lookup_{&runtime_, gate_, heartbeat_};
  AsyncTypes types_{lookup_, code_, ::getpid()};
  std::deque<AsyncObject> heap_;
  uint32_t resumes_ = 0, leaf_code_ = 0, below_ = 0;
  std::array<uintptr_t, 64> stack_{};
  uint32_t frames_[kMaxDepth];
  FrameSpan spans_[kMaxDepth];
  std::byte window_[kStackWindow];
  uintptr_t words_[kFrameWords];
  bool several_ = false, on_own_stack_ = true;
};

TEST_F(AsyncCallersTest, CallersTakeThePlaceOfThePool) {
  const uintptr_t root = NewBox(root_, kMachineWaits),
                  caller = NewBox(caller_, kMachineWaits, root);
  const uintptr_t leaf = NewBox(leaf_, kMachineRuns, caller);
  AsyncEnd end{};
  const std::vector<uint32_t> first = Sample({ThisOf(leaf)}, &end);
  EXPECT_EQ(end, AsyncEnd::kNewType);
  EXPECT_EQ(first, (std::vector{leaf_code_, resumes_, below_})) << "a stack stays as it is";
  EXPECT_EQ(Settle({ThisOf(leaf)}, &end),
            (std::vector{leaf_code_, CallerOf(caller_), CallerOf(root_)}));
  EXPECT_EQ(end, AsyncEnd::kAll);
}

TEST_F(AsyncCallersTest, ATaskThatIsDoneHasTheMarkOfIt) {
  const uintptr_t caller = NewBox(caller_, kMachineWaits, New(object_, {}));
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(NewBox(leaf_, kMachineRuns, caller))}, &end),
            (std::vector{leaf_code_, CallerOf(caller_)}));
  EXPECT_EQ(end, AsyncEnd::kAll);
}

TEST_F(AsyncCallersTest, NobodyAwaits) {
  const uintptr_t leaf = NewBox(leaf_, kMachineRuns);
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(leaf)}, &end), (std::vector{leaf_code_, resumes_, below_}));
  EXPECT_EQ(end, AsyncEnd::kAll);
}

TEST_F(AsyncCallersTest, WhatEarlierCallsLeftIsNoBox) {
  const uintptr_t caller = NewBox(caller_, kMachineWaits);
  const uintptr_t waits = NewBox(leaf_, kMachineWaits, caller),
                  leaf = NewBox(leaf_, kMachineRuns, caller);
  const uintptr_t other = NewBox(root_, kMachineRuns, caller);
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(waits), leaf, ThisOf(other), 0x12345678, ThisOf(leaf)}, &end),
            (std::vector{leaf_code_, CallerOf(caller_)}));
  EXPECT_EQ(Settle({ThisOf(waits), ThisOf(other)}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kNoBox);
  // Its builder refers to where it was before it moved.
  const uintptr_t moved = NewBox(leaf_, kMachineRuns, caller);
  heap_.back()[kMachineWord + 1] = leaf;
  EXPECT_EQ(Settle({ThisOf(moved)}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kNoBox);
}

TEST_F(AsyncCallersTest, TwoThatRunAreAmbiguous) {
  const uintptr_t one = NewBox(leaf_, kMachineRuns), two = NewBox(leaf_, kMachineRuns);
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(one), ThisOf(two)}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kAmbiguous);
}

TEST_F(AsyncCallersTest, ByActionsAndListsTheFirstOfSeveral) {
  const uintptr_t caller = NewBox(caller_, kMachineWaits), root = NewBox(root_, kMachineWaits);
  const uintptr_t action = New(action_, {{1, caller}});
  const uintptr_t array = New(array_, {{1, 4}, {3, action}, {4, root}});
  const uintptr_t list = New(list_, {{1, array}, {2, 3}});
  const uintptr_t leaf = NewBox(leaf_, kMachineRuns, list);
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(leaf)}, &end), (std::vector{leaf_code_, CallerOf(caller_)}));
  EXPECT_EQ(end, AsyncEnd::kAll);
  EXPECT_TRUE(several_);
}

TEST_F(AsyncCallersTest, AChainThatBreaksSaysSo) {
  const uintptr_t own = runtime_.Add({"Program.Waiter", FakeTypes::kProgram, object_});
  const uintptr_t caller = NewBox(caller_, kMachineWaits, New(own, {}));
  AsyncEnd end{};
  EXPECT_EQ(Settle({ThisOf(NewBox(leaf_, kMachineRuns, caller))}, &end),
            (std::vector{leaf_code_, CallerOf(caller_), kTruncatedFrame}));
  EXPECT_EQ(end, AsyncEnd::kOther);
  // What runs does not wait, and an address is not always one.
  const uintptr_t runs = NewBox(caller_, kMachineRuns);
  EXPECT_EQ(Settle({ThisOf(NewBox(leaf_, kMachineRuns, runs))}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kOther);
  EXPECT_EQ(Settle({ThisOf(NewBox(leaf_, kMachineRuns, 0x7ffffff00000))}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kUnreadable);
}

TEST_F(AsyncCallersTest, RingsAndDepthEnd) {
  const uintptr_t one = NewBox(caller_, kMachineWaits);
  const uintptr_t two = NewBox(root_, kMachineWaits, one);
  heap_[0][kContinuation] = two;
  AsyncEnd end{};
  const auto frames = Settle({ThisOf(NewBox(leaf_, kMachineRuns, one))}, &end);
  EXPECT_EQ(end, AsyncEnd::kTooDeep);
  EXPECT_EQ(frames.size(), 1 + kMostAsyncCallers + 1);
  const uintptr_t action = New(action_, {});
  heap_.back()[1] = action;
  EXPECT_EQ(Settle({ThisOf(NewBox(leaf_, kMachineRuns, action))}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kOther) << "an action that calls an action";
}

TEST_F(AsyncCallersTest, ThePlaceOfThisIsLearned) {
  const uintptr_t caller = NewBox(caller_, kMachineWaits);
  AsyncEnd end{};
  (void)Settle({0, 0, ThisOf(NewBox(leaf_, kMachineRuns, caller))}, &end);
  for (int i = 0; i < 20; ++i) {
    const uintptr_t leaf = NewBox(leaf_, kMachineRuns, caller);
    EXPECT_EQ(Sample({0, i % 2 == 0 ? ThisOf(leaf) : 0, ThisOf(leaf)}, &end).size(), 2u);
  }
  // From now on another word is not looked at; but one that does not pass there is no box.
  const uintptr_t leaf = NewBox(leaf_, kMachineRuns, caller), other = NewBox(leaf_, kMachineRuns);
  EXPECT_EQ(Sample({ThisOf(other), 0, ThisOf(leaf)}, &end).size(), 2u);
  EXPECT_EQ(end, AsyncEnd::kAll);
  EXPECT_EQ(Sample({ThisOf(leaf), 0, ThisOf(NewBox(leaf_, kMachineWaits))}, &end).size(), 2u);
}

TEST_F(AsyncCallersTest, OfAThreadThatWasJustMet) {
  on_own_stack_ = false;
  AsyncEnd end{};
  EXPECT_EQ(Settle({0, ThisOf(NewBox(leaf_, kMachineRuns, NewBox(caller_, kMachineWaits)))}, &end),
            (std::vector{leaf_code_, CallerOf(caller_)}));
  EXPECT_EQ(end, AsyncEnd::kAll);
}

TEST_F(AsyncCallersTest, OtherStacksStayAsTheyAre) {
  AsyncEnd end{};
  leaf_code_ = FrameOf(0x8000, 0);
  EXPECT_EQ(Sample({}, &end).size(), 3u);
  EXPECT_EQ(end, AsyncEnd::kNotResumed);
}

}  // namespace
}  // namespace clrscope::agent
