// SPDX-License-Identifier: Apache-2.0
// Exceptions, locks and waits from their events to the figures of a profile.
#include <gtest/gtest.h>

#include <map>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/exceptions/exception_messages.h"
#include "analysis/families/exceptions/exception_types.h"
#include "analysis/trace_fold.h"
#include "nettrace/testing/synthetic_writer.h"
#include "profile/estimate/bounds.h"
#include "profile/tables/thread_state.h"
#include "profile/views/filter.h"

namespace clrscope::analysis {
namespace {

using namespace nettrace::testing;
using clr::EventTag;
using profile::LabelKey;
using profile::Measure;

constexpr int64_t kSecondNs = 1'000'000'000, kMs = 1'000'000;

// Methods lie at multiples of 0x1000; a stack names them, leaf first.
class EventFeeder {
 public:
  explicit EventFeeder(const FoldOptions& options = {})
      : aggregate(&recording), fold(&recording, &aggregate, options) {
    fold.OnStream(7, 8, 0);
  }
  void Event(EventTag tag, uint32_t version, int64_t time, const std::string& payload,
             const std::vector<std::string>& methods = {}, uint64_t thread = 1) {
    std::vector<uint64_t> stack;
    for (const std::string& m : methods) stack.push_back(AddressOf(m) + 8);
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.process = 7;
    e.thread = thread;
    e.time_ns = time;
    e.payload = AsBytes(payload.data(), payload.size());
    e.stack = {reinterpret_cast<const std::byte*>(stack.data()),
               static_cast<uint32_t>(stack.size()), 8, nullptr};
    e.stack_state = stack.empty() ? clr::StackState::kNone : clr::StackState::kPresent;
    fold.OnEvent(e);
  }
  void Throw(int64_t time, const std::string& type, const std::vector<std::string>& stack,
             uint16_t flags = 0x10, uint64_t thread = 1, const std::string& message = "message") {
    Event(EventTag::kException, 1, time,
          ByteWriter().Z16(type).Z16(message).U64(0).U32(0).U16(flags).U16(0).Take(), stack,
          thread);
  }
  void Contend(int64_t time, const std::vector<std::string>& stack, uint64_t thread,
               uint64_t owner = 99) {
    Event(EventTag::kContentionStart, 2, time,
          ByteWriter().U8(0).U16(0).U64(5).U64(6).U64(owner).Take(), stack, thread);
  }
  void Got(int64_t time, double ns, uint64_t thread) {
    Event(EventTag::kContentionStop, 1, time, ByteWriter().U8(0).U16(0).F64(ns).Take(), {}, thread);
  }
  void Wait(int64_t time, const std::vector<std::string>& stack, uint64_t thread) {
    Event(EventTag::kWaitStart, 0, time, ByteWriter().U8(0).U64(0).U16(0).Take(), stack, thread);
  }
  void Woke(int64_t time, uint64_t thread) {
    Event(EventTag::kWaitStop, 0, time, ByteWriter().U16(0).Take(), {}, thread);
  }
  profile::Profile Bound() {
    fold.Finish(true);
    return Bind(recording, aggregate);
  }

  profile::Recording recording;
  Aggregate aggregate;
  TraceFold fold;

