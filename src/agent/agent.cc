// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/clock.h"
#include "agent/term_signal.h"
#include "agent/thread.h"
#include "base/loss.h"
#include "base/utf.h"
#include "clr/alloc_events.h"
#include "clr/event_table.h"
#include "clr/gc_events.h"
#include "profile/interval_codec.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kMillisecond = 1'000'000, kSecond = 1'000'000'000;
constexpr int64_t kDrainEvery = kSecond;
constexpr int64_t kScanEvery = 100 * kMillisecond;  // after GCs, at most so often
constexpr int64_t kOwnerPatience = 20 * kSecond;    // until whoever attached must be connected
constexpr int kUnloadPatience = 1000;               // ms that an unloading waits for us at most
constexpr int kLastDrains = 50;
constexpr uint32_t kSlice = 64;          // frames that are looked up in one go
constexpr int kShutdownPatience = 3000;  // ms
constexpr uint32_t kDetachSoon = 1;      // ms; the runtime asks again by itself
constexpr int kSampledSince = 10;        // .NET 10

// Of the events that the agent asks for. Source: dotnet/runtime ClrEtwAll.man
constexpr uint32_t kGcStart = 1, kGcEnd = 2, kGcRestartEnd = 3, kGcHeapStats = 4,
                   kGcSuspendBegin = 9, kAllocationTick = 10, kAllocationSampled = 303;

std::string Hex(HResult hr) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4)
    out += kDigits[static_cast<uint32_t>(hr) >> shift & 15];
  return out;
}

profile::HeapKind KindOf(uint32_t kind) {
  return kind <= 2 ? static_cast<profile::HeapKind>(kind) : profile::HeapKind::kUnknown;
}

std::string NameOf(Loss loss) { return std::string(Describe(loss).name); }

