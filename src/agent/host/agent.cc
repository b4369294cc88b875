// SPDX-License-Identifier: Apache-2.0
// From its load to its detach: what it asks the runtime for, its thread, and how it goes.
#include "agent/host/agent.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "agent/host/clock.h"
#include "agent/host/forked.h"
#include "agent/host/start_environment.h"
#include "agent/host/term_signal.h"
#include "agent/host/thread.h"
#include "agent/samples/given_up_handles.h"
#include "base/units.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kOwnerPatience = 20 * kSecond;  // until whoever attached must be connected
constexpr int64_t kShutdownPatience = 3 * kSecond;
// At detach the program stands still no longer than this for the handles, at one time, and goes on
// for a while before the next time.
constexpr int64_t kLongestStop = 4 * kMillisecond, kBetweenStops = 10 * kMillisecond;
constexpr int64_t kHandlePatience = kSecond;
// ms for the disk, until a SIGTERM goes on, and at the agent's end.
constexpr int kTermFlush = 2000, kLastFlush = 2000;
// ms until the runtime first looks whether it may let go; 300 is the least that it takes. It looks
// again at twice that time, from then on every 5 s only, and with that it begins when its thread
// comes later; whoever attaches meanwhile waits as long. Source: dotnet/runtime
// src/coreclr/vm/profdetach.cpp, SleepWhileProfilerEvacuates
constexpr uint32_t kDetachSoon = 300;
constexpr int kSampledSince = 10;  // .NET 10
constexpr int kDispatchedSince = 9;

// .NET 9's switch back to the runtime's old way to handle exceptions, under both its prefixes.
bool HasLegacyExceptions() {
  for (const char* name : {"DOTNET_LegacyExceptionHandling", "COMPlus_LegacyExceptionHandling"})
    if (const auto value = StartVariable(name); value && std::atoi(value->c_str()) != 0)
      return true;
  return false;
}

}  // namespace

Agent::Agent(ICorProfilerInfo* info, Options options, bool attached)
    : info_(info),
      options_(std::move(options)),
      attached_(attached),
      tells_requests_(options_.requests),
      start_ns_(MonotonicNs()),
      start_unix_ns_(ClockNs(CLOCK_REALTIME)),
      lookup_(info, gate_, heartbeat_),
      desk_(gate_, WakeThread, this),
      code_(&gate_),
      resolver_(lookup_),
      async_types_(lookup_, code_, ::getpid()),
      names_(lookup_),
      collector_(names_, code_),
      generations_(lookup_, phase_),
      session_thread_(info, ending_, heartbeat_),
      session_(session_thread_),
      event_sessions_(session_thread_),
      spool_(WriteAtomically) {}

Agent::~Agent() = default;

int64_t Agent::Now() const { return MonotonicNs() - start_ns_; }

// By what the runtime is to call the agent. `counting`: every allocation, which may change while
// the program runs; that the slow allocation helpers are used may not.
// Source: dotnet/runtime src/coreclr/inc/corprof.idl, COR_PRF_MONITOR_IMMUTABLE
Status Agent::SetMask(bool counting) {
  uint32_t low = kEnableStackSnapshot | kMonitorModuleLoads;
  if (counts()) low |= kEnableObjectAllocated;
  if (counting) low |= kMonitorObjectAllocated;
  uint32_t high = kHighEventPipe | kHighDynamicFunctionUnloads;
  // The runtime keeps the bounds of its generations; collections stay concurrent.
  if (options_.live && !counts()) high |= kHighBasicGc;
  const Heartbeat::Call call(heartbeat_, "SetEventMask2");
  const HResult hr = info_->SetEventMask2(low, high);
  if (Succeeded(hr)) return OkStatus();
  return Error{ErrorCode::kRefused, "SetEventMask2: " + HexOfResult(hr)};
}

