// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "capture/kernel/look_pace.h"
#include "capture/kernel/perf_open.h"
#include "capture/kernel/thread_look.h"
#include "capture/kernel/wall_sampler.h"
#include "capture/proc/thread_times.h"
#include "profile/stacks/made_up_frames.h"

namespace clrscope::capture {
namespace {

using profile::ThreadState;

constexpr int64_t kWallCpuPart = 100;  // a hundredth of a CPU
constexpr int64_t kLongestSleepNs = 100'000'000;
// Threads are listed when there are more or fewer, and so often anyway: one may have begun while
// another one ended.
constexpr int64_t kListAnywayNs = 1'000'000'000;
constexpr int64_t kBeginTickNs = 10'000'000;  // of when a thread began: proc(5), USER_HZ
// Threads of a process that has not run are looked at so often all the same.
constexpr int64_t kLookAnywayNs = 100'000'000;
constexpr int64_t kTellEveryNs = 500'000'000;
constexpr size_t kMostSpans = 200'000, kMostWatched = 20'000;
constexpr size_t kStackWindowBytes = 16 << 10;
constexpr int64_t kAgainAfterNs = 260'000'000;
constexpr int kMostTries = 4;

// When a thread began, by CLOCK_MONOTONIC; 0: not known. The system tells it in its ticks.
int64_t BeginOf(std::string_view stat) {
  std::string_view rest = stat.substr(std::min(stat.size(), stat.rfind(')') + 1));
  // The name is the second of its fields, the begin the 22nd.
  for (int field = 2; field < 22; ++field) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return 0;
    rest.remove_prefix(space + 1);
  }
  int64_t ticks = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), ticks).ec != std::errc{}) return 0;
  const int64_t tick_ns = 1'000'000'000 / std::max<int64_t>(1, ::sysconf(_SC_CLK_TCK));
  const int64_t asleep_ns = ClockNow(CLOCK_BOOTTIME) - ClockNow(CLOCK_MONOTONIC);
  return ticks * tick_ns + tick_ns / 2 - asleep_ns;
}

// Why a thread is blocked as far as its system call says.
ThreadState StateOfCall(int64_t call) {
  switch (call) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return ThreadState::kSleep;
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_openat:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept4:
    case SYS_connect:
    case SYS_flock:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#if defined(__x86_64__)
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_open:
    case SYS_accept:
#endif
      return ThreadState::kIo;
    default:
      return ThreadState::kBlockedUnknown;
  }
}

// "running", "-1 SP PC" or "CALL six arguments SP PC", all but CALL in hex.
struct CallText {
  int64_t call = -1;
  uint64_t sp = 0, pc = 0;
};
bool ParseCall(std::string_view text, CallText& out) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (std::from_chars(text.data(), text.data() + text.size(), out.call).ec != std::errc{})
    return false;
  const auto last_number = [&text](uint64_t& v) {
    const size_t space = text.rfind(' ');
    if (space == std::string_view::npos || text.size() < space + 4) return false;
    const bool good =
        std::from_chars(text.data() + space + 3, text.data() + text.size(), v, 16).ec ==
        std::errc{};
    text = text.substr(0, space);
    return good;
  };
  return last_number(out.pc) && last_number(out.sp);
}

}  // namespace

