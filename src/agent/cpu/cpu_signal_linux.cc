// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>

#include "agent/cpu/cpu_signal.h"
#include "agent/cpu/thread_files.h"
#include "agent/host/forked.h"
#include "agent/host/kept_errno.h"
#include "agent/stacks/stack_bounds.h"

namespace clrscope::agent {
namespace {

constexpr int kNoTimer = -1;
constexpr int kQuietTries = 2000;  // of 100 µs

struct CpuThread {
  std::atomic<uint32_t> thread;      // 0: nobody's
  std::atomic<uint32_t> generation;  // of the slot, so that late signals are told apart
  std::atomic<uintptr_t> self;       // its pthread_self(), once it was sampled
  std::atomic<bool> stack_wanted;
  AtomicStackBounds stack;
  int timer;  // guarded by g_cpu_lock
};

// Enough for a quarter of a second of what the processors can use.
size_t CpuCells() {
  constexpr long kOfEach = 64;
  return static_cast<size_t>(
      std::clamp(::sysconf(_SC_NPROCESSORS_CONF) * kOfEach, 2 * kOfEach, 16 * kOfEach));
}

// All of it is there for as long as the process.
struct CpuState {
  CpuThread threads[CpuSignal::kMostThreads];
  CpuRing ring{CpuCells()};
};
CpuState* g_cpu = nullptr;
std::atomic<bool> g_cpu_on{false};
std::atomic<uint32_t> g_cpu_inside{0};
int g_cpu_signal = 0;
struct sigaction g_cpu_before {};
std::atomic<int64_t> g_cpu_period{0}, g_cpu_room{0};

// Around what makes and deletes timers. Not for the handler; a child of fork has no use for it.
std::atomic<bool> g_cpu_lock{false};
std::atomic<uint32_t> g_cpu_used{0};  // the end of the slots that are, or were, in use

class TimerLock {
 public:
  // `wait`: until it is free; else it may not be held.
  explicit TimerLock(bool wait) {
    const timespec pause{0, 20'000};
    while (!(held_ = !g_cpu_lock.exchange(true, std::memory_order_acquire)) && wait)
      (void)::nanosleep(&pause, nullptr);
  }
  ~TimerLock() {
    if (held_) g_cpu_lock.store(false, std::memory_order_release);
  }
  TimerLock(const TimerLock&) = delete;
  TimerLock& operator=(const TimerLock&) = delete;
  bool held() const { return held_; }

 private:
  bool held_ = false;
};

// Memory of the calling thread's stack, or of any other.
class StackReader {
 public:
  StackReader(uintptr_t sp, const StackBounds& own)
      : sp_(sp), high_(own.Holds(sp) ? own.high : 0) {}
  // Two words.
  bool Record(uintptr_t at, uintptr_t (&words)[2]) const {
    return Copy(at, words, sizeof words) == sizeof words;
  }
  // Returns how many bytes there were.
  size_t Copy(uintptr_t at, void* to, size_t bytes) const {
#if !defined(__SANITIZE_ADDRESS__)  // which has places in a stack that nobody may read
    if (at >= sp_ && at < high_ && bytes <= high_ - at) {
      ::memcpy(to, reinterpret_cast<const void*>(at), bytes);  // NOLINT(performance-no-int-to-ptr)
      return bytes;
    }
#endif
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(at), bytes};  // NOLINT(performance-no-int-to-ptr)
    const long n = ::syscall(SYS_process_vm_readv, ::getpid(), &local, 1, &remote, 1, 0);
    return n > 0 ? static_cast<size_t>(n) : 0;
  }
  size_t left() const { return high_ == 0 ? kCpuStackBytes : high_ - sp_; }

