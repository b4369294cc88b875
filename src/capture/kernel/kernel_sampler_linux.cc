// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "capture/kernel/kernel_sampler.h"
#include "capture/kernel/perf_open.h"

namespace clrscope::capture {
namespace {

// Two of the largest records and a half.
constexpr size_t kSmallestBuffer = size_t{32} << 10;
// Copies of stacks that a buffer should have room for.
constexpr size_t kFewCopies = 24;
// Threads may be born while others are opened, again and again.
constexpr int kMostRounds = 8;

perf_event_mmap_page* PageOf(void* mapped) { return static_cast<perf_event_mmap_page*>(mapped); }

}  // namespace

// What Open() does.
class KernelSampler::Setup {
 public:
  Setup(KernelSampler& sampler, const Options& options, const PerfWish& wish)
      : s_(sampler), options_(options), opener_(wish) {}

  Status MapBuffers(const std::vector<int>& cpus);
  Status OpenThreads();
  // An event of each CPU. Returns false where that is not allowed.
  bool OpenCpus();
  const PerfWish& wish() const { return opener_.wish(); }

 private:
  // Of each CPU. Returns false when the system does not allow as much memory.
  bool Map(size_t bytes);
  void Unmap();
  // Returns false, with `error`, when the whole attempt is over.
  bool OpenThread(pid_t tid, Error* error);
  Fd OpenEvent(pid_t tid, int cpu);

  KernelSampler& s_;
  const Options& options_;
  PerfOpener opener_;
  size_t threads_ = 0;  // for messages
};

Status KernelSampler::Setup::MapBuffers(const std::vector<int>& cpus) {
  int error = 0;
  for (const int cpu : cpus) {
    Buffer b;
    b.cpu = cpu;
    b.holder = PerfOpener::OpenHolder(cpu);
    if (!b.holder.valid() && errno == EMFILE && RaiseDescriptorLimit())
      b.holder = PerfOpener::OpenHolder(cpu);
    if (b.holder.valid()) {
      s_.buffers_.push_back(std::move(b));
      continue;
    }
    error = errno;
    if (error == EMFILE || error == ENFILE)
      return PerfNoDescriptors(1, cpus.size(), options_.most_descriptors);
    if (error != ENODEV && error != ENXIO && error != EINVAL) break;  // not: it does not run
  }
  if (s_.buffers_.empty() || (error != 0 && error != ENODEV && error != ENXIO && error != EINVAL))
    return PerfRefused(error, s_.pid_, true);

  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t smallest = std::max(kSmallestBuffer, page);
  size_t bytes = smallest;
  while (bytes * 2 <= options_.buffer_bytes &&
         bytes * 2 <= options_.total_bytes / s_.buffers_.size())
    bytes *= 2;
  for (; bytes >= smallest; bytes /= 2) {
    if (Map(bytes)) {
      if (bytes < kFewCopies * opener_.wish().stack_bytes) opener_.HalveStacks();
      return OkStatus();
    }
    Unmap();
    if (errno != EPERM && errno != ENOMEM) break;
  }
  return PerfNoMemory();
}

bool KernelSampler::Setup::Map(size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  for (Buffer& b : s_.buffers_) {
    b.mapped_bytes = bytes + page;
    b.mapped =
        ::mmap(nullptr, b.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b.holder.get(), 0);
    if (b.mapped == MAP_FAILED) {
      b.mapped = nullptr;
      return false;
    }
    b.ring = RecordRing({static_cast<const std::byte*>(b.mapped) + page, bytes});
  }
  s_.buffer_bytes_ = bytes;
  return true;
}

void KernelSampler::Setup::Unmap() {
  const int error = errno;
  for (Buffer& b : s_.buffers_) {
    if (b.mapped != nullptr) ::munmap(b.mapped, b.mapped_bytes);
    b.mapped = nullptr;
  }
  errno = error;
}

Fd KernelSampler::Setup::OpenEvent(pid_t tid, int cpu) {
  Fd fd = opener_.Open(tid, cpu);
  if (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit()) fd = opener_.Open(tid, cpu);
  return fd;
}

bool KernelSampler::Setup::OpenThread(pid_t tid, Error* error) {
  for (const Buffer& b : s_.buffers_) {
    Fd fd = OpenEvent(tid, b.cpu);
    if (!fd.valid()) {
      const int why = errno;
      if (why == ESRCH) return true;  // it has ended meanwhile
      if (why == ENODEV) continue;    // the CPU has been taken away
      if (why == EMFILE || why == ENFILE || why == ENOMEM) {
        *error = PerfNoDescriptors(threads_, s_.buffers_.size(), options_.most_descriptors);
        return false;
      }
      if (s_.events_.empty()) {
        *error = PerfRefused(why, s_.pid_, false);
        return false;
      }
      ++s_.losses_.unopened;
      return true;
    }
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, b.holder.get()) != 0) {
      ++s_.losses_.unopened;
      return true;
    }
    s_.events_.push_back(std::move(fd));
  }
  return true;
}