 private:
  uint64_t AddressOf(const std::string& method) {
    const auto [it, fresh] = methods_.try_emplace(method, 0x1000 * (methods_.size() + 1));
    if (fresh) {
      const size_t dot = method.rfind('.');
      MethodFields f;
      f.method_id = it->second;
      f.start = it->second;
      f.size = 0x100;
      f.owner = method.substr(0, dot);
      f.name = method.substr(dot + 1);
      Event(EventTag::kMethodDcEndVerbose, 2, 0, MethodVerbosePayload(2, f));
    }
    return it->second;
  }
  std::map<std::string, uint64_t> methods_;
};

struct Told {
  double count = 0, amount = 0;
  bool operator==(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Told& t) {
  return out << t.count << " / " << t.amount;
}

std::map<std::string, Told> ByLeaf(const profile::Profile& p, Measure measure) {
  std::map<std::string, Told> out;
  const profile::Figure* f = p.Find(measure);
  if (f == nullptr) return out;
  for (const profile::Cell& c : f->cells) {
    Told& t = out[std::string(p.str(p.frames[p.nodes[c.node].frame].method))];
    t.count += c.value.count;
    t.amount += c.value.amount;
  }
  return out;
}

TEST(Exceptions, TheLeafIsWhoThrowsOnEveryRuntime) {
  EventFeeder f;
  f.Throw(1, "Shop.Error", {"Shop.A.Throw", "Shop.P.Main"});  // .NET 8
  f.Throw(2, "Shop.Error",
          {"System.Runtime.EH.DispatchEx", "System.Runtime.EH.RhThrowEx", "Shop.A.Throw",
           "Shop.P.Main"});
  f.Throw(3, "Shop.Error", {"System.Runtime.EH.DispatchEx", "Shop.A.Throw", "Shop.P.Main"});
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByLeaf(p, Measure::kExceptions),
            (std::map<std::string, Told>{{"Shop.A.Throw", {3, 0}}}));
  EXPECT_EQ(p.Find(Measure::kLocks), nullptr);
}

std::map<std::string, double> ByMessage(const profile::Profile& p) {
  std::map<std::string, double> out;
  for (const profile::Cell& c : p.Find(Measure::kExceptions)->cells)
    out[std::string(p.str(
        StringId(static_cast<uint32_t>(p.labels[c.labels][LabelKey::kMessage]))))] += c.value.count;
  return out;
}

TEST(Exceptions, MessagesAreKeptOnlyWhereTheyAreAskedFor) {
  for (const bool keep : {false, true}) {
    FoldOptions options;
    options.messages = keep;
    EventFeeder f(options);
    f.Throw(1, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, "no such user");
    f.Throw(2, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, "no such user");
    f.Throw(3, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, "NULL");
    const profile::Profile p = f.Bound();
    EXPECT_EQ(profile::KnowsMessages(p), keep);
    EXPECT_EQ(ByMessage(p), keep ? (std::map<std::string, double>{{"", 1}, {"no such user", 2}})
                                 : (std::map<std::string, double>{{"", 3}}));
  }
}

TEST(Exceptions, MessagesAreCutAndBoundedInNumber) {
  FoldOptions options;
  options.messages = true;
  EventFeeder f(options);
  const std::string text(ExceptionMessages::kLongest, 'x');
  f.Throw(1, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, text + "one end");
  f.Throw(2, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, text + "another end");
  for (size_t i = 0; i < ExceptionMessages::kMost + 9; ++i)
    f.Throw(3, "Shop.Error", {"Shop.A.Throw"}, 0x10, 1, std::to_string(i));
  const profile::Profile p = f.Bound();
  const std::map<std::string, double> said = ByMessage(p);
  EXPECT_EQ(said.at(text + "…"), 2);
  EXPECT_EQ(said.size(), ExceptionMessages::kMost + 1);
  EXPECT_EQ(said.at("(other)"), 10);
  EXPECT_EQ(p.losses[Loss::kMessagesCapped], 10u);
}

TEST(Exceptions, InnerAndNestedOnesAreToldWithoutWhatIsThrownAgain) {
  EventFeeder f;
  f.Throw(1, "Shop.Error", {"Shop.A.Throw"}, 0x10);
  f.Throw(2, "Shop.Error", {"Shop.A.Throw"}, 0x11);
  f.Throw(3, "Shop.Error", {"Shop.A.Throw"}, 0x13);
  f.Throw(4, "Shop.Error",
          {"System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw", "Shop.A.Throw"}, 0x12);
  profile::Profile p = f.Bound();
  p.shown_index = 1;
  ASSERT_EQ(p.measure(), Measure::kExceptions);
  EXPECT_EQ(profile::HandlingOf(p).inner, 2);
  EXPECT_EQ(profile::HandlingOf(p).nested, 1);
}

TEST(Exceptions, WhatIsThrownAgainIsNoThrow) {
  EventFeeder f;
  const std::string dispatch = "System.Runtime.EH.DispatchEx",
                    again = "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw";
  f.Throw(1, "E", {dispatch, "Shop.A.Throw"});
  f.Throw(2, "E", {dispatch, again, "Shop.A.Await"});
  f.Throw(3, "E", {again, "Shop.A.Await"});
  f.Throw(4, "E", {"Shop.A.Catch"}, 0x14);  // throw; on .NET 8
  const std::string invoke = "System.Reflection.MethodBaseInvoker.InvokeWithNoArgs";
  f.Throw(5, "E", {dispatch, invoke, "Shop.A.Reflect"});  // through native code
  f.Throw(6, "System.Reflection.TargetInvocationException", {dispatch, invoke, "Shop.A.Reflect"});
  const profile::Profile p = f.Bound();
  const profile::Estimate total = p.Find(Measure::kExceptions)->Total();
  EXPECT_EQ(total.count, 2);
  EXPECT_EQ(total.amount, 4);
  EXPECT_EQ(total.samples, 6u) << "count + rethrows is the number of events";
  EXPECT_EQ(ByLeaf(p, Measure::kExceptions).at("Shop.A.Catch"), (Told{0, 1}));
}

TEST(Exceptions, TypesWithoutEndAreBoundedAndCounted) {
  EventFeeder f;
  const size_t more = 5;
  for (size_t i = 0; i < ExceptionTypes::kMost + more; ++i)
    f.Throw(1, "T" + std::to_string(i), {"Shop.A.Throw"});
  f.Throw(2, std::string(5000, 'x'), {"Shop.A.Throw"});
  f.Throw(3, "T3", {"Shop.A.Throw"});
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.losses[Loss::kExceptionTypesCapped], more + 1);
  std::map<std::string, double> types;
  for (const profile::Cell& c : p.Find(Measure::kExceptions)->cells)
    types[std::string(p.str(p.types[c.type].raw))] += c.value.count;
  EXPECT_EQ(types.at("(other)"), static_cast<double>(more + 1));
  EXPECT_EQ(types.at("T3"), 2);
}

TEST(Exceptions, ALongNameIsCut) {
  EventFeeder f;
  f.Throw(1, std::string(5000, 'x'), {"Shop.A.Throw"});
  const profile::Profile p = f.Bound();
  const std::string name(p.str(p.types[p.Find(Measure::kExceptions)->cells[0].type].raw));
  EXPECT_EQ(name, std::string(ExceptionTypes::kLongestName, 'x') + "…");
}

TEST(Exceptions, AllocationsBesideThemKeepTheirTypes) {
  EventFeeder f;
  for (int i = 0; i < 3; ++i) {
    f.Throw(1, "Error" + std::to_string(i), {"Shop.A.Throw"});
    f.Event(EventTag::kAllocationSampled, 0, 1, AllocationSampledPayload({}), {"Shop.A.Make"});
  }
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.Total().samples, 3u);
  EXPECT_EQ(p.shown().measure, Measure::kAllocations);
  EXPECT_EQ(p.losses[Loss::kUnnamedType], 0u);
}