 private:
  uintptr_t sp_, high_;
};

// `ip`, behind `syscall` or, where it is to be begun again, on it. Its second byte must not lie on
// another page than what is running.
bool IsAtSyscall(uintptr_t ip, uintptr_t rcx) {
  constexpr uint16_t kSyscall = 0x050F;
  const auto at = [](uintptr_t address) {
    uint16_t code;
    ::memcpy(&code, reinterpret_cast<const void*>(address), 2);  // NOLINT
    return code;
  };
  // The instruction leaves its successor in rcx.
  if (rcx == ip) return (ip & 4095) >= 2 && at(ip - 2) == kSyscall;
  return rcx == ip + 2 && (ip & 4095) <= 4094 && at(ip) == kSyscall;
}

void TakeCpuSample(const siginfo_t& info, const ucontext_t& context) {
  CpuState& cpu = *g_cpu;
  const auto key = reinterpret_cast<uintptr_t>(info.si_value.sival_ptr);
  CpuThread& thread = cpu.threads[key % CpuSignal::kMostThreads];
  if (thread.generation.load(std::memory_order_acquire) != key / CpuSignal::kMostThreads) return;
  CpuCell* cell = cpu.ring.Claim();
  if (cell == nullptr) return;
  const auto& regs = context.uc_mcontext.gregs;
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  cell->time_ns = static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  cell->ip = static_cast<uint64_t>(regs[REG_RIP]);
  cell->sp = static_cast<uint64_t>(regs[REG_RSP]);
  cell->bp = static_cast<uint64_t>(regs[REG_RBP]);
  cell->thread = thread.thread.load(std::memory_order_relaxed);
  cell->periods = 1 + static_cast<uint32_t>(std::clamp(info.si_overrun, 0, 1 << 20));
  cell->in_kernel = IsAtSyscall(cell->ip, static_cast<uintptr_t>(regs[REG_RCX]));
  cell->cut = false;
  StackBounds own = thread.stack.Get();
  if (!own.Holds(cell->sp)) {
    uintptr_t self;  // as pthread_self(); the psABI has it there under every C library
    __asm__("mov %%fs:0, %0" : "=r"(self));
    thread.self.store(self, std::memory_order_relaxed);
    thread.stack_wanted.store(true, std::memory_order_release);
  }
  const StackReader stack(cell->sp, own);
  size_t frames = 0;
  uintptr_t record = cell->bp, words[2];
  while (frames < kCpuFrames && record >= cell->sp && record % 8 == 0) {
    if (!stack.Record(record, words)) {
      cell->cut = frames == 0;
      break;
    }
    if (words[1] == 0) break;
    cell->chain[frames++] = words[1];
    if (words[0] <= record) break;
    record = words[0];
  }
  cell->frames = static_cast<uint16_t>(frames);
  const size_t bytes = std::min(kCpuStackBytes, stack.left() / 8 * 8);
  cell->stack_bytes = static_cast<uint16_t>(
      cell->sp % 8 == 0 ? stack.Copy(cell->sp, cell->stack, bytes) / 8 * 8 : 0);
  CpuRing::Commit(cell);
}

// To whom the signal belongs.
void PassOn(int signal, siginfo_t* info, void* context) {
  if ((g_cpu_before.sa_flags & SA_SIGINFO) != 0)
    g_cpu_before.sa_sigaction(signal, info, context);
  else if (g_cpu_before.sa_handler != SIG_IGN && g_cpu_before.sa_handler != SIG_DFL)
    g_cpu_before.sa_handler(signal);
}

// Async-signal-safe: no lock, no allocation, no thread-local but errno.
void OnCpuSignal(int signal, siginfo_t* info, void* context) {
  if (info == nullptr || info->si_code != SI_TIMER) return PassOn(signal, info, context);
  const KeptErrno kept;
  g_cpu_inside.fetch_add(1, std::memory_order_seq_cst);
  if (g_cpu_on.load(std::memory_order_seq_cst) && !IsForkedChild())
    TakeCpuSample(*info, *static_cast<const ucontext_t*>(context));
  g_cpu_inside.fetch_sub(1, std::memory_order_release);
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnCpuSignal;
}

bool HasHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// A note "Go" is in whatever the Go compiler links.
bool HasGoRuntime() {
  return ::dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void*) {
               for (int i = 0; i < info->dlpi_phnum; ++i) {
                 const ElfW(Phdr)& p = info->dlpi_phdr[i];
                 if (p.p_type != PT_NOTE) continue;
                 const uintptr_t begin = info->dlpi_addr + p.p_vaddr;
                 for (uintptr_t at = begin; at + 16 <= begin + p.p_memsz;) {
                   ElfW(Nhdr) note;
                   ::memcpy(&note, reinterpret_cast<const void*>(at), sizeof note);  // NOLINT
                   if (note.n_namesz == 4 &&
                       ::memcmp(reinterpret_cast<const char*>(at + sizeof note), "Go\0",  // NOLINT
                                4) == 0)
                     return 1;
                   at += sizeof note + (note.n_namesz + 3u) / 4 * 4 + (note.n_descsz + 3u) / 4 * 4;
                 }
               }
               return 0;
             },
             nullptr) != 0;
}

// By system calls: the C library has the functions in a library of their own before glibc 2.34.
int MakeThreadTimer(pid_t thread, uintptr_t key, int* error) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = g_cpu_signal;
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(key);  // NOLINT(performance-no-int-to-ptr)
#ifdef sigev_notify_thread_id                                  // musl's name
  event.sigev_notify_thread_id = thread;
#else
  event._sigev_un._tid = thread;