// Events count from the moment they are opened, so a thread that is born later of one that has its
// events inherits them. One that is new in a later listing may have inherited all, some or none: it
// is opened, and what it and the threads that it makes have twice is left out (EventChoice).
Status KernelSampler::Setup::OpenThreads() {
  std::vector<pid_t> known;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> now = ThreadsOf(s_.pid_);
    std::vector<pid_t> fresh;
    std::set_difference(now.begin(), now.end(), known.begin(), known.end(),
                        std::back_inserter(fresh));
    if (fresh.empty()) break;
    threads_ = known.size() + fresh.size();
    if (threads_ * s_.buffers_.size() > options_.most_descriptors)
      return PerfNoDescriptors(threads_, s_.buffers_.size(), options_.most_descriptors);
    s_.opened_late_ = round > 0;
    for (const pid_t tid : fresh)
      if (Error error; !OpenThread(tid, &error)) return error;
    known.insert(known.end(), fresh.begin(), fresh.end());
    std::sort(known.begin(), known.end());
  }
  if (s_.events_.empty()) return PerfRefused(ESRCH, s_.pid_, false);
  return OkStatus();
}

bool KernelSampler::Setup::OpenCpus() {
  if (s_.buffers_.size() > options_.most_cpus_as_a_whole) return false;
  PerfWish wish = opener_.wish();
  wish.whole_cpu = true;
  PerfOpener opener(wish);
  for (const Buffer& b : s_.buffers_) {
    Fd fd = opener.Open(-1, b.cpu);
    if (!fd.valid() || ::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, b.holder.get()) != 0) {
      s_.events_.clear();
      return false;
    }
    s_.events_.push_back(std::move(fd));
  }
  opener_ = opener;
  return s_.whole_machine_ = true;
}

Result<std::unique_ptr<KernelSampler>> KernelSampler::Open(pid_t pid, const Options& options) {
  if (options.rate_hz == 0 || options.rate_hz > 10'000)
    return Error{ErrorCode::kUsage, "the rate of samples of CPU is from 1 to 10000 per second"};
  std::unique_ptr<KernelSampler> s(new KernelSampler);
  PerfWish wish;
  wish.period_ns = 1'000'000'000 / options.rate_hz;
  // A record's size is a number of 16 bits, and the chain is in it too.
  wish.stack_bytes = std::min<uint32_t>(options.stack_bytes, 32u << 10) / 8 * 8;
  wish.kernel_chain = options.kernel_frames;
  s->pid_ = pid;
  s->period_ns_ = wish.period_ns;
  s->most_frames_ =
      static_cast<size_t>(std::clamp<int64_t>(KernelSetting("perf_event_max_stack", 127), 1, 8192));
  Setup setup(*s, options, wish);
  std::vector<pid_t> threads = ThreadsOf(pid);
  if (threads.empty() && errno == EMFILE && RaiseDescriptorLimit()) threads = ThreadsOf(pid);
  const bool full = threads.empty() && (errno == EMFILE || errno == ENFILE);
  const std::vector<int> cpus = OnlineCpus();
  if (full) return PerfNoDescriptors(1, cpus.size(), options.most_descriptors);
  if (threads.empty()) return PerfRefused(ESRCH, pid, false);
  RETURN_IF_ERROR(setup.MapBuffers(cpus));
  if (!setup.OpenCpus()) RETURN_IF_ERROR(setup.OpenThreads());
  s->sees_kernel_ = setup.wish().kernel;
  s->tells_lost_ = setup.wish().tells_lost;
  return s;
}

KernelSampler::~KernelSampler() {
  // Before the buffers that they write into.
  events_.clear();
  for (const Buffer& b : buffers_)
    if (b.mapped != nullptr) ::munmap(b.mapped, b.mapped_bytes);
}

void KernelSampler::AddPolls(std::vector<pollfd>& polls) const {
  for (const Buffer& b : buffers_) polls.push_back({b.holder.get(), POLLIN, 0});
}

void KernelSampler::Stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const Fd& event : events_) (void)::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
  uint64_t lost = 0;
  for (const Fd& event : events_) {
    uint64_t values[2] = {};  // value, lost
    const ssize_t n = ::read(event.get(), values, sizeof values);
    if (n < static_cast<ssize_t>(sizeof values[0])) continue;
    if (!whole_machine_) counted_ns_ += values[0];
    if (tells_lost_) lost += values[1];
  }
  losses_.lost = std::max(losses_.lost, lost);
}