WallSampler::WallSampler(pid_t pid, uint32_t rate_hz, CodeRules* rules)
    : pid_(pid),
      period_ns_(1'000'000'000 / std::max<uint32_t>(1, rate_hz)),
      tasks_(::open(fmt::format("/proc/{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      code_(pid),
      memory_(pid),
      unwinder_(rules) {
  copy_.resize(kStackWindowBytes);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WallSampler::~WallSampler() { Stop(); }

void WallSampler::Stop() {
  over_.store(true);
  if (thread_.joinable()) thread_.join();
}

std::optional<double> WallSampler::slowed_to_hz() const {
  constexpr double kMuchLess = 0.75;
  const auto looks = static_cast<double>(looks_);
  if (static_cast<double>(periods_ns_) * kMuchLess <= looks * static_cast<double>(period_ns_) ||
      last_look_ns_ <= first_look_ns_)
    return {};
  return (looks - 1) * 1e9 / static_cast<double>(last_look_ns_ - first_look_ns_);
}

std::string WallSampler::Take(std::vector<WallSpan>& spans) {
  const std::lock_guard lock(mutex_);
  spans.insert(spans.end(), std::make_move_iterator(spans_.begin()),
               std::make_move_iterator(spans_.end()));
  spans_.clear();
  return std::exchange(maps_, {});
}

void WallSampler::Run() {
  LookPace pace(period_ns_, static_cast<uint64_t>(ClockNow(CLOCK_MONOTONIC)), kWallCpuPart);
  while (!over_) {
    const int64_t begin = ClockNow(CLOCK_THREAD_CPUTIME_ID), now = ClockNow(CLOCK_MONOTONIC);
    if (first_look_ns_ == 0) first_look_ns_ = now;
    last_look_ns_ = now;
    if (MayHaveRun(now)) {
      Look(now);
      if (!any_listed_ || now - listed_ns_ >= kListAnywayNs ||
          !HasThreads(tasks_.get(), threads_listed_))
        ListThreads();
      HandOnMaps();
      looks_left_out_ = 0;
    } else {
      ++looks_left_out_;
      stayed_until_ns_ = now;
    }
    const int64_t next = pace.Next(now, ClockNow(CLOCK_THREAD_CPUTIME_ID) - begin);
    ++looks_;
    periods_ns_ += pace.period_ns();
    while (!over_ && !SleepUntil(next, kLongestSleepNs)) {
    }
  }
  const int64_t now = ClockNow(CLOCK_MONOTONIC);
  Look(now);
  HandOnMaps();
  for (auto& [id, t] : threads_) EmitAll(id, t, now);
}

// While no thread runs all are where they were: looks at them are left out. A turn that has just
// begun may be seen a look later.
bool WallSampler::MayHaveRun(int64_t now_ns) {
  const int64_t ran_ns = ProcessCpuNs(pid_);
  if (ran_ns >= 0 && ran_ns == ran_ns_ && now_ns - looked_ns_ < kLookAnywayNs) return false;
  ran_ns_ = ran_ns;
  looked_ns_ = now_ns;
  return true;
}

void WallSampler::ListThreads() {
  const std::vector<pid_t> ids = ThreadsOf(pid_);
  for (const pid_t id : ids) {
    if (threads_.size() >= kMostWatched || threads_.contains(id)) continue;
    Thread t;
    t.schedule = OpenOfThread(tasks_.get(), id, "schedstat");
    t.call = OpenOfThread(tasks_.get(), id, "syscall");
    if (any_listed_) {
      char room[512];
      const int64_t begin_ns = BeginOf(ReadAgain(OpenOfThread(tasks_.get(), id, "stat"), room));
      const int64_t now_ns = ClockNow(CLOCK_MONOTONIC);
      // One that is older could not be followed before.
      if (begin_ns + kBeginTickNs >= listed_ns_)
        t.clock.Begin(std::clamp(begin_ns, listed_ns_, now_ns), {});
    }
    if (t.schedule.valid() && LookAt(id, t, ClockNow(CLOCK_MONOTONIC)))
      threads_.emplace(id, std::move(t));
  }
  // Also those that could not be opened: they are not to be listed again and again.
  threads_listed_ = std::max(ids.size(), threads_.size());
  any_listed_ = true;
  listed_ns_ = ClockNow(CLOCK_MONOTONIC);
}

void WallSampler::Look(int64_t now_ns) {
  for (auto it = threads_.begin(); it != threads_.end();) {
    // Each at its own time: a look at all of them takes a while.
    const int64_t at = threads_.size() > 16 ? ClockNow(CLOCK_MONOTONIC) : now_ns;
    if (LookAt(it->first, it->second, at)) {
      ++it;
      continue;
    }
    EmitAll(it->first, it->second, at);
    it = threads_.erase(it);
    --threads_listed_;
  }
}

// Before the places that were seen with them: those are told when they are left.
void WallSampler::HandOnMaps() {
  if (std::string maps = code_.TakeMaps(); !maps.empty()) {
    const std::lock_guard lock(mutex_);
    maps_ = std::move(maps);
  }
}

bool WallSampler::LookAt(pid_t id, Thread& t, int64_t now_ns) {
  if (const int64_t stayed_ns = t.clock.Stay(stayed_until_ns_); stayed_ns != 0) {
    t.span.ns += stayed_ns;
    t.span.last_ns = stayed_until_ns_;
    t.span.looks += looks_left_out_;
  }
  char room[512];
  ScheduleTimes times;
  if (!ParseSchedule(ReadAgain(t.schedule, room), times)) return false;
  if (t.clock.Same(times)) {
    t.span.ns += t.clock.Look(now_ns, times, true).before_ns;
    t.span.last_ns = now_ns;
    ++t.span.looks;
    ReadAgainIfNeeded(id, t, now_ns);
    if (t.again_ns == 0 && t.span.ns >= kTellEveryNs) {
      WallSpan rest = t.span;
      Emit(id, t);
      // It goes on; where it began stays known, for who asks what it was in.
      rest.ns = 0;
      rest.looks = 0;
      t.span = std::move(rest);
    }
    return true;
  }
  Place place = PlaceOf(id, t, now_ns);
  if (place.blocked) {
    // It may have run while it was looked at: then the stack is none.
    ScheduleTimes after;
    if (!ParseSchedule(ReadAgain(t.schedule, room), after)) return false;
    if (after.turns != times.turns || after.ran_ns != times.ran_ns) place = {};
  }
  const WallClock::Passed passed = t.clock.Look(now_ns, times, place.blocked);
  t.span.ns += passed.before_ns;
  t.ready_ns += passed.ready_ns;
  t.unseen_ns += passed.unseen_ns;
  Emit(id, t);
  if (t.ready_ns >= kTellEveryNs / 10) EmitReady(id, t, now_ns);
  if (place.blocked) {
    t.span.first_ns = t.span.last_ns = now_ns;
    t.span.looks = 1;
    t.span.state = place.state;
    t.again_ns = place.whole ? 0 : now_ns + kAgainAfterNs;
    t.tries = 1;
    t.span.addresses = std::move(place.addresses);
    // Where no look was its time is that of the places where looks are.
    t.span.ns = passed.now_ns + t.unseen_ns;
    t.unseen_ns = 0;
  }
  return true;
}

WallSampler::Place WallSampler::PlaceOf(pid_t id, Thread& t, int64_t now_ns) {
  char room[512];
  Place place;
  const std::string_view text = ReadAgain(t.call, room);
  if (text.empty()) {
    // Not allowed: whether it is blocked is told to everybody.
    const Fd fd = OpenOfThread(tasks_.get(), id, "stat");
    const std::string_view stat = ReadAgain(fd, room);
    const size_t name_end = stat.rfind(')');
    const char state = name_end + 2 < stat.size() ? stat[name_end + 2] : 'R';
    place.blocked = state == 'S' || state == 'D';
    place.state = ThreadState::kBlockedUnknown;
    if (place.blocked) blind_ = true;
    return place;
  }
  CallText call;
  if (!ParseCall(text, call)) return place;  // it runs, or is ready
  place.blocked = true;
  place.state = StateOfCall(call.call);
  place.whole = ReadStack(call.sp, call.pc, place.addresses, now_ns);
  return place;
}

bool WallSampler::ReadStack(uint64_t sp, uint64_t pc, std::vector<uint64_t>& out, int64_t now_ns) {
  const auto read = [this](uint64_t at) -> Bytes {
    const size_t size = memory_.Read(at, copy_);
    if (memory_.refused()) blind_ = true;
    return {copy_.data(), size};
  };
  // Returns whether it may be more the next time.
  const auto walk = [&](const CodeRanges& code) {
    out.assign(1, pc);
    CallFrame at{pc, sp, 0, true};
    bool unknown = false;
    // Deep stacks go on above what was copied.
    for (int window = 0; window < 32; ++window) {
      const StackCopy stack{at.sp, read(at.sp)};
      const size_t before = out.size();
      const StackUnwinder::End end = unwinder_.Climb(out, at, stack, code);
      unknown = unknown || unwinder_.met_unknown();
      if (end == StackUnwinder::End::kBroken) unknown = unknown || unwinder_.roughly();
      if (end != StackUnwinder::End::kOutside || out.size() == before) break;
    }
    return unknown;
  };
  if (!walk(code_.For({&pc, 1}, now_ns))) return true;
  // Code is written all the time, also where nothing was mapped before.
  const uint64_t before = code_.reads();
  const CodeRanges& code = code_.Again(now_ns);
  if (code_.reads() == before) return false;
  return !walk(code);
}

// The map of memory is not read at once each time.
void WallSampler::ReadAgainIfNeeded(pid_t id, Thread& t, int64_t now_ns) {
  if (t.again_ns == 0 || now_ns < t.again_ns) return;
  Place place = PlaceOf(id, t, now_ns);
  char room[512];
  ScheduleTimes after;
  if (!place.blocked || !ParseSchedule(ReadAgain(t.schedule, room), after) || !t.clock.Same(after))
    return;
  t.span.addresses = std::move(place.addresses);
  t.again_ns = place.whole || ++t.tries >= kMostTries ? 0 : now_ns + t.tries * kAgainAfterNs;
}

void WallSampler::Emit(pid_t id, Thread& t) {
  if (t.span.ns > 0) {
    t.span.thread = id;
    Push(std::move(t.span));
  } else {
    // Told before, and too much: the next place has so much less.
    t.unseen_ns += t.span.ns;
  }
  t.span = {};
}

void WallSampler::EmitReady(pid_t id, Thread& t, int64_t now_ns) {
  if (t.ready_ns > 0) {
    WallSpan ready;
    ready.thread = id;
    ready.ns = std::exchange(t.ready_ns, 0);
    ready.first_ns = ready.last_ns = now_ns;
    ready.looks = 1;
    ready.state = ThreadState::kRunnable;
    ready.addresses.assign(1, profile::kRunnableAddress);
    Push(std::move(ready));
  }
}

void WallSampler::EmitAll(pid_t id, Thread& t, int64_t now_ns) {
  Emit(id, t);
  EmitReady(id, t, now_ns);
  t.span.ns = std::exchange(t.unseen_ns, 0);
  t.span.first_ns = t.span.last_ns = now_ns;
  t.span.looks = 1;
  t.span.state = ThreadState::kBlockedUnknown;
  Emit(id, t);
}

void WallSampler::Push(WallSpan span) {
  const std::lock_guard lock(mutex_);
  if (spans_.size() >= kMostSpans) {
    ++dropped_;
    return;
  }
  spans_.push_back(std::move(span));
}

}  // namespace clrscope::capture
