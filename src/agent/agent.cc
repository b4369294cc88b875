// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>

#include "agent/clock.h"
#include "agent/term_signal.h"
#include "agent/thread.h"
#include "base/units.h"
#include "clr/event_table.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kDrainEvery = kSecond;
constexpr int64_t kScanEvery = 100 * kMillisecond;  // after GCs, at most so often
constexpr int64_t kOwnerPatience = 20 * kSecond;    // until whoever attached must be connected
constexpr int kShutdownPatience = 3000;             // ms
// ms until the runtime first looks whether it may let go; 300 is the least that it takes. It looks
// again at twice that time, from then on every 5 s only, and with that it begins when its thread
// comes later; whoever attaches meanwhile waits as long. Source: dotnet/runtime
// src/coreclr/vm/profdetach.cpp, SleepWhileProfilerEvacuates
constexpr uint32_t kDetachSoon = 300;
constexpr int kSampledSince = 10;  // .NET 10

std::string Hex(HResult hr) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4)
    out += kDigits[static_cast<uint32_t>(hr) >> shift & 15];
  return out;
}

// Since .NET 9 exceptions are thrown by managed code of the runtime's, which its own walks pass
// over: what it allocates is allocated where something was thrown.
bool ThrowsForOthers(const profile::IntervalMethod& m) {
  return m.module.starts_with("System.Private.CoreLib") &&
         m.method.starts_with("System.Runtime.EH.");
}

}  // namespace

Agent::Agent(ICorProfilerInfo* info, Options options, bool attached)
    : info_(info),
      options_(std::move(options)),
      attached_(attached),
      start_ns_(MonotonicNs()),
      start_unix_ns_(ClockNs(CLOCK_REALTIME)),
      resolver_(info),
      names_(info),
      collector_(names_, code_),
      generations_(info, phase_) {}

Agent::~Agent() = default;

int64_t Agent::Now() const { return MonotonicNs() - start_ns_; }

Status Agent::Start() {
  if (!code_.ok() || waker_.fd() < 0)
    return Error{ErrorCode::kFailed, "there is no memory for the agent"};
  std::array<char16_t, 128> version{};
  uint16_t instance = 0, major = 0, minor = 0, build = 0, qfe = 0;
  int32_t kind = 0;
  uint32_t length = 0;
  if (const HResult hr = info_->GetRuntimeInformation(&instance, &kind, &major, &minor, &build,
                                                      &qfe, static_cast<uint32_t>(version.size()),
                                                      &length, version.data());
      !Succeeded(hr))
    return Error{ErrorCode::kRefused, "GetRuntimeInformation: " + Hex(hr)};
  major_ = major;
  runtime_ =
      ".NET " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
  source_ = options_.exact && !attached_ ? profile::Source::kCounted
            : major_ >= kSampledSince    ? profile::Source::kSampled
                                         : profile::Source::kTick;
  uint32_t low = kEnableStackSnapshot | kMonitorModuleLoads;
  if (source_ == profile::Source::kCounted) low |= kMonitorObjectAllocated | kEnableObjectAllocated;
  const bool follows = options_.live && source_ != profile::Source::kCounted;
  uint32_t high = kHighEventPipe | kHighDynamicFunctionUnloads;
  // The runtime keeps the bounds of its generations; collections stay concurrent.
  if (follows) high |= kHighBasicGc;
  if (const HResult hr = info_->SetEventMask2(low, high); !Succeeded(hr))
    return Error{ErrorCode::kRefused, "SetEventMask2: " + Hex(hr)};
  sampler_ = std::make_unique<Sampler>(
      info_, code_, Sampler::Options{source_, options_.selftest, options_.snapshots}, WakeThread,
      this);
  sampler_->start_ns = start_ns_;
  if (follows) {
    profile::LiveSample::Options live;
    live.cap = options_.cap;
    live.source = source_;
    live.seed = static_cast<uint64_t>(start_unix_ns_);
    live.release = ReleaseHandle;
    live.context = this;
    live_ = std::make_unique<profile::LiveSample>(live);
    sampler_->Follow(live_.get());
  }
  at_start_ = at_interval_ = SumShards();
  // Shards keep what an earlier instance left in them.
  ShardPool::Get().ForEach([](Shard& s) {
    for (int side = 0; side < 2; ++side)
      if (ShardTable* t = s.Flip()) t->Clear();
  });
  if (!attached_) {
    ready_.store(true);
    RETURN_IF_ERROR(StartSession());
  }

  auto* self = new std::shared_ptr<Agent>(shared_from_this());
  if (StartThread(ThreadMain, self)) return OkStatus();
  delete self;
  ended_.store(true);
  return Error{ErrorCode::kFailed, "cannot start the agent's thread"};
}