TEST(Exceptions, TimesAndThreadsFollowEveryFilter) {
  EventFeeder f;
  f.Throw(kSecondNs / 2, "A", {"Shop.P.One"}, 0x10, 11);
  f.Throw(kSecondNs * 3 / 2, "A", {"Shop.P.Two"}, 0x10, 12);
  f.Throw(kSecondNs * 3 / 2, "B", {"Shop.P.Two"}, 0x10, 12);
  profile::Profile p = f.Bound();
  const profile::Figure& all = *p.Find(Measure::kExceptions);
  EXPECT_EQ(all.threads.size(), 2u);
  EXPECT_EQ(all.times.size(), 2u);
  ASSERT_TRUE(profile::Apply({.type = "^A$", .method = "Two"}, p).ok());
  const profile::Figure& some = *p.Find(Measure::kExceptions);
  EXPECT_EQ(some.Total().count, 1);
  ASSERT_EQ(some.threads.size(), 1u);
  EXPECT_EQ(some.threads[0].thread, 12u);
  EXPECT_EQ(some.threads[0].value.count, 1);
  ASSERT_EQ(some.times.size(), 1u);
  EXPECT_EQ(some.times[0].start_ns, kSecondNs);
}

TEST(Locks, AWaitBelongsToTheStackThatWaited) {
  EventFeeder f;
  f.Contend(10 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Contend(12 * kMs, {"Shop.P.Other"}, 12);
  f.Got(30 * kMs, 20e6, 11);
  f.Got(31 * kMs, 19e6, 12);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByLeaf(p, Measure::kLocks),
            (std::map<std::string, Told>{{"Shop.P.Wait", {1, 20e6}}, {"Shop.P.Other", {1, 19e6}}}));
  const profile::Cell& c = p.Find(Measure::kLocks)->cells[0];
  EXPECT_EQ(p.labels[c.labels][LabelKey::kThread], 11u);
  EXPECT_EQ(p.labels[c.labels][LabelKey::kOwner], 77u);
}

