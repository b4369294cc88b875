// SPDX-License-Identifier: Apache-2.0
// What the agent's thread does over and over: wait, look up addresses, empty the shards, read the
// handles, end the interval.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/async/async_roles.h"
#include "agent/host/agent.h"
#include "agent/host/clock.h"
#include "agent/host/term_signal.h"
#include "base/units.h"
#include "clr/gc_names.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kDrainEvery = kSecond;
constexpr int64_t kScanEvery = 100 * kMillisecond;  // after GCs, at most so often
constexpr int64_t kTendEvery = kSecond;
constexpr size_t kMostPasses = 10'000;
// Unnamed code: how long addresses gather; how often the runtime is suspended for them at most; how
// many times as long as a suspension it runs before the next, but no longer than that. Where the
// runtime refuses for good, it is asked again some time.
constexpr int64_t kGatherUnnamed = 50 * kMillisecond, kSuspendEvery = 100 * kMillisecond;
constexpr int64_t kRunForEachStop = 100, kLongestRun = 5 * kSecond, kAskAgain = 30 * kSecond;

// Since .NET 9 exceptions are thrown by managed code of the runtime's, which its own walks pass
// over: what it allocates is allocated where something was thrown.
bool ThrowsForOthers(const profile::IntervalMethod& m) {
  return m.module.starts_with("System.Private.CoreLib") &&
         m.method.starts_with("System.Runtime.EH.");
}

bool IsAlive(uint32_t thread) {
  return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 || errno != ESRCH;
}

}  // namespace

void Agent::Wait() {
  const int64_t now = Now();
  int64_t wait = last_drain_ns_ + kDrainEvery - now;
  if (owner_is_missing() || !paused_.load())
    wait = std::min(wait, (owner_is_missing() ? owner_deadline_ns_ : next_interval_ns_) - now);
  if (!passes_.empty() || (live_ != nullptr && live_->derived() != 0))
    wait = std::min(wait, last_scan_ns_ + kScanEvery - now);
  if (budget_ != nullptr && !paused_.load()) wait = std::min(wait, budget_->due_ns(now) - now);
  if (unnamed_.size() != 0) wait = std::min(wait, lookup_due_ns() - now);
  wait = control_.has_lines() ? 0 : std::clamp<int64_t>(wait, 0, kSecond);
  std::vector<pollfd> polls = {{waker_.fd(), POLLIN, 0}};
  control_.AddPolls(polls);
  {
    const Heartbeat::Call call(heartbeat_, HeartbeatPage::kWait);
    (void)::poll(polls.data(), polls.size(),
                 static_cast<int>((wait + kMillisecond - 1) / kMillisecond));
  }
  if ((polls[0].revents & POLLIN) != 0) waker_.Clear();
}

void Agent::Step(int64_t now) {
  if (TermSignalCame()) HandOnTermSignal();
  StepBudget(now);
  ResolveInSlices();
  LookUpUnnamed(now);
  TakeGcNotes();
  const uint64_t gcs = std::max<uint64_t>(gcs_seen_, gcs_finished_.load());
  const ShardTotals sums = SumShards();
  const uint64_t samples = sums.samples - at_start_.samples;
  Listen(samples);
  TendSessions(samples, sums.events - at_start_.events, gcs, now);
  TendShards(now);
  bool filling = false;
  ShardPool::Get().ForEach(
      [&](Shard& s) { filling = filling || s.filling.load(std::memory_order_relaxed); });
  if (code_.crowded() || async_types_.crowded()) ResetCode();
  bool drained = false;
  const bool scan = live_ != nullptr && !passes_.empty() && now - last_scan_ns_ >= kScanEvery;
  if (filling || scan || now - last_drain_ns_ >= kDrainEvery) {
    drained = Drain();
    last_drain_ns_ = now;
  }
  if (live_ == nullptr) {
    passes_.clear();
  } else if (scan && drained) {
    // Not before everything that was allocated before these GCs is there: what comes later would
    // have missed them.
    ScanHandles(now);
  } else if (live_->derived() != 0 && now - last_scan_ns_ >= kScanEvery) {
    Regrade();
    last_scan_ns_ = now;
  }
  // An owner that has yet to come misses nothing.
  if (owner_is_missing()) {
    if (now >= owner_deadline_ns_) stop_ = true;
  } else if (!paused_.load() && now >= next_interval_ns_) {
    EndInterval(/*last=*/false);
    next_interval_ns_ = std::max(next_interval_ns_ + options_.every_ns, now);
  }
}