void KernelSampler::Peek(Buffer& b) {
  const Bytes record = b.ring.Peek();
  b.has_next = !record.empty();
  if (b.has_next) b.next_ns = PerfRecordTime(record);
}

bool KernelSampler::Read(Sink& sink, size_t most) {
  for (Buffer& b : buffers_) {
    perf_event_mmap_page* page = PageOf(b.mapped);
    b.ring.Set(b.ring.tail(), __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE));
    Peek(b);
  }
  size_t taken = 0;
  for (; taken < most; ++taken) {
    Buffer* first = nullptr;
    for (Buffer& b : buffers_)
      if (b.has_next && (first == nullptr || b.next_ns < first->next_ns)) first = &b;
    if (first == nullptr) break;
    TakeRecord(sink, first->ring.Peek(), static_cast<size_t>(first - buffers_.data()));
    first->ring.Drop();
    __atomic_store_n(&PageOf(first->mapped)->data_tail, first->ring.tail(), __ATOMIC_RELEASE);
    Peek(*first);
  }
  uint64_t broken = 0;
  for (Buffer& b : buffers_) {
    __atomic_store_n(&PageOf(b.mapped)->data_tail, b.ring.tail(), __ATOMIC_RELEASE);
    broken += b.ring.TakeMalformed();
  }
  losses_.malformed += broken;
  return taken != 0;
}

void KernelSampler::TakeRecord(Sink& sink, Bytes bytes, size_t buffer) {
  const PerfRecord record = DecodePerfRecord(bytes);
  const PerfSample& s = record.sample;
  switch (record.kind) {
    case PerfKind::kSample:
      return TakeSample(sink, s, buffer);
    case PerfKind::kLost:
      told_lost_ += record.lost;
      losses_.lost = std::max(losses_.lost, told_lost_);
      return;
    case PerfKind::kThrottle:
      ++losses_.throttled;
      return;
    case PerfKind::kMalformed:
      ++losses_.malformed;
      return;
    case PerfKind::kName:
      if (s.pid != pid_) return;
      if (record.exec) sink.OnExec(s.time_ns);
      return sink.OnThreadName(s.tid, record.name, s.time_ns);
    case PerfKind::kExit:
      if (s.pid != pid_) return;
      choice_.OnThreadEnd(s.tid);
      return sink.OnThreadEnd(s.tid, s.time_ns);
    case PerfKind::kFork:
      if (s.pid == pid_) sink.OnThreadStart(s.tid, record.parent_tid, s.time_ns);
      return;
    case PerfKind::kOther:
      return;
  }
}

void KernelSampler::TakeSample(Sink& sink, const PerfSample& s, size_t buffer) {
  if (s.pid != pid_) {
    if (!whole_machine_) ++losses_.others;
    return;
  }
  if (opened_late_ && !choice_.Counts(s.tid, buffer, s.id)) return;
  user_.clear();
  kernel_.clear();
  const size_t frames = SplitPerfChain(
      s.chain, most_frames_, [&](uint64_t a) { kernel_.push_back(a); },
      [&](uint64_t a) { user_.push_back(a); });
  CpuSample out;
  out.truncated = frames >= most_frames_;
  out.pid = s.pid;
  out.tid = s.tid;
  out.time_ns = s.time_ns;
  out.period = s.period;
  out.user = user_;
  out.kernel = kernel_;
  out.in_kernel = s.in_kernel;
  out.regs = s.regs;
  out.stack = s.stack;
  ++samples_;
  sink.OnSample(out);
}

}  // namespace clrscope::capture