#endif
  // Source: linux include/linux/posix-timers.h, MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED)
  const auto clock = static_cast<clockid_t>(~static_cast<uint32_t>(thread) << 3 | 6u);
  int timer = kNoTimer;
  *error = 0;
  if (::syscall(SYS_timer_create, clock, &event, &timer) != 0) {
    *error = errno;
    return kNoTimer;
  }
  const int64_t period_ns = g_cpu_period.load(std::memory_order_relaxed);
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  // Anywhere in a period: threads are not in step, and one that lives for less than a period has
  // its part of the samples, too.
  const uint64_t random =
      (static_cast<uint64_t>(now.tv_nsec) ^ static_cast<uint64_t>(thread) << 32) *
      0x9E3779B97F4A7C15u;
  const auto first_ns = static_cast<int64_t>((random >> 16) % static_cast<uint64_t>(period_ns)) + 1;
  itimerspec when{};
  when.it_value.tv_sec = first_ns / 1'000'000'000;
  when.it_value.tv_nsec = first_ns % 1'000'000'000;
  when.it_interval.tv_sec = period_ns / 1'000'000'000;
  when.it_interval.tv_nsec = period_ns % 1'000'000'000;
  if (::syscall(SYS_timer_settime, timer, 0, &when, nullptr) == 0) return timer;
  *error = errno;
  (void)::syscall(SYS_timer_delete, timer);
  return kNoTimer;
}

// While the lock is held. `blocked`: the thread's mask.
CpuSignal::Made FindOrMake(pid_t thread, uint64_t blocked, uint32_t* slot) {
  const auto id = static_cast<uint32_t>(thread);
  for (uint32_t i = 0; i < g_cpu_used.load(std::memory_order_relaxed); ++i) {
    const CpuThread& t = g_cpu->threads[i];
    if (t.timer == kNoTimer || t.thread.load(std::memory_order_relaxed) != id) continue;
    *slot = i;
    return CpuSignal::Made::kMade;
  }
  if ((blocked >> (g_cpu_signal - 1) & 1) != 0) return CpuSignal::Made::kBlocked;
  if (g_cpu_room.load(std::memory_order_relaxed) <= 0) return CpuSignal::Made::kNoRoom;
  uint32_t i = 0;
  while (i < CpuSignal::kMostThreads && g_cpu->threads[i].timer != kNoTimer) ++i;
  if (i == CpuSignal::kMostThreads) return CpuSignal::Made::kNoRoom;
  CpuThread& t = g_cpu->threads[i];
  const uint32_t generation = t.generation.load(std::memory_order_relaxed) + 1;
  t.stack.Set({});
  t.stack_wanted.store(false, std::memory_order_relaxed);
  t.thread.store(id, std::memory_order_relaxed);
  t.generation.store(generation, std::memory_order_release);
  int error = 0;
  t.timer = MakeThreadTimer(thread, uintptr_t{generation} * CpuSignal::kMostThreads + i, &error);
  *slot = i;
  if (t.timer != kNoTimer) {
    if (i >= g_cpu_used.load(std::memory_order_relaxed))
      g_cpu_used.store(i + 1, std::memory_order_release);
    g_cpu_room.fetch_sub(1, std::memory_order_relaxed);
    return CpuSignal::Made::kMade;
  }
  t.thread.store(0, std::memory_order_relaxed);
  return error == EINVAL || error == ESRCH ? CpuSignal::Made::kGone : CpuSignal::Made::kNoRoom;
}

}  // namespace

CpuRing* CpuSignal::ring() { return g_cpu == nullptr ? nullptr : &g_cpu->ring; }
bool CpuSignal::taken() { return g_cpu_signal != 0; }
int CpuSignal::number() { return g_cpu_signal; }

bool CpuSignal::is_ours() {
  struct sigaction now {};
  return taken() && ::sigaction(g_cpu_signal, nullptr, &now) == 0 && IsOurs(now);
}

bool CpuSignal::spares_fault_handlers() {
  struct sigaction fault {};
  if (::sigaction(SIGSEGV, nullptr, &fault) != 0) return false;
  return !HasHandler(fault) || (fault.sa_flags & SA_ONSTACK) == 0 ||
         ::sigismember(&fault.sa_mask, SIGRTMIN) == 1;
}