// By what the owners did; "" where no event told.
std::map<std::string, double> ByHolding(const profile::Profile& p) {
  std::map<std::string, double> out;
  for (const profile::Cell& c : p.Find(Measure::kLocks)->cells)
    out[std::string(p.HoldingName(p.labels[c.labels]))] += c.value.count;
  return out;
}
using Holding = std::map<std::string, double>;

TEST(Locks, AnEventOfTheOwnerTellsWhatItDidMeanwhile) {
  EventFeeder f;
  f.Contend(5 * kMs, {"Shop.P.Wait"}, 13, 70);
  f.Throw(8 * kMs, "E", {"Shop.H.Before"}, 0x10, 77);
  f.Contend(10 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Throw(11 * kMs, "E", {"Shop.H.Another"}, 0x10, 78);
  f.Event(EventTag::kAllocationSampled, 0, 12 * kMs, AllocationSampledPayload({}),
          {"Shop.H.Fill", "Shop.H.Main"}, 77);
  f.Throw(13 * kMs, "E", {"Shop.H.Later"}, 0x10, 77);
  f.Got(30 * kMs, 20e6, 11);
  f.Throw(31 * kMs, "E", {"Shop.H.After"}, 0x10, 77);
  f.Contend(40 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Got(41 * kMs, 1e6, 11);
  f.Got(42 * kMs, 37e6, 13);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByHolding(p), (Holding{{"", 2}, {"Shop.H.Fill", 1}}));
  EXPECT_EQ(p.Find(Measure::kLocks)->Total().count, 3);
}

TEST(Locks, TheOwnersOwnCodeIsNamed) {
  EventFeeder f;
  f.Contend(10 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Event(EventTag::kAllocationSampled, 0, 12 * kMs, AllocationSampledPayload({}),
          {"System.String.Concat", "Shop.H.Fill"}, 77);
  f.Got(30 * kMs, 20e6, 11);
  EXPECT_EQ(ByHolding(f.Bound()), (Holding{{"Shop.H.Fill", 1}}));
}

// Sessions are read one by one.
TEST(Locks, AnEventOfAnotherSessionMayComeLateOrEarly) {
  EventFeeder f;
  f.Contend(5 * kMs, {"Shop.P.Wait"}, 10, 70);
  f.Throw(60 * kMs, "E", {"Shop.H.Early"}, 0x10, 77);
  f.Throw(70 * kMs, "E", {"Shop.H.Other"}, 0x10, 77);
  f.Contend(55 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Got(65 * kMs, 10e6, 11);
  f.Contend(80 * kMs, {"Shop.P.Wait"}, 12, 77);
  f.Got(90 * kMs, 10e6, 12);
  f.Throw(85 * kMs, "E", {"Shop.H.Late"}, 0x10, 77);
  f.Got(95 * kMs, 90e6, 10);
  EXPECT_EQ(ByHolding(f.Bound()), (Holding{{"", 1}, {"Shop.H.Early", 1}, {"Shop.H.Late", 1}}));
}

TEST(Locks, AWaitAtTheEndOfASliceIsToldByWhatComesLate) {
  EventFeeder f;
  f.Contend(800 * kMs, {"Shop.P.Wait"}, 10, 70);
  f.Throw(810 * kMs, "E", {"Shop.H.Other"}, 0x10, 78);
  f.Contend(820 * kMs, {"Shop.P.Early"}, 11, 78);
  f.Got(825 * kMs, 5e6, 11);
  f.Contend(940 * kMs, {"Shop.P.Late"}, 12, 77);
  f.Got(990 * kMs, 50e6, 12);
  f.Got(1001 * kMs, 201e6, 10);  // the slice is over
  f.Throw(950 * kMs, "E", {"Shop.H.Fill"}, 0x10, 77);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByHolding(p), (Holding{{"", 2}, {"Shop.H.Fill", 1}}));
  EXPECT_EQ(p.Find(Measure::kLocks)->times.size(), 2u);
}

TEST(Locks, OnceAnotherOneGotTheLockTheOwnerNoLongerHoldsIt) {
  EventFeeder f;
  f.Contend(10 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Contend(11 * kMs, {"Shop.P.Wait"}, 12, 77);
  f.Got(20 * kMs, 10e6, 11);
  f.Throw(30 * kMs, "E", {"Shop.H.Elsewhere"}, 0x10, 77);
  f.Got(40 * kMs, 29e6, 12);
  EXPECT_EQ(ByHolding(f.Bound()), (Holding{{"", 2}}));
}

TEST(Locks, AnOwnerThatWaitsItselfIsThereAllAlong) {
  EventFeeder f;
  f.Contend(10 * kMs, {"Shop.H.Second"}, 77, 88);
  f.Contend(20 * kMs, {"Shop.P.Wait"}, 11, 77);
  f.Got(50 * kMs, 40e6, 77);
  f.Got(60 * kMs, 40e6, 11);
  EXPECT_EQ(ByHolding(f.Bound()), (Holding{{"", 1}, {"Shop.H.Second", 1}}));
}

TEST(Locks, AWaitOfManySlicesAndOneThatGoesOnAreToldToo) {
  EventFeeder f;
  f.Contend(kSecondNs / 2, {"Shop.P.Wait"}, 11, 77);
  f.Contend(kSecondNs / 2, {"Shop.P.Hang"}, 12, 78);
  f.Throw(kSecondNs, "E", {"Shop.H.Fill"}, 0x10, 77);
  f.Throw(2 * kSecondNs, "E", {"Shop.H.Stuck"}, 0x10, 78);
  f.Got(5 * kSecondNs, 4.5e9, 11);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByHolding(p), (Holding{{"Shop.H.Fill", 1}, {"Shop.H.Stuck", 1}}));
  EXPECT_EQ(p.Find(Measure::kLocks)->times.back().start_ns, 5 * kSecondNs);
}

TEST(Locks, WhatOwnersDidLeavesRoomForWhoTheyAre) {
  EventFeeder f;
  const size_t more = 7, waits = profile::LabelTable::kMostHolding + more;
  for (size_t i = 0; i < waits; ++i) {
    const auto time = static_cast<int64_t>(i) * kMs;
    f.Contend(time, {"Shop.P.Wait"}, 1000 + i, 77);
    f.Throw(time, "E", {"Shop.H.Fill"}, 0x10, 77);
    f.Got(time + 1, 1, 1000 + i);
  }
  const profile::Profile p = f.Bound();
  const Holding told = ByHolding(p);
  EXPECT_EQ(told.at("") + told.at("Shop.H.Fill"), static_cast<double>(waits));
  EXPECT_EQ(told.at(""), static_cast<double>(p.losses[Loss::kHoldingsCapped]));
  EXPECT_GE(told.at(""), static_cast<double>(more));
  EXPECT_EQ(p.losses[Loss::kLabelsCapped], 0u);
  EXPECT_EQ(p.Find(Measure::kLocks)->threads.size(), waits);
}

TEST(Locks, AWaitThatGoesOnCountsUntilTheEnd) {
  EventFeeder f;
  f.Contend(10 * kMs, {"Shop.P.Wait"}, 11);
  f.Throw(50 * kMs, "E", {"Shop.P.Main"});
  const profile::Profile p = f.Bound();
  const profile::Figure& locks = *p.Find(Measure::kLocks);
  ASSERT_EQ(locks.cells.size(), 1u);
  EXPECT_EQ(locks.cells[0].value.amount, 40e6);
  EXPECT_EQ(p.labels[locks.cells[0].labels][LabelKey::kUnfinished], 1u);
}

TEST(Locks, OneThatGaveUpWithoutAnEndIsLeftOutAndCounted) {
  EventFeeder f;
  const std::vector<std::string> stack = {"System.Threading.Lock.TryEnterSlow",
                                          "System.Threading.Lock.TryEnter_Outlined", "Shop.P.Try"};
  f.Contend(10 * kMs, stack, 11);
  f.Contend(90 * kMs, {"Shop.P.Wait"}, 11);
  f.Got(100 * kMs, 10e6, 11);
  f.Contend(200 * kMs, stack, 12);  // and never again
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByLeaf(p, Measure::kLocks), (std::map<std::string, Told>{{"Shop.P.Wait", {1, 10e6}}}));
  EXPECT_EQ(p.losses[Loss::kWaitsUnended], 2u);
}

TEST(Locks, AnEndWithoutItsBeginningIsNothing) {
  EventFeeder f;
  f.Got(10 * kMs, 5e6, 11);
  f.Woke(10 * kMs, 11);
  EXPECT_EQ(f.Bound().Find(Measure::kLocks), nullptr);
}

TEST(Waits, EachWaitIsToldOnce) {
  EventFeeder f;
  const std::string enter = "System.Threading.Monitor.Enter";
  f.Contend(10 * kMs, {enter, "Shop.P.Locks"}, 11);
  f.Wait(10 * kMs, {enter, "Shop.P.Locks"}, 11);
  f.Woke(20 * kMs, 11);
  f.Wait(20 * kMs, {enter, "Shop.P.Locks"}, 11);  // it was woken too early
  f.Woke(30 * kMs, 11);
  f.Got(30 * kMs, 20e6, 11);
  f.Wait(40 * kMs, {"System.Threading.WaitHandle.WaitOneNoCheck", "Shop.P.Waits"}, 11);
  f.Woke(45 * kMs, 11);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(ByLeaf(p, Measure::kLocks), (std::map<std::string, Told>{{enter, {1, 20e6}}}));
  EXPECT_EQ(
      ByLeaf(p, Measure::kWaits),
      (std::map<std::string, Told>{{"System.Threading.WaitHandle.WaitOneNoCheck", {1, 5e6}}}));
}

TEST(Waits, AfterALockThatGaveUpTheyAreToldAgain) {
  EventFeeder f;
  f.Contend(10 * kMs,
            {"System.Threading.Lock.ContentionStart", "System.Threading.Lock.TryEnterSlow",
             "System.Threading.Lock.TryEnter_Outlined", "Shop.P.Try", "Shop.P.Main"},
            11);
  f.Wait(60 * kMs, {"System.Threading.WaitHandle.WaitOneNoCheck", "Shop.P.Waits", "Shop.P.Main"},
         11);
  f.Woke(65 * kMs, 11);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.Find(Measure::kWaits)->Total().amount, 5e6);
  EXPECT_EQ(p.losses[Loss::kWaitsUnended], 1u);
}

