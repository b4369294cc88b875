// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/proc_stat.h"
#include "capture/kernel/look_pace.h"
#include "capture/kernel/perf_open.h"
#include "capture/kernel/process_memory.h"
#include "capture/kernel/stack_unwinder.h"
#include "capture/kernel/stop_sampler.h"
#include "capture/kernel/thread_look.h"
#include "capture/kernel/trace_right.h"

namespace clrscope::capture {
namespace {

constexpr uint32_t kMostStopRate = 10'000;
constexpr int64_t kStopCpuPart = 50;  // a fiftieth of a CPU, for each that the program uses
// All threads are looked at so often for who has run. Few are all looked at each time.
constexpr int64_t kFollowEveryNs = 100'000'000;
// Who has run is likely to run again.
constexpr int64_t kActiveNs = 1'000'000'000;
constexpr size_t kFewThreads = 32, kMostFollowed = 20'000;
// One that has run for less since its last sample is where it was: it has waited for a processor.
constexpr int64_t kHasRunNs = 100'000;
// Of its stack, while it stands. What throws and collects uses 12 KB and more.
constexpr size_t kFirstBytes = 4 << 10, kStackBytes = 16 << 10, kMostStackBytes = 128 << 10;
constexpr int kRefusals = 5;  // in a row: another tracer has the thread, not another clrscope
constexpr size_t kMostBatchBytes = size_t{64} << 20;
constexpr int64_t kLongestPauseNs = 20'000'000, kLatePauseNs = 1'000'000;
// How often waits for a stop are looked at, which have no limit of their own.
constexpr int64_t kScoutPauseNs = 10'000'000;

int64_t RanNs(const Fd& schedule) {
  char room[128];
  ScheduleTimes times;
  return ParseSchedule(ReadAgain(schedule, room), times) ? times.ran_ns : -1;
}

// Returns false where this process may not use that one.
bool StayOn(int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(static_cast<size_t>(processor), &there);
  return ::sched_setaffinity(0, sizeof there, &there) == 0;
}

// What a thread that wakes may take of its processor at once is little, so that it may interrupt
// the one that runs there, and need not wait until that has had its share: it would then get the
// processor in a system call, where the kernel looks at shares. Kernels before 6.12 do not know of
// that. Source: sched_setattr(2); Linux kernel/sched/fair.c, PREEMPT_SHORT
void AskForShortTurns() {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attr{};
  if (::syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) != 0) return;
  constexpr uint64_t kShortestNs = 100'000;
  attr.size = sizeof attr;
  attr.runtime = kShortestNs;
  (void)::syscall(SYS_sched_setattr, 0, &attr, 0);
}

}  // namespace

// What a stop has seen. Each worker has one, and its memory.
class StopSampler::Copy {
 public:
  explicit Copy(pid_t pid) : memory_(pid), bytes_(kMostStackBytes) {}

  // Of a thread that stands: the less this takes, the better.
  void Take(const user_regs_struct& registers);
  // Addresses by frame pointers, leaf first.
  void FindChain();

  int64_t time_ns() const { return time_ns_; }
  bool in_kernel() const { return in_kernel_; }
  const UserRegs& regs() const { return regs_; }
  Bytes stack() const { return Bytes(bytes_).first(size_); }
  const std::vector<uint64_t>& chain() const { return chain_; }
  // It goes on beyond the copy.
  bool chain_cut() const { return chain_cut_; }

 private:
  RemoteMemory memory_;
  int64_t time_ns_ = 0;
  bool in_kernel_ = false;
  UserRegs regs_;
  std::vector<std::byte> bytes_;
  size_t size_ = 0;
  std::vector<uint64_t> chain_;
  bool chain_cut_ = false;
};

// As far as the frame records lead, which end with a 0 where the thread began; and where they lead
// nowhere, what the deepest code that keeps none uses.
void StopSampler::Copy::Take(const user_regs_struct& registers) {
  time_ns_ = ClockNow(CLOCK_MONOTONIC);
  in_kernel_ = static_cast<int64_t>(registers.orig_rax) >= 0;
  regs_ = {true, registers.rbp, registers.rsp, registers.rip, 0};
  size_ = 0;
  uint64_t record = regs_.fp;
  for (size_t want = kFirstBytes; size_ < want;) {
    size_ += memory_.Read(regs_.sp + size_, std::span(bytes_).subspan(size_, want - size_));
    if (size_ < want) return;  // the stack's end
    const StackCopy stack{regs_.sp, this->stack()};
    uint64_t above = record;
    while (stack.Has(record) && stack.Has(record + 8) && (above = stack.Word(record)) > record)
      record = above;
    if (record % 8 == 0 && record >= stack.end() - 8 && record < stack.sp + kMostStackBytes - 16)
      want = std::min(kMostStackBytes, want * 2);
    else if (above != 0)
      want = std::max(want, kStackBytes);
  }
}