Status CpuSignal::Take(int64_t period_ns) {
  if (taken()) return OkStatus();
  if (g_cpu == nullptr) {
    void* memory = ::mmap(nullptr, sizeof(CpuState), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return Error{ErrorCode::kFailed, "there is no memory for samples of CPU time"};
    g_cpu = new (memory) CpuState;
    for (CpuThread& t : g_cpu->threads) t.timer = kNoTimer;
  }
  if (!g_cpu->ring.ok())
    return Error{ErrorCode::kFailed, "there is no memory for samples of CPU time"};
  const int signal = SIGRTMIN;
  struct sigaction before {};
  if (::sigaction(signal, nullptr, &before) != 0)
    return Error{ErrorCode::kFailed, "no signal can be had to sample CPU time with"};
  if (!spares_fault_handlers())
    return Error{
        ErrorCode::kRefused,
        "a handler of SIGSEGV that is not the runtime's may be interrupted on its "
        "alternate stack, which could end the program: CPU time is not sampled by signals"};
  const bool go = HasGoRuntime();
  if (HasHandler(before) && ((before.sa_flags & static_cast<int>(SA_RESETHAND)) != 0 ||
                             (go && (before.sa_flags & SA_ONSTACK) == 0)))
    return Error{ErrorCode::kRefused,
                 "the runtime's signal cannot be shared in this program, as its handler is not for "
                 "all threads (a Go runtime?): CPU time is not sampled by signals"};
  // What the runtime's handler expects stays so. It goes on to be called, from the first moment.
  struct sigaction mine = before;
  mine.sa_sigaction = OnCpuSignal;
  if (!HasHandler(before)) {
    mine.sa_flags = SA_RESTART | (go ? SA_ONSTACK : 0);
    ::sigfillset(&mine.sa_mask);
  }
  mine.sa_flags |= SA_SIGINFO;
  g_cpu_before = before;
  if (::sigaction(signal, &mine, nullptr) != 0)
    return Error{ErrorCode::kRefused, "no signal can be had to sample CPU time with"};
  g_cpu_signal = signal;
  g_cpu_period.store(period_ns);
  g_cpu_room.store(0);
  g_cpu_on.store(true, std::memory_order_seq_cst);
  return OkStatus();
}

void CpuSignal::GiveBack() {
  if (!taken()) return;
  g_cpu_on.store(false, std::memory_order_seq_cst);
  for (uint32_t i = 0; i < kMostThreads; ++i) Forget(i);
  if (is_ours()) {
    // What is still pending would end the process by the signal's default; ignoring it discards it.
    // The runtime's handler drops what this process has not sent itself, and needs what it has.
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    if (!HasHandler(g_cpu_before)) (void)::sigaction(g_cpu_signal, &ignore, nullptr);
    (void)::sigaction(g_cpu_signal, &g_cpu_before, nullptr);
  }
  const timespec pause{0, 100'000};
  for (int i = 0; g_cpu_inside.load(std::memory_order_seq_cst) != 0 && i < kQuietTries; ++i)
    (void)::nanosleep(&pause, nullptr);
  g_cpu_signal = 0;
}

CpuSignal::Made CpuSignal::Watch(pid_t thread, uint32_t* slot) {
  const uint64_t blocked = BlockedSignals(thread);
  const TimerLock lock(/*wait=*/true);
  return FindOrMake(thread, blocked, slot);
}

void CpuSignal::WatchSelf() {
  if (!g_cpu_on.load(std::memory_order_acquire) || IsForkedChild()) return;
  const TimerLock lock(/*wait=*/false);
  if (!lock.held() || !g_cpu_on.load(std::memory_order_relaxed)) return;
  sigset_t blocked;
  if (::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0) return;
  const bool mine = ::sigismember(&blocked, g_cpu_signal) == 1;
  uint32_t slot = 0;
  (void)FindOrMake(static_cast<pid_t>(::syscall(SYS_gettid)), mine ? ~uint64_t{0} : 0, &slot);
}

void CpuSignal::Forget(uint32_t slot) {
  const TimerLock lock(/*wait=*/true);
  CpuThread& t = g_cpu->threads[slot];
  if (t.timer == kNoTimer) return;
  (void)::syscall(SYS_timer_delete, t.timer);
  t.timer = kNoTimer;
  t.generation.fetch_add(1, std::memory_order_release);
  t.thread.store(0, std::memory_order_relaxed);
  g_cpu_room.fetch_add(1, std::memory_order_relaxed);
}

void CpuSignal::SetRoom(int64_t timers) { g_cpu_room.store(timers, std::memory_order_relaxed); }

void CpuSignal::FindStacks() {
  if (g_cpu == nullptr) return;
  const auto wants = [](const CpuThread& t) {
    return t.stack_wanted.load(std::memory_order_acquire);
  };
  CpuThread* const begin = g_cpu->threads;
  CpuThread* const end = begin + g_cpu_used.load(std::memory_order_relaxed);
  if (std::none_of(begin, end, wants)) return;
  const StackMap map = StackMap::OfThisProcess();
  const TimerLock lock(/*wait=*/true);
  for (CpuThread* t = begin; t != end; ++t) {
    if (!wants(*t)) continue;
    t->stack_wanted.store(false, std::memory_order_relaxed);
    const bool main =
        t->thread.load(std::memory_order_relaxed) == static_cast<uint32_t>(::getpid());
    t->stack.Set(map.Of(t->self.load(std::memory_order_relaxed), main));
  }
}

}  // namespace clrscope::agent