TEST(Waits, TheRuntimesOwnAreLeftOut) {
  EventFeeder f;
  f.Wait(10 * kMs,
         {"System.Threading.WaitHandle.WaitOneNoCheck",
          "System.Threading.PortableThreadPool+GateThread.GateThreadStart"},
         11);
  f.Woke(20 * kMs, 11);
  const profile::Profile p = f.Bound();
  EXPECT_EQ(p.Find(Measure::kWaits)->Total().samples, 0u);
}

TEST(Labels, PastTheCapEventsCountInNoThread) {
  profile::LabelTable t;
  for (uint64_t i = 1; i < profile::LabelTable::kMost + 10; ++i)
    (void)t.Find(profile::LabelSet().With(LabelKey::kThread, i));
  EXPECT_EQ(t.sets().size(), profile::LabelTable::kMost);
  EXPECT_EQ(t.Find(profile::LabelSet().With(LabelKey::kThread, 1'000'000)),
            profile::LabelTable::kOther);
  EXPECT_EQ(t.Find({}), profile::LabelTable::kNone);
  EXPECT_EQ(t.sets()[t.Find(profile::LabelSet().With(LabelKey::kThread, 5))][LabelKey::kThread],
            5u);
}

// Rounds of the runtime's sampler, a millisecond apart: a thread that computes, and one that waits.
// `managed`: of so many rounds one says that the first was in managed code; 0: none.
void Sample(EventFeeder& f, int rounds, int managed, uint64_t waiting = 1) {
  const auto at = [&](int64_t time, bool in_managed, const std::string& leaf, uint64_t thread) {
    f.Event(EventTag::kThreadSample, 0, time, ByteWriter().U32(in_managed ? 2 : 1).Take(),
            {leaf, "Shop.P.Main"}, thread);
  };
  for (int i = 0; i < rounds; ++i) {
    at(i * kMs, managed != 0 && i % managed == 0, "Shop.P.Burn", 1);
    for (uint64_t t = 0; t < waiting; ++t)
      at(i * kMs + 1, false, "System.Threading.Thread.Sleep", 2 + t);
  }
}