Status Agent::Start() {
  if (!code_.ok() || waker_.fd() < 0 || !WatchForks())
    return Error{ErrorCode::kFailed, "there is no memory for the agent"};
  std::array<char16_t, 128> version{};
  uint16_t instance = 0, major = 0, minor = 0, build = 0, qfe = 0;
  int32_t kind = 0;
  uint32_t length = 0;
  if (const HResult hr = info_->GetRuntimeInformation(&instance, &kind, &major, &minor, &build,
                                                      &qfe, static_cast<uint32_t>(version.size()),
                                                      &length, version.data());
      !Succeeded(hr))
    return Error{ErrorCode::kRefused, "GetRuntimeInformation: " + HexOfResult(hr)};
  major_ = major;
  runtime_ =
      ".NET " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
  const bool exact = options_.exact && options_.allocations && !attached_;
  source_ = exact                     ? profile::Source::kCounted
            : major_ >= kSampledSince ? profile::Source::kSampled
                                      : profile::Source::kTick;
  collector_.SetDispatched(major_ >= kDispatchedSince && !HasLegacyExceptions());
  RETURN_IF_ERROR(SetMask(counts()));
  sampler_ = std::make_unique<Sampler>(
      info_, code_, gate_, names_.thrown(),
      Sampler::Options{source_, options_.selftest, options_.snapshots, options_.native}, WakeThread,
      this);
  sampler_->start_ns = start_ns_;
  // Not where every object is counted: it would take the program many times what that does.
  if (options_.async && !counts()) sampler_->FollowAsync(&async_types_);
  if (options_.live && !counts()) {
    profile::LiveSample::Options live;
    live.cap = options_.cap;
    live.source = source_;
    live.seed = static_cast<uint64_t>(start_unix_ns_);
    live.release = ReleaseHandle;
    live_ = std::make_unique<profile::LiveSample>(live);
    sampler_->Follow(live_.get());
  }
  at_start_ = at_interval_ = SumShards();
  if (options_.max_overhead > 0)
    budget_ = std::make_unique<Budget>(options_.max_overhead, static_cast<uint64_t>(start_unix_ns_),
                                       Now());
  // Shards keep what an earlier instance left in them.
  ShardPool::Get().ForEach([](Shard& s) {
    (void)s.Empty([](ShardTable&) {});
    for (OpenWait* wait : {&s.waits.contention, &s.waits.wait}) wait->Tell([] {});
  });
  ShardPool::Get().Refill();
  if (!attached_) {
    // In Initialize: nothing of the program is missed.
    ready_.store(true);
    sampling_.store(samples());
    takes_events_.store(true);
    (void)BeginAllocations(/*here=*/true);
    (void)event_sessions_.Want(WantedEvents(), /*here=*/true, Now());
  }
  auto* self = new std::shared_ptr<Agent>(shared_from_this());
  if (StartThread(ThreadMain, self)) return OkStatus();
  delete self;
  ended_.store(true);
  return Error{ErrorCode::kFailed, "cannot start the agent's thread"};
}

void* Agent::ThreadMain(void* raw) {
  auto* holder = static_cast<std::shared_ptr<Agent>*>(raw);
  const std::shared_ptr<Agent> self = std::move(*holder);
  delete holder;
  (void)::prctl(PR_SET_NAME, "clrscope-agent");
  self->own_thread_.store(ShardPool::ThisThread());
  try {
    self->Run();
  } catch (...) {  // no memory
    self->GiveUp();
  }
  self->ended_.store(true);
  return nullptr;
}

void Agent::WakeThread(void* self) { static_cast<Agent*>(self)->waker_.Wake(); }

void Agent::ReleaseHandle(void*, uint64_t handle) { GivenUpHandles::Get().Push(handle); }

void Agent::OnAttachComplete() {
  ready_.store(true);
  waker_.Wake();
}

void Agent::OnShutdown() {
  ending_.store(true);
  waker_.Wake();
  const int64_t give_up = MonotonicNs() + kShutdownPatience;
  while (!ended_.load() && MonotonicNs() < give_up) {
    const timespec pause{0, 1'000'000};
    (void)::nanosleep(&pause, nullptr);
  }
  // Exit handlers are next. The agent's thread may go on, and asks about nothing any more.
  gate_.Shut();
}

void Agent::Run() {
  native_map_ = NativeMap::Make();
  native_unloads_ = NativeMap::Unloads();
  sampler_->SetNativeMap(native_map_.get());
  if (Status s = control_.Listen(options_.control_folder); !s.ok()) failure_ = s.error().message;
  heartbeat_.Share();
  (void)gc_threads_.Take();
  thread_cpu_ns_ = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  owner_deadline_ns_ = Now() + kOwnerPatience;
  while (!ready_.load() && !ending_.load()) {
    pollfd wake{waker_.fd(), POLLIN, 0};
    (void)::poll(&wake, 1, 100);
    waker_.Clear();
  }
  if (attached_ && !ending_.load()) {
    sampling_.store(options_.allocations);
    takes_events_.store(true);
    (void)BeginAllocations(/*here=*/false);
    (void)event_sessions_.Want(WantedEvents(), /*here=*/false, Now());
    phase_.Forget();
  }
  desk_.Open();
  if (!options_.output.empty()) (void)TakeTermSignal(WakeThread, this);
  interval_start_ns_ = Now();
  next_interval_ns_ = interval_start_ns_ + options_.every_ns;
  do {
    while (!stop_ && !ending_.load()) {
      Wait();
      control_.Serve(*this);
      Step(Now());
    }
  } while (!LetGo());
}