void Agent::TendSessions(uint64_t samples, uint64_t events, uint64_t gcs, int64_t now) {
  if (session_.Due(/*heard=*/!counts() && !in_windows(), samples, gcs, now)) {
    const UnloadDesk::Closed closed(desk_);
    session_.Renew(now);
    phase_.Forget();
  }
  if (event_sessions_.Due(events, now)) {
    const UnloadDesk::Closed closed(desk_);
    event_sessions_.Renew(now);
  }
}

void Agent::TendShards(int64_t now) {
  ShardPool& pool = ShardPool::Get();
  if (pool.wants_more()) pool.Refill();
  pool.FindStacks(MonotonicNs());
  if (now - last_tended_ns_ < kTendEvery) return;
  last_tended_ns_ = now;
  pool.TakeBack(IsAlive, [this](Shard& s) { return Empty(s); });
  pool.Refill();
  if (const uint64_t unloads = NativeMap::Unloads(); unloads != native_unloads_) {
    native_unloads_ = unloads;
    RetireNativeFrames();
  }
}

// GCs that allocation causes while no sample comes.
void Agent::Listen(uint64_t samples) {
  if (samples != samples_heard_ || in_windows()) allocating_gcs_ = 0;
  samples_heard_ = samples;
}

void Agent::TakeGcNotes() {
  GcNote note;
  while (gc_ring_.Pop(note)) {
    if (note.kind == GcNote::Kind::kStart) {
      ++gcs_seen_;
      if (clr::IsCausedByAllocation(note.reason)) ++allocating_gcs_;
    }
    gcs_.Add(note);
  }
  for (const profile::GcPass& pass : gcs_.TakePasses()) passes_.push_back(pass);
  // Nobody could read the handles for a while, as a thread stands still in the middle of a sample.
  // How many GCs an object survived is then too low; whether it lives is told by its handle.
  if (passes_.size() > kMostPasses)
    passes_.erase(passes_.begin(), passes_.end() - static_cast<ptrdiff_t>(kMostPasses / 2));
}

// Whoever unloads code waits: not for long.
void Agent::ResolveInSlices() {
  for (bool done = false; !done;) {
    ServeUnload();
    done = ResolveFrames(kSlice);
  }
}