void StopSampler::Copy::FindChain() {
  const StackCopy stack{regs_.sp, this->stack()};
  chain_.assign(1, regs_.ip);
  uint64_t record = regs_.fp;
  for (;
       chain_.size() < StackUnwinder::kMostFrames && stack.Has(record) && stack.Has(record + 8);) {
    chain_.push_back(stack.Word(record + 8));
    const uint64_t above = stack.Word(record);
    if (above <= record) {
      record = 0;
      break;
    }
    record = above;
  }
  chain_cut_ =
      chain_.size() > 1 && record >= stack.end() - 8 && record < stack.sp + kMostStackBytes * 64;
}

Result<std::unique_ptr<StopSampler>> StopSampler::Open(pid_t pid, uint32_t rate_hz) {
  if (rate_hz == 0 || rate_hz > kMostStopRate)
    return Error{ErrorCode::kUsage, "the rate of samples of CPU is from 1 to 10000 per second"};
  RETURN_IF_ERROR(MayTrace(pid));
  std::unique_ptr<StopSampler> sampler(new StopSampler(pid, rate_hz));
  if (!sampler->tasks_.valid())
    return Error{ErrorCode::kFailed,
                 fmt::format("cannot see the threads of process {}: {}", pid, ::strerror(errno))};
  return sampler;
}