// Bounded in time, whatever the disk does; should this thread hang, the handler's timer is behind
// it.
void Agent::HandOnTermSignal() {
  if (TermSignalEndsIt()) TellOpenWaits();
  EndInterval(/*last=*/false);
  (void)spool_.Flush(kTermFlush);
  if (TermSignalEndsIt()) control_.StopListening();
  GiveBackTermSignal();
}

HResult Agent::SuspendProgram() {
  const Heartbeat::Call call(heartbeat_, "SuspendRuntime");
  return info_->SuspendRuntime();
}

void Agent::ResumeProgram() {
  const Heartbeat::Call call(heartbeat_, "ResumeRuntime");
  (void)info_->ResumeRuntime();
}

void Agent::RequestDetach() noexcept {
  const Heartbeat::Call call(heartbeat_, "RequestProfilerDetach");
  (void)info_->RequestProfilerDetach(kDetachSoon);
}

// Without a session no thread that allocates comes by. While the runtime is suspended no collection
// runs, and no thread is inside the handle table but those that hold its lock for a moment.
void Agent::DestroyGivenUpHandles() {
  const auto sleep = [](int64_t ns) {
    const timespec pause{0, ns};
    (void)::nanosleep(&pause, nullptr);
  };
  const int64_t give_up = MonotonicNs() + kHandlePatience;
  while (GivenUpHandles::Get().waiting() != 0 && !ending_.load() && MonotonicNs() < give_up) {
    if (const HResult hr = SuspendProgram(); !Succeeded(hr)) {
      if (hr != kSuspensionInProgress) return;
      sleep(kMillisecond);  // a collection's, or a debugger's
      continue;
    }
    const int64_t resume = MonotonicNs() + kLongestStop;
    {
      const Heartbeat::Call call(heartbeat_, "DestroyHandle");
      while (sampler_->DestroyGivenUp() && MonotonicNs() < resume) {
      }
    }
    ResumeProgram();
    if (GivenUpHandles::Get().waiting() != 0) sleep(kBetweenStops);
  }
}

// False: it stays. The runtime does not let go of whoever had it use its slow allocation helpers:
// that agent asks for no calls any more, and waits to be started again.
//
// The order is needed: the sessions end, then the shards are emptied (EndInterval), then the
// runtime is asked to let go. A session's end waits for the threads that are in its callback, but
// not for one that wrote another event in there: as CreateHandle does where somebody else's session
// listens for handles. What such a thread samples comes after the end of its session, so that only
// what follows takes it in: Drain(), which waits some seconds for the shards' owners. The code
// stays until the runtime has seen that no thread is in a callback. Source: dotnet/runtime
// src/native/eventpipe/ep.c, write_event_2, release/8.0 to 10.0
bool Agent::LetGo() {
  if (counts() && !ending_.load()) {
    StopCounting();
    stop_ = false;
    return false;
  }
  sampling_.store(false);
  if (!ending_.load()) {
    // What the session told is used up before it ends.
    TakeGcNotes();
    if (live_ != nullptr && Drain() && !passes_.empty()) ScanHandles(Now());
    if (live_ != nullptr) Regrade();
    const UnloadDesk::Closed closed(desk_);
    session_.End(Now());
    event_sessions_.End(Now());
    phase_.Forget();
  }
  takes_events_.store(false);
  TakeGcNotes();
  EndInterval(/*last=*/true);
  desk_.Shut();
  (void)spool_.Flush(kLastFlush);
  GiveBackTermSignal();
  // Before the runtime lets go: the next agent's socket has the same name.
  heartbeat_.Leave();
  control_.StopListening();
  control_.Flush(ending_.load() ? 500 : 5000);
  sampler_->Follow(nullptr);
  if (ending_.load()) return true;  // handles and memory go with the process
  if (live_ != nullptr) live_->Clear();
  DestroyGivenUpHandles();
  session_thread_.End();
  control_.Close();
  if (!ending_.load()) RequestDetach();
  return true;
}

// There is no memory to go on with.
void Agent::GiveUp() noexcept {
  sampling_.store(false);
  takes_events_.store(false);
  desk_.Shut();
  GiveBackTermSignal();
  constexpr std::string_view kWords = "clrscope agent: there is no memory; it lets go\n";
  (void)!::write(2, kWords.data(), kWords.size());
  sampler_->Follow(nullptr);
  heartbeat_.Leave();
  try {
    control_.Close();
    if (counts()) (void)SetMask(/*counting=*/false);
    session_.End(Now());
    event_sessions_.End(Now());
    if (live_ != nullptr) live_->Clear();
    DestroyGivenUpHandles();
    session_thread_.End();
  } catch (...) {  // nothing of this is needed to let go
  }
  if (!ending_.load() && !counts()) RequestDetach();
}

}  // namespace clrscope::agent