bool Agent::ResolveFrame(uint32_t id) {
  CodeTable::Frame* f = code_.frame(id);
  if (f == nullptr) return false;
  if (!code_.current(id)) return true;
  if ((f->ip & kTypeKey) != 0) {
    ResolveType(id);
    return true;
  }
  const FunctionId function = f->function.load(std::memory_order_acquire);
  if (function == 0) {
    // A walk that ended here takes a snapshot next, which says what it is, or that it does not.
    const bool is_native = code_.is_native(id);
    if (!is_native && (!f->unnamed.load(std::memory_order_acquire) || unnamed_.full()))
      return false;
    unwind::FrameRule native;
    bool unloadable = false;
    if (CodeResolver::ResolveNative(f->ip, native_map_.get(), &native, &unloadable)) {
      if (unloadable) native_frames_.push_back(id);
      code_.SetRule(id, native, 0);
      if (options_.native) collector_.BindPlace(id, f->ip, Names::kNativeMethod, unloadable, Now());
      return true;
    }
    if (is_native || f->epoch != gate_.epoch()) {  // it has gone
      code_.Retire(id);
      return true;
    }
    if (unnamed_.size() == 0) unnamed_since_ns_ = Now();
    unnamed_.Add(id, f->ip);
    return true;
  }
  CodeResolver::Answer answer;
  Names::Method method;
  ModuleId module = 0;
  uint64_t role = 0;
  if (lookup_.Begin(f->epoch)) {
    answer = resolver_.Resolve(function, f->ip);
    method = names_.MethodOf(function);
    if (!answer.dynamic) role = RoleOf(lookup_, function, names_.methods()[method.id], &module);
  }
  if (lookup_.gone()) {
    code_.Retire(id);  // should the address be seen again, it is asked about then
    return true;
  }
  const profile::IntervalMethod& described = names_.methods()[method.id];
  collector_.Bind(id, method.id);
  code_.SetRole(id, role);
  if (module != 0 && described.module == kCoreLib) async_types_.SetCoreLib(module);
  if (ThrowsForOthers(described)) answer.rule.managed = false;
  if (answer.dynamic) {
    seen_dynamic_.Add(function);
    dynamic_frames_.push_back(id);
  } else if (method.collectible) {
    collectible_frames_.push_back(id);
  }
  // Dynamic methods have no lines.
  if (options_.lines && !answer.dynamic)
    collector_.BindPlace(id, f->ip, method.id, method.collectible, Now());
  code_.SetRule(id, answer.rule, function, answer.dynamic);
  return true;
}

// What nobody looked up may be gone by the time that somebody does, and what was looked up may have
// gone since: it waits for its next sighting.
void Agent::ResolveUnnamed() {
  unnamed_.ResolveAll([this](const UnnamedCode::Address& a) {
    const CodeTable::Frame* f = code_.frame(a.frame);
    if (!a.looked_up || f == nullptr || f->epoch != gate_.epoch()) {
      code_.Retire(a.frame);
    } else if (a.function == 0) {
      unwind::FrameRule stub;
      stub.state = unwind::RuleState::kSnapshot;
      code_.SetRule(a.frame, stub, 0);
    } else {
      code_.Name(a.frame, a.function);
      (void)ResolveFrame(a.frame);
    }
  });
  for (const uint32_t id : waiting_)  // there was no room for them
    if (const CodeTable::Frame* f = code_.frame(id); f != nullptr && f->unnamed.load())
      code_.Retire(id);
}

int64_t Agent::lookup_due_ns() const {
  return std::max(unnamed_since_ns_ + kGatherUnnamed, next_suspension_ns_);
}

// For a program that makes dynamic methods all the time this comes again and again. Where it also
// drops them, the threads that unload are mostly first.
void Agent::LookUpUnnamed(int64_t now) {
  if (unnamed_.size() == 0 || ending_.load() || now < lookup_due_ns()) return;
  {
    const UnloadDesk::Closed closed(desk_);
    const int64_t begin = MonotonicNs();
    if (const HResult hr = SuspendProgram(); !Succeeded(hr)) {
      next_suspension_ns_ = Now() + (hr == kSuspensionInProgress ? kSuspendEvery : kAskAgain);
      return;
    }
    {
      const Heartbeat::Call call(heartbeat_, "GetFunctionFromIP3");
      unnamed_.LookUp(info_);
    }
    ResumeProgram();
    const int64_t stop_ns = MonotonicNs() - begin;
    ++suspensions_;
    suspended_ns_ += static_cast<uint64_t>(stop_ns);
    next_suspension_ns_ = Now() + std::clamp(kRunForEachStop * stop_ns, kSuspendEvery, kLongestRun);
  }
  ResolveUnnamed();
}

// A type that an async method waits by. It may be unloaded by itself: with the first that is, all
// of them are looked at anew.
void Agent::ResolveType(uint32_t id) {
  Names::Method caller;
  ClassId machine = 0;
  if (lookup_.Begin(code_.frame(id)->epoch)) {
    machine = async_types_.Resolve(id);
    if (machine != 0) caller = names_.AsyncCaller(machine);
  }
  if (lookup_.gone()) {
    code_.Retire(id);
    return;
  }
  if (machine != 0) collector_.Bind(id, caller.id);
  collectible_frames_.push_back(id);
}