StopSampler::StopSampler(pid_t pid, uint32_t rate_hz)
    : pid_(pid),
      period_ns_(1'000'000'000 / rate_hz),
      tasks_(
          ::open(fmt::format("/proc/{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

void StopSampler::Start() { scout_ = StartThread(&StopSampler::Scout, nullptr); }

StopSampler::~StopSampler() { Stop(); }

std::thread StopSampler::StartThread(void (StopSampler::*run)(Worker*), Worker* worker) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread([this, run, worker] { (this->*run)(worker); });
  } catch (const std::system_error&) {  // as many as the system allows
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

void StopSampler::Stop() {
  if (over_.exchange(true)) return;
  {
    const std::lock_guard lock(mutex_);
    for (Worker& w : workers_) w.wanted_now.notify_one();
  }
  // No worker is made any more. The scout still ends their waits.
  for (Worker& w : workers_)
    if (w.thread.joinable()) w.thread.join();
  workers_ended_ = true;
  if (scout_.joinable()) scout_.join();
}

StopSampler::Figures StopSampler::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

bool StopSampler::Read(Sink& sink) {
  taken_.entries.clear();
  taken_.chains.clear();
  taken_.stacks.clear();
  {
    const std::lock_guard lock(mutex_);
    std::swap(taken_, batch_);
  }
  // Each worker hands over its own.
  std::sort(taken_.entries.begin(), taken_.entries.end(),
            [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  for (const Batch::Entry& e : taken_.entries)
    sink.OnSample({e.thread, e.time_ns, e.period_ns,
                   std::span(taken_.chains).subspan(e.chain_at, e.chain_size), e.chain_cut,
                   e.in_kernel, e.regs, Bytes(taken_.stacks).subspan(e.stack_at, e.stack_size)});
  return !taken_.entries.empty();
}

void StopSampler::Scout(Worker*) {
  LookPace pace(period_ns_, static_cast<uint64_t>(ClockNow(CLOCK_MONOTONIC)), kStopCpuPart);
  int64_t next_ns = 0;
  while (!workers_ended_) {
    const int64_t begin_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID), now_ns = ClockNow(CLOCK_MONOTONIC);
    {
      const std::lock_guard lock(mutex_);
      for (Worker& w : workers_)
        if (w.stops != nullptr) w.stops->EndLateWait();
      if (now_ns >= next_ns && !ended()) {
        ListIfChanged();
        if (looked_ns_ == 0 || threads_.size() <= kFewThreads ||
            now_ns - looked_ns_ >= kFollowEveryNs)
          LookAtAll();
        next_ns = pace.Next(now_ns, ClockNow(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
      }
    }
    if (SleepUntil(next_ns, kScoutPauseNs) && ended())
      (void)SleepUntil(now_ns + kScoutPauseNs, kScoutPauseNs);
  }
}

// The end of this thread lets go whatever it still traces.
void StopSampler::Work(Worker* worker) {
  (void)StayOn(worker->processor);
  AskForShortTurns();
  ThreadStops stops(pid_);
  Copy copy(pid_);
  LookPace pace(period_ns_, static_cast<uint64_t>(ClockNow(CLOCK_MONOTONIC) + worker->processor),
                kStopCpuPart, LookPace::Waits::kMemoryless);
  {
    const std::lock_guard lock(mutex_);
    worker->stops = &stops;
  }
  int64_t now_ns = ClockNow(CLOCK_MONOTONIC), cost_ns = 0, unseen_ns = 0;
  while (!ended() && !stops.over()) {
    // The timer wakes it where it sleeps.
    const int64_t next_ns = pace.Next(now_ns, cost_ns);
    unseen_ns += pace.period_ns();
    while (!ended() && !SleepUntil(next_ns, kLongestPauseNs)) {
    }
    const int64_t begin_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID);
    now_ns = ClockNow(CLOCK_MONOTONIC);
    const bool any = Sample(*worker, stops, copy, &unseen_ns);
    // A late one is to go on as soon as it stands.
    while (stops.late() != 0 && !ended() && !stops.over()) {
      (void)SleepUntil(INT64_MAX, kLatePauseNs);
      stops.LetGoLate();
    }
    if (!any) {
      std::unique_lock lock(mutex_);
      worker->wanted = false;
      worker->wanted_now.wait(lock, [&] { return worker->wanted || ended(); });
      now_ns = ClockNow(CLOCK_MONOTONIC);
    }
    cost_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  }
  const std::lock_guard lock(mutex_);
  worker->stops = nullptr;
}

bool StopSampler::Sample(const Worker& worker, ThreadStops& stops, Copy& copy, int64_t* unseen_ns) {
  // Who waits here lets the thread go on that it is to see.
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return true;
  // As rare as looks were, and a thread is not looked at again before it has run on.
  const auto period_ns = static_cast<uint64_t>(std::exchange(*unseen_ns, 0) + kHasRunNs);
  ListIfChanged();
  const bool any = std::any_of(threads_.begin(), threads_.end(), [&](const auto& t) {
    return t.second.active && t.second.processor == worker.processor;
  });
  if (!any) return false;
  const auto found = WhoRunsOn(worker.processor);
  if (found == threads_.end()) return true;
  const pid_t id = found->first;
  found->second.held = true;
  lock.unlock();
  const ThreadStops::End end =
      stops.Stop(id, [&copy](const user_regs_struct& registers) { copy.Take(registers); });
  if (end == ThreadStops::End::kStood) copy.FindChain();
  while (!lock.try_lock()) {
    (void)SleepUntil(INT64_MAX, kLatePauseNs);
    stops.LetGoLate();
  }
  // It is there: who is held is not dropped.
  Thread& t = threads_.at(id);
  t.held = false;
  // Whatever has come of it: who cannot be stopped is not tried before the others.
  t.sampled_ns = RanNs(t.schedule);
  switch (end) {
    case ThreadStops::End::kStood: {
      t.refusals = 0;
      figures_.stops += 1;
      figures_.stopped += stops.last();
      figures_.longest_stop =
          std::max<std::chrono::nanoseconds>(figures_.longest_stop, stops.last());
      Push(id, copy, period_ns);
      // It may go on elsewhere, since this processor was not free.
      bool runs = false;
      if (LookAt(t, &runs)) Want(t.processor);
      break;
    }
    case ThreadStops::End::kEnded:
      t.ended = any_died_ = true;
      break;
    case ThreadStops::End::kLate:
      ++figures_.lost;
      break;
    case ThreadStops::End::kRefused:
      if (++t.refusals == kRefusals) ++figures_.refused;
      break;
  }
  return true;
}

// One thread runs there and the others wait; the one that has run most since its last sample is
// likely to be it.
std::unordered_map<pid_t, StopSampler::Thread>::iterator StopSampler::WhoRunsOn(int processor) {
  auto found = threads_.end();
  int64_t most_ns = kHasRunNs;
  for (auto it = threads_.begin(); it != threads_.end(); ++it) {
    Thread& t = it->second;
    if (!t.active || t.held || t.processor != processor) continue;
    bool runs = false;
    if (!LookAt(t, &runs)) {
      t.ended = any_died_ = true;
      continue;
    }
    if (t.processor != processor) {
      Want(t.processor);
      continue;
    }
    if (!runs) continue;
    if (const int64_t ran_ns = RanNs(t.schedule) - t.sampled_ns; ran_ns >= most_ns) {
      most_ns = ran_ns;
      found = it;
    }
  }
  return found;
}

bool StopSampler::LookAt(Thread& t, bool* runs) {
  char room[1024];
  StatFields now;
  if (!ParseStat(ReadAgain(t.stat, room), &now)) return false;
  t.processor = now.processor;
  *runs = now.state == 'R';  // or it waits for its processor
  return true;
}

void StopSampler::ListIfChanged() {
  if (!any_died_ && HasThreads(tasks_.get(), threads_.size())) return;
  any_died_ = false;
  const std::vector<pid_t> now = ThreadsOf(pid_);
  std::erase_if(threads_, [&now](const auto& t) {
    return !t.second.held &&
           (t.second.ended || !std::binary_search(now.begin(), now.end(), t.first));
  });
  for (const pid_t id : now) {
    if (threads_.size() >= kMostFollowed) break;
    const auto [it, is_new] = threads_.try_emplace(id);
    if (!is_new) continue;
    Thread& t = it->second;
    t.schedule = OpenOfThread(tasks_.get(), id, "schedstat");
    t.stat = OpenOfThread(tasks_.get(), id, "stat");
    // It stays in the list, and is not seen.
    if (!t.stat.valid() && (errno == EMFILE || errno == ENFILE)) ++figures_.refused;
    // Of those that were there before, most wait: the next look at all says who does not.
    if (looked_ns_ == 0) {
      t.ran_ns = RanNs(t.schedule);
      continue;
    }
    t.ran_at_ns = ClockNow(CLOCK_MONOTONIC);
    t.active = true;
    bool runs = false;
    if (LookAt(t, &runs)) Want(t.processor);
  }
}

void StopSampler::LookAtAll() {
  looked_ns_ = ClockNow(CLOCK_MONOTONIC);
  for (auto& [id, t] : threads_) {
    const int64_t ran_ns = RanNs(t.schedule);
    if (ran_ns < 0 && t.schedule.valid()) t.ended = any_died_ = true;
    if (ran_ns > t.ran_ns) t.ran_at_ns = looked_ns_;
    t.active = t.ran_at_ns != 0 && looked_ns_ - t.ran_at_ns < kActiveNs;
    t.ran_ns = ran_ns;
    bool runs = false;
    if (t.active && LookAt(t, &runs)) Want(t.processor);
  }
}

void StopSampler::Want(int processor) {
  if (processor < 0 || ended()) return;
  const auto found = std::find_if(workers_.begin(), workers_.end(), [processor](const Worker& w) {
    return w.processor == processor;
  });
  if (found != workers_.end()) {
    if (!std::exchange(found->wanted, true)) found->wanted_now.notify_one();
    return;
  }
  Worker& w = workers_.emplace_back();
  w.processor = processor;
  w.wanted = true;
  w.thread = StartThread(&StopSampler::Work, &w);
  if (w.thread.joinable()) return;
  workers_.pop_back();
  ++figures_.lost;
}

void StopSampler::Push(pid_t id, const Copy& copy, uint64_t period_ns) {
  const Bytes stack = copy.stack();
  if (batch_.stacks.size() + stack.size() > kMostBatchBytes) {
    ++figures_.lost;
    return;
  }
  batch_.entries.push_back({id, copy.time_ns(), period_ns, copy.in_kernel(), copy.regs(),
                            batch_.chains.size(), copy.chain().size(), copy.chain_cut(),
                            batch_.stacks.size(), stack.size()});
  batch_.chains.insert(batch_.chains.end(), copy.chain().begin(), copy.chain().end());
  batch_.stacks.insert(batch_.stacks.end(), stack.begin(), stack.end());
}

}  // namespace clrscope::capture