Status Agent::StartSession() {
  if (source_ != profile::Source::kCounted) sampling_.store(true);
  // AllocationTick is verbose; AllocationSampled silences it in the whole process: never both.
  EventPipeProviderConfig provider{};
  provider.name = u"Microsoft-Windows-DotNETRuntime";
  provider.keywords = clr::keyword::kGc;
  provider.level = 4;
  if (source_ == profile::Source::kSampled) provider.keywords |= clr::keyword::kAllocationSampling;
  if (source_ == profile::Source::kTick) provider.level = 5;
  HResult hr = kFail;
  const auto start = [&] { hr = info_->EventPipeStartSession(1, &provider, 0, &session_); };
  if (!attached_) {
    start();  // in Initialize: nothing of the program is missed
  } else if (!OnThrowawayThread(start)) {
    return Error{ErrorCode::kFailed, "cannot start a thread"};
  }
  phase_.Forget();
  if (Succeeded(hr)) return OkStatus();
  sampling_.store(false);
  session_ = 0;
  return Error{ErrorCode::kRefused, "EventPipeStartSession: " + Hex(hr)};
}

void Agent::StopSession() {
  if (session_ != 0) (void)OnThrowawayThread([&] { (void)info_->EventPipeStopSession(session_); });
  session_ = 0;
  phase_.Forget();
}

void* Agent::ThreadMain(void* raw) {
  auto* holder = static_cast<std::shared_ptr<Agent>*>(raw);
  const std::shared_ptr<Agent> self = std::move(*holder);
  delete holder;
  (void)::prctl(PR_SET_NAME, "clrscope-agent");
  try {
    self->Run();
  } catch (...) {  // no memory: be quiet
    self->sampling_.store(false);
  }
  self->ended_.store(true);
  return nullptr;
}

void Agent::WakeThread(void* self) { static_cast<Agent*>(self)->waker_.Wake(); }

void Agent::ReleaseHandle(void* self, uint64_t handle) {
  (void)static_cast<Agent*>(self)->info_->DestroyHandle(
      reinterpret_cast<ObjectHandle>(handle));  // NOLINT(performance-no-int-to-ptr)
}

void Agent::OnAttachComplete() {
  ready_.store(true);
  waker_.Wake();
}

void Agent::OnShutdown() {
  ending_.store(true);
  waker_.Wake();
  for (int i = 0; i < kShutdownPatience && !ended_.load(); ++i) {
    const timespec pause{0, 1'000'000};
    (void)::nanosleep(&pause, nullptr);
  }
}

void Agent::Run() {
  native_map_ = NativeMap::Make();
  sampler_->SetNativeMap(native_map_.get());
  if (Status s = control_.Listen(); !s.ok()) failure_ = s.error().message;
  (void)gc_threads_.Take();
  thread_cpu_ns_ = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  owner_deadline_ns_ = Now() + kOwnerPatience;
  while (!ready_.load() && !ending_.load()) {
    pollfd wake{waker_.fd(), POLLIN, 0};
    (void)::poll(&wake, 1, 100);
    waker_.Clear();
  }
  if (attached_ && !ending_.load()) {
    if (Status s = StartSession(); !s.ok()) {
      failure_ = s.error().message;
      stop_ = owner_is_missing();
    }
  }
  if (!options_.output.empty()) TakeTermSignal(WakeThread, this);
  interval_start_ns_ = Now();
  next_interval_ns_ = interval_start_ns_ + options_.every_ns;
  std::vector<pollfd> polls;
  while (!stop_ && !ending_.load()) {
    const int64_t now = Now();
    int64_t wait = last_drain_ns_ + kDrainEvery - now;
    if (owner_is_missing() || !paused_.load())
      wait = std::min(wait, (owner_is_missing() ? owner_deadline_ns_ : next_interval_ns_) - now);
    if (!passes_.empty() || (live_ != nullptr && live_->derived() != 0))
      wait = std::min(wait, last_scan_ns_ + kScanEvery - now);
    wait = std::clamp<int64_t>(wait, 0, kSecond);
    polls.clear();
    polls.push_back({waker_.fd(), POLLIN, 0});
    control_.AddPolls(polls);
    (void)::poll(polls.data(), polls.size(),
                 static_cast<int>((wait + kMillisecond - 1) / kMillisecond));
    if ((polls[0].revents & POLLIN) != 0) waker_.Clear();
    control_.Serve(*this);
    Step(Now());
  }
  LetGo();
}