bool Agent::ResolveFrames(uint32_t limit) {
  const uint32_t end = code_.frame_count();
  if (resolved_ == end && waiting_.empty()) return true;
  for (size_t i = 0; i < waiting_.size();) {
    if (!ResolveFrame(waiting_[i])) {
      ++i;
      continue;
    }
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
    waiting_count_.store(waiting_.size());
  }
  for (uint32_t budget = limit; resolved_ < end && budget != 0; ++resolved_, --budget) {
    if (ResolveFrame(resolved_)) continue;
    waiting_.push_back(resolved_);
    waiting_count_.store(waiting_.size());  // before it counts as looked at
  }
  return resolved_ == end;
}

// Other code may lie where a library was, and be walked in another way.
void Agent::RetireNativeFrames() {
  for (const uint32_t id : native_frames_) code_.Retire(id);
  native_frames_.clear();
}

bool Agent::Empty(Shard& s) {
  return s.Empty([&](ShardTable& table) {
    (void)ResolveFrames(~uint32_t{0});  // of what it holds
    collector_.SetClock(static_cast<uint32_t>(Now() / kSecond) + 1);
    collector_.Take(table, s.thread_id.load(std::memory_order_relaxed), live_.get(),
                    [&](uint64_t handle) { ReleaseHandle(this, handle); });
  });
}

bool Agent::Drain() {
  const uint32_t epoch = gate_.epoch();
  bool all = true;
  ShardPool::Get().ForEach([&](Shard& s) {
    if (s.place.load(std::memory_order_acquire) == nullptr) return;  // nobody's, and empty
    s.filling.store(false, std::memory_order_relaxed);
    all = Empty(s) && all;
  });
  if (all && gate_.epoch() == epoch) names_.ForgetEarlierEpochs();
  return all;
}

// Begins the tables of addresses anew: they are full, which takes a quarter of a million addresses.
void Agent::ResetCode() {
  sampler_->Pause(Sampler::kForTables);
  (void)ResolveFrames(~uint32_t{0});
  if (Drain()) {
    code_.Clear();
    async_types_.Clear();
    sampler_->NumberAnew();
    collector_.UnbindAll();
    resolved_ = kFirstFrame;
    waiting_.clear();
    waiting_count_.store(0);
    unnamed_.ResolveAll([](const UnnamedCode::Address&) {});
    dynamic_frames_.clear();
    seen_dynamic_.Clear();
    collectible_frames_.clear();
    native_frames_.clear();
  }
  sampler_->Resume(Sampler::kForTables);
}

// The object itself may move at any time, as this thread is none that the runtime stops: its memory
// is left alone.
bool Agent::Probe(uint64_t handle, int8_t* generation) {
  bool alive = false;
  *generation = generations_.Of(reinterpret_cast<ObjectHandle>(handle),
                                &alive);  // NOLINT(performance-no-int-to-ptr)
  return alive;
}

void Agent::ScanHandles(int64_t now) {
  const int64_t begin = MonotonicNs();
  if (session_.on()) (void)generations_.Take();
  {
    const Heartbeat::Call call(heartbeat_, "GetObjectIDFromHandle");
    live_->AfterGcs(passes_, now,
                    [&](uint64_t handle, int8_t* generation) { return Probe(handle, generation); });
  }
  passes_.clear();
  last_scan_ns_ = now;
  meter_.handle_scan_ns += static_cast<uint64_t>(MonotonicNs() - begin);
}

void Agent::Regrade() {
  // Without a session nobody tells that a collection begins.
  if (live_->derived() == 0 || !session_.on() || !generations_.Take()) return;
  const Heartbeat::Call call(heartbeat_, "GetObjectIDFromHandle");
  live_->Regrade([&](uint64_t handle, int8_t* generation) { return Probe(handle, generation); });
}

}  // namespace clrscope::agent