void JsonText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  out += '"';
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
      collector_(names_, code_) {}

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
  if (const HResult hr = info_->SetEventMask2(low, kHighEventPipe | kHighDynamicFunctionUnloads);
      !Succeeded(hr))
    return Error{ErrorCode::kRefused, "SetEventMask2: " + Hex(hr)};
  sampler_ = std::make_unique<Sampler>(
      info_, code_, Sampler::Options{source_, options_.selftest, options_.snapshots}, WakeThread,
      this);
  sampler_->start_ns = start_ns_;
  if (options_.live && source_ != profile::Source::kCounted) {
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
  if (Succeeded(hr)) return OkStatus();
  sampling_.store(false);
  session_ = 0;
  return Error{ErrorCode::kRefused, "EventPipeStartSession: " + Hex(hr)};
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

void Agent::OnEvent(uint32_t id, uint32_t version, Bytes payload, Registers from) {
  clr::EventKind kind;
  kind.id = id;
  kind.version = version;
  clr::RawEvent event;
  event.kind = &kind;
  event.payload = payload;
  if (id == kAllocationSampled) {
    clr::AllocationSampled e;
    if (!sampling_.load(std::memory_order_relaxed)) return;
    if (!clr::Decode(event, e)) {
      unknown_events_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    sampler_->OnAllocation({KindOf(e.kind), e.type_id, e.object_size, 0, e.address}, from);
    return;
  }
  if (id == kAllocationTick) {
    clr::AllocationTick e;
    if (source_ != profile::Source::kTick || !sampling_.load(std::memory_order_relaxed)) return;
    if (!clr::Decode(event, e)) {
      unknown_events_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    sampler_->OnAllocation({KindOf(e.kind), e.type_id, e.object_size, e.amount, e.address}, from);
    return;
  }
  if (id != kGcStart && id != kGcEnd && id != kGcRestartEnd && id != kGcHeapStats &&
      id != kGcSuspendBegin)
    return;
  GcNote n;
  n.time_ns = Now();
  n.thread_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  n.thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  if (id == kGcStart) {
    clr::GcStart e;
    if (!clr::Decode(event, e)) return;
    sampler_->gcs_begun.fetch_add(1);
    n.kind = GcNote::Kind::kStart;
    n.number = e.number;
    n.generation = static_cast<int8_t>(e.generation);
    n.type = static_cast<int8_t>(e.type);
    n.reason = static_cast<int8_t>(e.reason);
  } else if (id == kGcEnd) {
    clr::GcEnd e;
    if (!clr::Decode(event, e)) return;
    n.kind = GcNote::Kind::kEnd;
    n.number = e.number;
  } else if (id == kGcHeapStats) {
    clr::GcHeapStats e;
    if (!clr::Decode(event, e)) return;
    n.kind = GcNote::Kind::kHeapStats;
    std::copy(std::begin(e.size), std::end(e.size), n.sizes.begin());
  } else if (id == kGcSuspendBegin) {
    clr::GcSuspendBegin e;
    // Only those for a GC, or for what a background GC needs stopped.
    if (!clr::Decode(event, e) || (e.reason != 1 && e.reason != 6)) return;
    n.kind = GcNote::Kind::kSuspend;
  } else {
    n.kind = GcNote::Kind::kRestart;
  }
  (void)gc_ring_.Push(n);
  if (n.kind == GcNote::Kind::kRestart && live_ != nullptr) waker_.Wake();
}

void Agent::OnObjectAllocated(ObjectId object, ClassId type, Registers from) {
  size_t size = 0;
  if (!Succeeded(info_->GetObjectSize2(object, &size))) return;
  Allocation a;
  a.kind = profile::HeapKind::kUnknown;
  a.type = type;
  a.size = (size + 7) / 8 * 8;  // as the heap rounds it
  sampler_->OnAllocation(a, from);
}

void Agent::OnModuleUnload(ModuleId module) { AwaitUnload({/*dynamic=*/false, module}); }

void Agent::OnDynamicUnload(FunctionId function) {
  // Most of them were never seen on a stack, nor are about to be looked up.
  if (resolved_.load() == code_.frame_count() && !seen_dynamic_.Maybe(function)) return;
  AwaitUnload({/*dynamic=*/true, function});
}

// The agent's thread may be asking the runtime about the very code that is to go: it has to be done
// with it first.
void Agent::AwaitUnload(const Unload& what) {
  if (!ready_.load() || ended_.load()) return;
  const timespec pause{0, 50'000};
  int waited = 0;
  for (; unload_taken_.exchange(true, std::memory_order_acquire); ++waited) {
    if (waited == kUnloadPatience * 20 || ended_.load()) {
      unload_missed_.store(true);
      return;
    }
    (void)::nanosleep(&pause, nullptr);
  }
  unload_ = what;
  unload_state_.store(UnloadState::kAsked, std::memory_order_release);
  waker_.Wake();
  while (unload_state_.load(std::memory_order_acquire) == UnloadState::kAsked && !ended_.load()) {
    if (waited++ == kUnloadPatience * 20) {
      UnloadState asked = UnloadState::kAsked;
      unload_missed_.store(true);
      // From now on it is for the one who serves it to make room for the next.
      if (unload_state_.compare_exchange_strong(asked, UnloadState::kAbandoned)) return;
      break;
    }
    (void)::nanosleep(&pause, nullptr);
  }
  unload_state_.store(UnloadState::kNone);
  unload_taken_.store(false, std::memory_order_release);
}

void Agent::ServeUnload() {
  const bool missed = unload_missed_.exchange(false);
  if (missed) {
    // Somebody did not wait: code that is not looked up yet may be half gone. Nobody asks about it.
    for (const uint32_t id : waiting_) code_.Retire(id);
    waiting_.clear();
    for (const uint32_t end = code_.frame_count(); resolved_ < end; ++resolved_)
      code_.Retire(resolved_);
    names_.Forget(0);
  }
  const UnloadState state = unload_state_.load(std::memory_order_acquire);
  if (state != UnloadState::kAsked && state != UnloadState::kAbandoned) return;
  const Unload what = unload_;
  if (what.dynamic) {
    names_.ForgetFunction(what.id);
    for (size_t i = 0; i < dynamic_frames_.size();) {
      const CodeTable::Frame* f = code_.frame(dynamic_frames_[i]);
      if (f == nullptr || f->function.load() != what.id) {
        ++i;
        continue;
      }
      code_.Retire(dynamic_frames_[i]);
      ++retired_;
      dynamic_frames_[i] = dynamic_frames_.back();
      dynamic_frames_.pop_back();
    }
  } else {
    // What was seen of it so far gets its names now. Which of the code that can be unloaded it is,
    // nobody says: all of it is looked up again when it is seen again.
    if (!missed) (void)ResolveFrames(~uint32_t{0});
    for (int i = 0; i < 10 && !Drain(); ++i) {
    }
    names_.Forget(what.id);
    for (const uint32_t id : collectible_frames_) code_.Retire(id);
    retired_ += collectible_frames_.size();
    collectible_frames_.clear();
  }
  UnloadState asked = UnloadState::kAsked;
  if (unload_state_.compare_exchange_strong(asked, UnloadState::kDone)) return;
  unload_state_.store(UnloadState::kNone);
  unload_taken_.store(false, std::memory_order_release);
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
      stop_ = options_.owned && !control_.has_subscriber();
    }
  }
  if (!options_.output.empty()) TakeTermSignal(WakeThread, this);
  interval_start_ns_ = Now();
  next_interval_ns_ = interval_start_ns_ + options_.every_ns;
  std::vector<pollfd> polls;
  while (!stop_ && !ending_.load()) {
    const int64_t now = Now();
    const bool awaited = options_.owned && !control_.has_subscriber();
    int64_t wait = last_drain_ns_ + kDrainEvery - now;
    if (!awaited) wait = std::min(wait, next_interval_ns_ - now);
    if (!passes_.empty()) wait = std::min(wait, last_scan_ns_ + kScanEvery - now);
    if (options_.owned && !control_.has_subscriber())
      wait = std::min(wait, owner_deadline_ns_ - now);
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
  GcNote note;
  while (gc_ring_.Pop(note)) gcs_.Add(note);
  for (const profile::GcPass& pass : gcs_.TakePasses()) passes_.push_back(pass);
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
  }
  // An owner that has yet to come misses nothing.
  const bool awaited = options_.owned && !control_.has_subscriber();
  if (now >= next_interval_ns_ && !awaited) {
    EndInterval(/*last=*/false);
    next_interval_ns_ = std::max(next_interval_ns_ + options_.every_ns, now);
  }
  if (options_.owned && !control_.has_subscriber() && now >= owner_deadline_ns_) stop_ = true;
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
    const CodeResolver::Answer answer = resolver_.Resolve(f->ip, native_map_.get());
    if (answer.function != 0) {
      const Names::Method method = names_.MethodOf(answer.function);
      collector_.Bind(id, method.id);
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

void Agent::ScanHandles(int64_t now) {
  const int64_t begin = MonotonicNs();
  // Only null or not is read: the object itself may move at any time, as this thread is none that
  // the runtime stops. For that reason its generation is not asked for either (the runtime would
  // look its address up in tables of regions, where it may not be any more): it follows from the
  // GCs that the object has survived.
  live_->AfterGcs(passes_, now, [&](uint64_t handle, int8_t*) {
    ObjectId object = 0;
    return Succeeded(info_->GetObjectIDFromHandle(reinterpret_cast<ObjectHandle>(handle),
                                                  &object)) &&  // NOLINT
           object != 0;
  });
  passes_.clear();
  last_scan_ns_ = now;
  meter_.handle_scan_ns += static_cast<uint64_t>(MonotonicNs() - begin);
}

Agent::Totals Agent::SumShards() const {
  Totals t;
  ShardPool::Get().ForEach([&](const Shard& s) {
    const auto get = [](const std::atomic<uint64_t>& v) {
      return v.load(std::memory_order_relaxed);
    };
    t.samples += get(s.counts.samples);
    t.nanoseconds += get(s.counts.nanoseconds);
    t.snapshots += get(s.counts.snapshots);
    t.snapshot_failed += get(s.counts.snapshot_failed);
    t.full += get(s.counts.full);
    t.paused += get(s.counts.paused);
    t.births_lost += get(s.counts.births_lost);
    t.handle_failed += get(s.counts.handle_failed);
    t.equal += get(s.counts.selftest_equal);
    t.different += get(s.counts.selftest_different);
    t.skipped += get(s.counts.selftest_skipped);
    for (size_t i = 0; i < 3; ++i) t.ends[i] += get(s.counts.ends[i]);
  });
  return t;
}

void Agent::EndInterval(bool last) {
  ResolveInSlices();
  bool drained = Drain();
  for (int i = 0; last && !drained && i < kLastDrains; ++i) drained = Drain();
  const int64_t now = Now();
  if (live_ != nullptr && !passes_.empty() && (drained || last)) ScanHandles(now);
  profile::IntervalFrame f;
  f.sequence = sequence_++;
  f.start_unix_ns = start_unix_ns_;
  f.start_ns = interval_start_ns_;
  f.end_ns = now;
  f.pid = static_cast<uint32_t>(::getpid());
  f.runtime = runtime_;
  f.source = source_;
  f.live = live_ != nullptr;
  f.last = last;
  collector_.FillFrame(f);
  if (live_ != nullptr) {
    live_->TakeLives(now, f.lives);
    live_->TakeTurnover(f.turnover);
  }
  f.gcs = gcs_.TakeGcs();
  f.cpu = gc_threads_.Take();
  f.cpu.workstation_gc_ns =
      gcs_.TakeWorkstationNs([&](uint32_t thread) { return gc_threads_.IsGcThread(thread); });

  const Totals sums = SumShards();
  meter_.samples = sums.samples - at_interval_.samples;
  meter_.sample_ns = sums.nanoseconds - at_interval_.nanoseconds;
  meter_.walk_fallbacks = sums.snapshots - at_interval_.snapshots;
  const int64_t cpu = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  meter_.agent_cpu_ns = static_cast<uint64_t>(cpu - thread_cpu_ns_);
  thread_cpu_ns_ = cpu;
  meter_.agent_bytes = collector_.memory_bytes() + code_.memory_bytes();
  ShardPool::Get().ForEach([&](const Shard& s) { meter_.agent_bytes += s.memory_bytes(); });
  if (live_ != nullptr) {
    meter_.agent_bytes += live_->memory_bytes();
    meter_.handles = live_->size();
    meter_.live_mean_bytes = live_->live_mean_bytes();
  }
  f.meter = meter_;
  meter_ = {};
  const auto lost = [&](const std::string& name, uint64_t count) {
    if (count != 0) f.losses.emplace_back(name, count);
  };
  lost(NameOf(Loss::kAgentSamples),
       sums.full - at_interval_.full + sums.paused - at_interval_.paused);
  lost(NameOf(Loss::kAgentObjects), sums.births_lost - at_interval_.births_lost +
                                        sums.handle_failed - at_interval_.handle_failed);
  lost(NameOf(Loss::kMissingStack), sums.snapshot_failed - at_interval_.snapshot_failed);
  std::vector<std::pair<std::string, uint64_t>> totals = {
      {NameOf(Loss::kAgentGcEvents), gc_ring_.lost()},
      {NameOf(Loss::kUnresolvedFrame), names_.unnamed_methods()},
      {NameOf(Loss::kUnnamedType), names_.unnamed_types()},
      {NameOf(Loss::kStackNodesCapped), collector_.overflowed()},
      {NameOf(Loss::kUnsupportedVersion), unknown_events_.load()},
      {NameOf(Loss::kAgentTurnover), live_ == nullptr ? 0 : live_->lost_turnover()}};
  for (size_t i = 0; i < totals.size(); ++i)
    lost(totals[i].first,
         totals[i].second - (i < lost_before_.size() ? lost_before_[i].second : 0));
  lost_before_ = std::move(totals);
  at_interval_ = sums;
  interval_start_ns_ = now;
  if (control_.has_subscriber() && !control_.Send(profile::EncodeInterval(f))) ++frames_dropped_;
  if (!options_.output.empty()) WriteSpool(f);
}

void Agent::WriteSpool(const profile::IntervalFrame& f) {
  const std::string path =
      ExpandName(options_.output, ProgramName(), f.pid, f.start_unix_ns + f.end_ns);
  const auto write = [&](const std::string& to, const std::string& bytes) {
    const Status s = WriteAtomically(to, bytes);
    s.ok() ? ++spooled_ : ++spool_failed_;
    if (!s.ok()) failure_ = s.error().message;
  };
  write(path,
        EncodePprof(f, {names_.methods(), names_.types(), collector_.nodes()}, options_.labels));
  const std::string cpu = EncodeGcCpuPprof(f, options_.labels);
  if (cpu.empty()) return;
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot < path.rfind('/') + 1 ? path.size() : dot;
  write(path.substr(0, at) + "-gccpu" + path.substr(at), cpu);
}

void Agent::LetGo() {
  GiveBackTermSignal();
  sampling_.store(false);
  if (session_ != 0 && !ending_.load())
    (void)OnThrowawayThread([&] { (void)info_->EventPipeStopSession(session_); });
  session_ = 0;
  GcNote note;
  while (gc_ring_.Pop(note)) gcs_.Add(note);
  for (const profile::GcPass& pass : gcs_.TakePasses()) passes_.push_back(pass);
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

void Agent::OwnerCame() {
  // A new reader knows nothing of the dictionaries, and is told what follows from now on.
  (void)ResolveFrames(kSlice);
  (void)Drain();
  profile::IntervalFrame dropped;
  if (sequence_ != 0) collector_.FillFrame(dropped);
  collector_.Resend();
}

void Agent::OwnerLeft() {
  if (options_.owned) stop_ = true;
}

std::string Agent::Command(std::string_view line) {
  if (line == "detach" || line == "stop") {
    stop_ = true;
    return "ok";
  }
  if (line == "interval") {
    EndInterval(/*last=*/false);
    next_interval_ns_ = Now() + options_.every_ns;
    return "ok";
  }
  if (line.starts_with("every ")) {
    Result<Options> parsed = ParseOptions("every=" + std::string(line.substr(6)));
    if (!parsed.ok()) return "error " + parsed.error().message;
    options_.every_ns = parsed->every_ns;
    next_interval_ns_ = Now() + options_.every_ns;
    return "ok";
  }
  if (line != "status") return "error there is no such command";
  const Totals sums = SumShards();
  std::string out = "{\"schema_version\":1,\"pid\":" + std::to_string(::getpid()) + ",\"runtime\":";
  JsonText(out, runtime_);
  const auto add = [&](const char* name, uint64_t value) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  out += ",\"event\":";
  JsonText(out, profile::EventName(source_));
  out += std::string(",\"sampling\":") +
         (sampling_.load() || source_ == profile::Source::kCounted ? "true" : "false");
  out += std::string(",\"attached\":") + (attached_ ? "true" : "false");
  out += std::string(",\"owned\":") + (options_.owned ? "true" : "false");
  out += std::string(",\"live\":") + (live_ != nullptr ? "true" : "false");
  add("uptime_ms", static_cast<uint64_t>(Now() / kMillisecond));
  add("every_ms", static_cast<uint64_t>(options_.every_ns / kMillisecond));
  add("samples", sums.samples - at_start_.samples);
  add("sample_ns", sums.nanoseconds - at_start_.nanoseconds);
  add("walk_fallbacks", sums.snapshots - at_start_.snapshots);
  add("walk_new", sums.ends[1] - at_start_.ends[1]);
  add("walk_refused", sums.ends[2] - at_start_.ends[2]);
  add("selftest_equal", sums.equal - at_start_.equal);
  add("selftest_different", sums.different - at_start_.different);
  add("selftest_skipped", sums.skipped - at_start_.skipped);
  add("table_full", sums.full - at_start_.full);
  add("agent_cpu_ns", static_cast<uint64_t>(ClockNs(CLOCK_THREAD_CPUTIME_ID)));
  add("handles", live_ == nullptr ? 0 : live_->size());
  add("frames", code_.frame_count());
  add("methods", names_.methods().size());
  add("types", names_.types().size());
  add("retired", retired_);
  add("files", spooled_);
  add("files_failed", spool_failed_);
  add("frames_dropped", frames_dropped_);
  out += ",\"failure\":";
  JsonText(out, failure_);
  return out + "}";
}

}  // namespace clrscope::agent