void Agent::Step(int64_t now) {
  if (TermSignalCame()) {
    EndInterval(/*last=*/false);
    PassOnTermSignal();
  }
  ResolveInSlices();
  TakeGcNotes();
  if (source_ != profile::Source::kCounted && session_ != 0 &&
      silence_.TimeToAsk(SumShards().samples, gcs_seen_, now)) {
    StopSession();
    if (Status s = StartSession(); !s.ok()) failure_ = s.error().message;
    ++sessions_again_;
  }
  bool filling = false;
  ShardPool::Get().ForEach([&](Shard& s) { filling = filling || s.filling(); });
  if (code_.crowded()) ResetCode();
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

void Agent::TakeGcNotes() {
  GcNote note;
  while (gc_ring_.Pop(note)) {
    gcs_seen_ += note.kind == GcNote::Kind::kStart ? 1 : 0;
    gcs_.Add(note);
  }
  for (const profile::GcPass& pass : gcs_.TakePasses()) passes_.push_back(pass);
}

// Whoever unloads code waits: not for long.
void Agent::ResolveInSlices() {
  for (bool done = false; !done;) {
    ServeUnload();
    done = ResolveFrames(kSlice);
  }
}

bool Agent::ResolveFrames(uint32_t limit) {
  const uint32_t end = code_.frame_count();
  if (resolved_ == end && waiting_.empty()) return true;
  const auto resolve = [&](uint32_t id) {
    CodeTable::Frame* f = code_.frame(id);
    if (f == nullptr) return false;
    if (!code_.current(id)) return true;
    CodeResolver::Answer answer = resolver_.Resolve(f->ip, native_map_.get());
    if (answer.function != 0) {
      const Names::Method method = names_.MethodOf(answer.function);
      collector_.Bind(id, method.id);
      if (ThrowsForOthers(names_.methods()[method.id])) answer.rule.managed = false;
      if (answer.dynamic) {
        seen_dynamic_.Add(answer.function);
        dynamic_frames_.push_back(id);
      } else if (method.collectible) {
        collectible_frames_.push_back(id);
      }
    }
    code_.SetRule(id, answer.rule, answer.function, answer.dynamic);
    return true;
  };
  for (size_t i = 0; i < waiting_.size();) {
    if (!resolve(waiting_[i])) {
      ++i;
      continue;
    }
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
  }
  for (uint32_t budget = limit; resolved_ < end && budget != 0; ++resolved_, --budget)
    if (!resolve(resolved_)) waiting_.push_back(resolved_);
  return resolved_ == end;
}

bool Agent::Drain() {
  bool all = true;
  ShardPool::Get().ForEach([&](Shard& s) {
    ShardTable* table = s.Flip();
    if (table == nullptr) {
      all = false;
      return;
    }
    (void)ResolveFrames(~uint32_t{0});  // of what it holds
    collector_.Take(*table, live_.get(), [&](uint64_t handle) { ReleaseHandle(this, handle); });
    table->Clear();
  });
  return all;
}

// Begins the tables of addresses anew: they are full, which takes a quarter of a million addresses.
void Agent::ResetCode() {
  sampler_->paused.store(true);
  (void)ResolveFrames(~uint32_t{0});
  bool quiet = true;
  for (int side = 0; side < 2; ++side) quiet = Drain() && quiet;
  if (quiet) {
    code_.Clear();
    collector_.UnbindAll();
    resolved_ = kFirstFrame;
    waiting_.clear();
    dynamic_frames_.clear();
    collectible_frames_.clear();
  }
  sampler_->paused.store(false);
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
  if (session_ != 0) (void)generations_.Take();
  live_->AfterGcs(passes_, now,
                  [&](uint64_t handle, int8_t* generation) { return Probe(handle, generation); });
  passes_.clear();
  last_scan_ns_ = now;
  meter_.handle_scan_ns += static_cast<uint64_t>(MonotonicNs() - begin);
}

void Agent::Regrade() {
  // Without a session nobody tells that a collection begins.
  if (live_->derived() == 0 || session_ == 0 || !generations_.Take()) return;
  live_->Regrade([&](uint64_t handle, int8_t* generation) { return Probe(handle, generation); });
}

void Agent::LetGo() {
  GiveBackTermSignal();
  sampling_.store(false);
  if (!ending_.load()) {
    // What the session told is used up before it ends.
    TakeGcNotes();
    if (live_ != nullptr && Drain() && !passes_.empty()) ScanHandles(Now());
    if (live_ != nullptr) Regrade();
    StopSession();
  }
  TakeGcNotes();
  EndInterval(/*last=*/true);
  control_.Flush(ending_.load() ? 500 : 5000);
  sampler_->Follow(nullptr);
  if (ending_.load()) {
    control_.Close();
    return;  // handles and memory go with the process
  }
  if (live_ != nullptr) live_->Clear();
  const HResult hr = info_->RequestProfilerDetach(kDetachSoon);
  if (!Succeeded(hr)) failure_ = "RequestProfilerDetach: " + Hex(hr);
  control_.Close();
}

}  // namespace clrscope::agent