std::map<std::string, double> ByState(const profile::Profile& p) {
  std::map<std::string, double> out;
  for (const profile::Cell& c : p.Find(Measure::kWall)->cells)
    out[std::string(profile::ThreadStateName(p.labels[c.labels][LabelKey::kState]))] +=
        c.value.count;
  return out;
}

profile::Profile BoundOn(EventFeeder& f, const std::string& runtime) {
  f.recording.processes[0]->info.runtime = f.recording.strings.Intern(runtime);
  return f.Bound();
}

TEST(ThreadSampleModes, ARuntimeThatDoesNotReportThemHasNoCpuTime) {
  for (const int stray : {0, 100, 2}) {
    EventFeeder f;
    Sample(f, 1'000, stray);
    const profile::Profile p = BoundOn(f, ".NET 9.0.22");
    EXPECT_EQ(p.Find(Measure::kCpu), nullptr) << stray;
    EXPECT_EQ(ByState(p), (std::map<std::string, double>{{"sleep", 1'000}, {"unknown", 1'000}}))
        << stray;
    EXPECT_FALSE(p.processes[0].modes_told);
  }
}

TEST(ThreadSampleModes, OfAnUnknownRuntimeTheShareDecides) {
  for (const int one_in : {10, 500}) {
    EventFeeder f;
    Sample(f, 1'000, one_in, 9);
    const profile::Profile p = BoundOn(f, "");
    EXPECT_EQ(p.processes[0].modes_told, one_in == 10);
    EXPECT_EQ(p.Find(Measure::kCpu) != nullptr, one_in == 10);
    EXPECT_EQ(ByState(p).contains("running"), one_in == 10);
  }
}

// The system does not say how much the program ran: its CPU time is a share of the samples.
TEST(ThreadSampleModes, CpuTimeIsAsUncertainAsItsShareOfWallTime) {
  EventFeeder f;
  Sample(f, 1'000, 4);
  const profile::Profile p = BoundOn(f, ".NET 8.0.33");
  const profile::Figure &cpu = *p.Find(Measure::kCpu), &wall = *p.Find(Measure::kWall);
  ASSERT_EQ(cpu.Total().samples, 250u);
  EXPECT_NEAR(cpu.Total().amount, 250.0 * kMs, 1.0 * kMs);
  const profile::Interval of_cpu = profile::ClockInterval(cpu, cpu.Total());
  for (const profile::Cell& c : wall.cells)
    if (c.value.samples == 250) {
      const profile::Interval of_wall = profile::ClockInterval(wall, c.value);
      EXPECT_DOUBLE_EQ(of_cpu.low, of_wall.low);
      EXPECT_DOUBLE_EQ(of_cpu.high, of_wall.high);
    }
  // Of 2,000 samples 250: 95 % by Clopper and Pearson.
  EXPECT_NEAR(of_cpu.low, 2'000.0 * kMs * 0.11085, 2.0 * kMs);
  EXPECT_NEAR(of_cpu.high, 2'000.0 * kMs * 0.14033, 2.0 * kMs);
}

// RuntimeInformation has the file's version: of .NET 10.0.0 10.0.25, of 10.0.12 10.0.1226.
TEST(RuntimeVersion, IsThatOfTheRelease) {
  struct Version {
    uint16_t major, third;
    const char* name;
  };
  for (const Version& v : {Version{10, 25, ".NET 10.0.0"}, Version{10, 1226, ".NET 10.0.12"},
                           Version{8, 123, ".NET 8.0.1"}, Version{4, 30319, ".NET Core 3"}}) {
    EventFeeder f;
    f.Event(EventTag::kRuntimeStart, 0, 1, RuntimeStartPayload(v.major, 0, v.third, "orders"));
    const profile::Profile p = f.Bound();
    EXPECT_EQ(p.str(p.processes.at(0).runtime), v.name);
  }
}

}  // namespace
}  // namespace clrscope::analysis
