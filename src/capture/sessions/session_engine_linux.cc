// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "base/units.h"
#include "capture/sessions/give_back.h"
#include "capture/sessions/ipc_link.h"
#include "capture/sessions/session_engine.h"
#include "capture/sessions/settling.h"
#include "capture/streams/event_fd.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kFirstRetryNs = kSecond / 4, kLongestRetryNs = 30 * kSecond;
// A process whose session ended is looked for again after this: mostly it has gone.
constexpr int64_t kAfterEndNs = 2 * kSecond;
// One that will not answer is told after this, and one that is ending is given up.
constexpr int64_t kTellAfterNs = 2 * kSecond, kGiveUpAfterNs = 16 * kSecond;
constexpr int64_t kRestEveryNs = kSecond / 4, kGiveBackEveryNs = kSecond;
// Each sends a megabyte or two, which one processor makes and another one decodes.
size_t RundownsAtATime(size_t max_workers) {
  const size_t processors = std::thread::hardware_concurrency();
  return std::min(max_workers, std::clamp<size_t>(processors / 2, 2, 8));
}
// Processes in which exceptions storm: each takes a thread for some 200 ms of each second.
constexpr size_t kStormsAtATime = 16;
// At the end, and between two recordings, for the names of native code.
constexpr std::chrono::milliseconds kNamesPatience{5000}, kNamesBetween{250}, kNamesPoll{5};
constexpr int64_t kUnderWay = std::numeric_limits<int64_t>::max();
int64_t OwnCpuNs() {
  timespec t{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}
// GCs that nobody takes out of the tables.
constexpr size_t kMaxGcs = 4096;

// Reasons that may pass: it is stopped, busy, about to begin or to end.
bool MayPass(ErrorCode code) {
  return code == ErrorCode::kTimeout || code == ErrorCode::kNotFound || code == ErrorCode::kIo ||
         code == ErrorCode::kTruncated;
}

}  // namespace

// Hands slices to all observers.
class SessionEngine::Fan final : public profile::SliceSink {
 public:
  explicit Fan(SessionEngine* engine) : engine_(engine) {}
  void OnSlice(profile::Slice&& slice) override {
    for (SessionObserver* o : engine_->observers_) o->OnSlice(slice);
  }

 private:
  SessionEngine* engine_;
};

Result<std::unique_ptr<SessionEngine>> SessionEngine::Start(EngineOptions options) {
  // Large pieces go back to the system when they are freed, and a dozen threads that allocate
  // little share what they leave free.
  (void)::mallopt(M_MMAP_THRESHOLD, 64 << 10);
  (void)::mallopt(M_ARENA_MAX, 2);
  if (TargetOptions& target = options.target; options.discover && target.cpu_hz != 0) {
    if (!target.cpu_may_lack) RETURN_IF_ERROR(MaySampleHere(target.sampler, /*children=*/false));
    target.cpu_may_lack = true;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Drain> drain, Drain::Start());
  auto pool = std::make_shared<RingPool>(kPoolBytes);
  ASSIGN_OR_RETURN(std::unique_ptr<ProcessSource> source,
                   LiveProcesses(options.discover, drain.get(), pool));
  auto engine =
      std::make_unique<SessionEngine>(std::move(options), &Clock::System(), std::move(source));
  engine->drain_ = std::move(drain);
  engine->pool_ = std::move(pool);
  return engine;
}

SessionEngine::SessionEngine(EngineOptions options, const Clock* clock,
                             std::unique_ptr<ProcessSource> source)
    : options_(std::move(options)),
      machine_clock_(clock),
      clock_(clock),
      source_(std::move(source)),
      workers_(std::make_unique<WorkerPool>(options_.max_workers)),
      rundowns_(std::make_unique<WorkerPool>(RundownsAtATime(options_.max_workers))),
      storms_(std::make_unique<WorkerPool>(kStormsAtATime)),
      names_(std::make_unique<NameFinder>(
          1, symbol_files::NativeSymbols::Options{.folders = options_.target.symbol_folders})),
      recording_(std::make_unique<profile::Recording>()),
      fan_(std::make_unique<Fan>(this)),
      next_tick_ns_(clock->monotonic_ns() + kSecond),
      inbox_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (options_.start_now) StartClock();
}

SessionEngine::~SessionEngine() {
  joining_ = false;
  if (drain_) drain_->Shut();  // frees calls that wait for a runtime
  workers_.reset();
  rundowns_.reset();
  storms_.reset();
  names_.reset();
  inbox_.clear();
  targets_.clear();
  source_.reset();
}

Target::Home SessionEngine::HomeNow() {
  return {recording_.get(), fan_.get(),   &clock_,      workers_.get(), rundowns_.get(), pool_,
          storms_.get(),    names_.get(), module_types_};
}

std::shared_ptr<IpcLink> SessionEngine::LinkThrough(std::unique_ptr<ipc::Transport> transport) {
  return std::make_shared<IpcLink>(std::move(transport), drain_.get(), pool_);
}

Status SessionEngine::Join(const ipc::DotnetProcess& process) {
  ASSIGN_OR_RETURN(std::shared_ptr<RuntimeLink> link, source_->Connect(process));
  return Join(process, std::move(link), false);
}

Status SessionEngine::Join(const ipc::DotnetProcess& process, std::shared_ptr<RuntimeLink> link,
                           bool fresh) {
  ASSIGN_OR_RETURN(OpenedTarget opened,
                   OpenTarget(process, std::move(link), options_.target, fresh));
  Add(std::move(opened));
  return OkStatus();
}

void SessionEngine::BeginJoin(const ProcessKey& key) {
  workers_->Post([this, key] {
    Joined joined;
    joined.key = key;
    const Status status = [&]() -> Status {
      ASSIGN_OR_RETURN(joined.process, source_->Examine(key));
      if (options_.wanted && !options_.wanted(joined.process)) {
        joined.unwanted = true;
        return OkStatus();
      }
      if (options_.target.event_sources()) joined.settles = UntilSettled(joined.process);
      if (joined.settles.count() != 0) return OkStatus();
      ASSIGN_OR_RETURN(std::shared_ptr<RuntimeLink> link, source_->Connect(joined.process));
      ASSIGN_OR_RETURN(joined.opened,
                       OpenTarget(joined.process, std::move(link), options_.target, false));
      return OkStatus();
    }();
    if (!status.ok()) joined.error = status.error();
    {
      const std::lock_guard lock(inbox_mutex_);
      inbox_.push_back(std::move(joined));
    }
    Notify(inbox_event_.get());
  });
}

void SessionEngine::TakeJoined() {
  uint64_t count;
  (void)!::read(inbox_event_.get(), &count, sizeof(count));
  std::vector<Joined> arrived;
  {
    const std::lock_guard lock(inbox_mutex_);
    arrived.swap(inbox_);
  }
  if (!joining_) {  // what they opened is dropped; they are joined when that goes on
    for (const Joined& j : arrived)
      if (const auto it = retries_.find(j.key); it != retries_.end()) it->second.next_ns = 0;
    return;
  }
  for (Joined& j : arrived) {
    if (j.error) {
      OnFailure(j);
      continue;
    }
    retries_.erase(j.key);
    if (j.unwanted) continue;
    if (j.settles.count() != 0) {
      retries_[j.key].next_ns = machine_clock_->monotonic_ns() + j.settles.count() * 1'000'000;
      continue;
    }
    Add(std::move(j.opened));
  }
}

void SessionEngine::Add(OpenedTarget opened) {
  if (!opened.sampler.fallback.empty() && !std::exchange(told_of_fallback_, true))
    opened.notes.push_back(std::move(opened.sampler.fallback));
  targets_.push_back(std::make_unique<Target>(std::move(opened), HomeNow(), options_.target));
  for (SessionObserver* o : observers_) o->OnJoined(*targets_.back());
}

void SessionEngine::OnFailure(const Joined& j) {
  const auto skip = [&] {
    ++past_.skipped;
    for (SessionObserver* o : observers_) o->OnSkipped(j.process, *j.error);
  };
  // A runtime that is about to begin or to end refuses too.
  const bool refused = j.error->code == ErrorCode::kRefused && j.process.attachable;
  if (!MayPass(j.error->code) && !(refused && retries_[j.key].wait_ns < kTellAfterNs)) {
    retries_.erase(j.key);
    return skip();
  }
  Retry& retry = retries_[j.key];
  const bool ending = j.error->code == ErrorCode::kNotFound;
  // Without a pid nothing was found out: it has gone.
  if (ending && (j.process.pid == 0 || retry.wait_ns >= kGiveUpAfterNs)) {
    if (!retry.ended && !retry.told) ++past_.missed;
    retries_.erase(j.key);
    return;
  }
  retry.wait_ns = retry.wait_ns == 0 ? kFirstRetryNs : std::min(2 * retry.wait_ns, kLongestRetryNs);
  retry.next_ns = machine_clock_->monotonic_ns() + retry.wait_ns;
  if (retry.told || retry.ended || ending) return;
  if (j.error->code != ErrorCode::kTimeout && retry.wait_ns < kTellAfterNs) return;
  retry.told = true;
  skip();
}

void SessionEngine::BeginRetries() {
  const int64_t now = machine_clock_->monotonic_ns();
  for (auto& [key, retry] : retries_) {
    if (retry.next_ns > now) continue;
    retry.next_ns = kUnderWay;
    BeginJoin(key);
  }
}

bool SessionEngine::PumpAll() {
  bool any = false;
  for (const auto& t : targets_)
    if (!t->ended()) any |= t->Pump();
  for (const Beside& b : feeds_)
    if (!b.feed->ended()) any |= b.feed->Pump();
  return any;
}

bool SessionEngine::Work() {
  for (const ProcessKey& key : source_->Take()) {
    if (retries_.contains(key)) continue;
    if (!full()) {
      BeginJoin(key);
      continue;
    }
    for_next_.push_back(key);
    ++past_.skipped;
    ipc::DotnetProcess process;
    process.pid = key.pid;
    const Error error{ErrorCode::kFailed, fmt::format("the recording holds {} processes already",
                                                      recording_->processes.size())};
    for (SessionObserver* o : observers_) o->OnSkipped(process, error);
  }
  TakeJoined();
  const bool any = PumpAll();
  if (const int64_t now = machine_clock_->monotonic_ns(); now >= next_rest_ns_) {
    next_rest_ns_ = now + kRestEveryNs;
    for (const auto& t : targets_) t->Rest();
  }
  if (machine_clock_->monotonic_ns() >= next_tick_ns_) Tick();
  return any;
}

void SessionEngine::Wait(std::chrono::milliseconds timeout, std::span<pollfd> others) {
  const int64_t left = (next_tick_ns_ - machine_clock_->monotonic_ns()) / 1'000'000 + 1;
  const int wait =
      static_cast<int>(std::clamp<int64_t>(timeout.count(), 0, std::max<int64_t>(left, 0)));
  std::vector<pollfd> fds(others.begin(), others.end());
  fds.reserve(fds.size() + 3 + feeds_.size());
  for (const int fd : {drain_ ? drain_->ready_fd() : -1, source_->fd(), inbox_event_.get()})
    fds.push_back({fd, POLLIN, 0});
  for (const Beside& b : feeds_) b.feed->AddPolls(fds);
  (void)::poll(fds.data(), fds.size(), wait);
  std::copy_n(fds.begin(), others.size(), others.begin());
  uint64_t count;
  if (fds[others.size()].revents != 0) (void)!::read(drain_->ready_fd(), &count, sizeof(count));
}

void SessionEngine::Tick() {
  const int64_t machine_now = machine_clock_->monotonic_ns();
  next_tick_ns_ += kSecond;
  if (next_tick_ns_ <= machine_now) next_tick_ns_ = machine_now + kSecond;
  const int64_t now = clock_.now_ns();
  const int64_t own_ns = OwnCpuNs();
  for (const auto& t : targets_) {
    t->NoteOwnCpu(static_cast<double>(own_ns - own_cpu_ns_) / static_cast<double>(targets_.size()));
    t->Tick(now);
    for (const RenamedType& renamed : t->TakeRenamedTypes())
      for (SessionObserver* o : observers_) o->OnRenamed(*t, renamed);
    PassNotes(*t);
  }
  own_cpu_ns_ = own_ns;
  for (auto it = targets_.begin(); it != targets_.end();) {
    const bool over = (*it)->ended() && (*it)->lost() && (*it)->NameTheLast(now);
    if (!over || options_.target.keeper != nullptr) {
      ++it;
      continue;
    }
    LetGo(**it);
    if (options_.discover && joining_) {
      const ipc::DotnetProcess& p = (*it)->process();
      retries_[{p.pid, p.start_ticks}] = {machine_now + kAfterEndNs, 0, false, true};
    }
    it = targets_.erase(it);
  }
  if (joining_ && !full()) BeginRetries();
  recording_->start_unix_ns = clock_.start_unix_ns();
  recording_->end_ns = end_ns();
  for (SessionObserver* o : observers_) o->OnTick(now);
  ReleaseTables();
}

void SessionEngine::PassNotes() {
  for (const auto& t : targets_) PassNotes(*t);
}

void SessionEngine::PassNotes(Target& target) {
  std::vector<std::string> notes = target.TakeNotes();
  for (const Beside& b : feeds_) {
    if (b.index != target.index()) continue;
    for (std::string& note : b.feed->TakeNotes()) notes.push_back(std::move(note));
  }
  for (const std::string& note : notes)
    for (SessionObserver* o : observers_) o->OnNote(target, note);
}

void SessionEngine::LetGo(Target& target) {
  target.Close();
  for (const Beside& b : feeds_) {
    if (b.index != target.index()) continue;
    b.feed->EndOfProcess();
    past_.samples += b.feed->samples();
  }
  PassNotes(target);
  std::erase_if(feeds_, [&](const Beside& b) { return b.index == target.index(); });
  for (SessionObserver* o : observers_) o->OnEnded(target);
  released_.push_back(target.index());
  ++past_.ended;
  past_.events += target.events();
  past_.samples += target.samples();
  past_.happenings += target.happenings();
  past_.dropped += target.dropped();
  past_.gcs += target.gcs();
}

void SessionEngine::ReleaseTables() {
  if (!options_.keep_tables)
    for (const uint32_t index : released_) recording_->processes[index]->Release();
  for (const auto& t : targets_) give_back_ |= t->TakeRundownEnded();
  give_back_ |= !released_.empty();
  released_.clear();
  if (const int64_t now = machine_clock_->monotonic_ns(); give_back_ && now >= next_give_back_ns_) {
    give_back_ = false;
    next_give_back_ns_ = now + kGiveBackEveryNs;
    GiveBackMemory();
  }
  for (const auto& t : targets_) {
    profile::GcRecords& gcs = t->tables().gcs;
    if (gcs.size() > kMaxGcs) gcs.KeepLast(kMaxGcs / 2);
  }
}

// A few at a time: what many runtimes still have to send at their end is more than all of them send
// in a second. One that does not answer does not hold up the others.
void SessionEngine::StopSome() {
  constexpr size_t kAtOnce = 8;
  constexpr int64_t kPatienceNs = 200'000'000;
  auto stopping =
      static_cast<size_t>(std::count_if(targets_.begin(), targets_.end(), [](const auto& t) {
        return t->state() == Target::State::kStopping;
      }));
  for (const auto& t : targets_) {
    if (t->state() != Target::State::kRecording) continue;
    const int64_t now = machine_clock_->monotonic_ns();
    if (stopping >= kAtOnce && now < next_stop_ns_) return;
    next_stop_ns_ = now + kPatienceNs;
    t->BeginStop();
    ++stopping;
  }
}

bool SessionEngine::PumpUntilEnded(std::chrono::milliseconds patience,
                                   const std::function<bool()>& keep_waiting) {
  const int64_t deadline =
      machine_clock_->monotonic_ns() + std::chrono::nanoseconds(patience).count();
  while (any_recording() && machine_clock_->monotonic_ns() < deadline && keep_waiting()) {
    StopSome();
    if (!PumpAll()) Wait(20ms);
    if (machine_clock_->monotonic_ns() >= next_tick_ns_) Tick();
  }
  return !any_recording();
}

void SessionEngine::StopFeeds(std::chrono::milliseconds patience,
                              const std::function<bool()>& keep_waiting) {
  for (const Beside& b : feeds_)
    if (!b.feed->ended()) b.feed->BeginStop();
  const auto all_ended = [this] {
    return std::all_of(feeds_.begin(), feeds_.end(),
                       [](const Beside& b) { return b.feed->ended(); });
  };
  const int64_t deadline =
      machine_clock_->monotonic_ns() + std::chrono::nanoseconds(patience).count();
  while (!all_ended() && machine_clock_->monotonic_ns() < deadline && keep_waiting()) {
    if (!PumpAll()) Wait(20ms);
    if (machine_clock_->monotonic_ns() >= next_tick_ns_) Tick();
  }
  for (const Beside& b : feeds_) {
    if (!b.feed->ended()) b.feed->Abandon("did not say its last words in time");
    past_.samples += b.feed->samples();
  }
  for (const auto& t : targets_) PassNotes(*t);
  feeds_.clear();
}

bool SessionEngine::StopAll(std::chrono::milliseconds patience,
                            const std::function<bool()>& keep_waiting) {
  joining_ = false;
  TakeJoined();
  const bool answered = PumpUntilEnded(patience, keep_waiting);
  for (const auto& t : targets_)
    if (!t->ended()) t->Abandon("did not end its session in time");
  return answered;
}

void SessionEngine::RunDownWhatIsUnnamed(std::chrono::milliseconds patience,
                                         const std::function<bool()>& keep_waiting) {
  bool any = false;
  for (const auto& t : targets_) {
    if (t->lost() || t->UnresolvedAddresses() == 0) continue;
    t->BeginFinalRundown();
    any = true;
  }
  if (!any) return;
  (void)PumpUntilEnded(patience, keep_waiting);
  for (const auto& t : targets_)
    if (!t->ended()) t->Abandon("did not end its session in time");
}

std::vector<std::string> SessionEngine::ReopenAll() {
  std::vector<std::string> lost;
  joining_ = true;
  for (const auto& t : targets_) {
    if (t->lost()) continue;
    const pid_t pid = t->process().pid;
    if (::kill(pid, 0) != 0 && errno == ESRCH) {
      lost.push_back(fmt::format("process {} ended while clrscope was suspended", pid));
    } else if (Status s = t->Reopen(); !s.ok()) {
      lost.push_back(fmt::format("process {} is recorded up to the suspension only: {}", pid,
                                 s.error().message));
    }
  }
  return lost;
}

// One thread reads all files, in turn.
void SessionEngine::NameTheLast(std::chrono::milliseconds patience) {
  const int64_t deadline =
      machine_clock_->monotonic_ns() + std::chrono::nanoseconds(patience).count();
  const auto all_named = [this] {
    bool all = true;
    for (const auto& t : targets_) all &= t->NameTheLast(clock_.now_ns());
    return all;
  };
  while (!all_named() && machine_clock_->monotonic_ns() < deadline)
    std::this_thread::sleep_for(kNamesPoll);
}

void SessionEngine::Close() {
  for (const auto& t : targets_)
    if (!t->lost()) t->ReadImages();
  NameTheLast(kNamesPatience);
  for (const auto& t : targets_) LetGo(*t);
  targets_.clear();
  recording_->start_unix_ns = clock_.start_unix_ns();
  recording_->end_ns = end_ns();
  for (SessionObserver* o : observers_) o->OnTick(clock_.now_ns());
  ReleaseTables();
}

std::unique_ptr<profile::Recording> SessionEngine::Rotate() {
  Tick();
  for (const auto& t : targets_) t->Finish();
  NameTheLast(kNamesBetween);
  recording_->end_ns = clock_.now_ns();
  const int64_t shift = clock_.Restart();
  auto old = std::exchange(recording_, std::make_unique<profile::Recording>());
  recording_->start_unix_ns = clock_.start_unix_ns();
  for (const auto& t : targets_) t->MoveTo(HomeNow(), shift);
  for (const ProcessKey& key : std::exchange(for_next_, {})) BeginJoin(key);
  for (const auto& t : targets_)
    for (SessionObserver* o : observers_) o->OnJoined(*t);
  return old;
}

bool SessionEngine::any_recording() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const auto& t) { return !t->ended(); });
}

int64_t SessionEngine::end_ns() const {
  if (options_.start_now) return clock_.now_ns();
  int64_t end = 0;
  for (const auto& t : targets_) end = std::max(end, t->fold().last_ns());
  for (const auto& p : recording_->processes) end = std::max(end, p->info.end_ns);
  return end;
}

EngineCounts SessionEngine::counts() const {
  EngineCounts counts = past_;
  for (const auto& t : targets_) {
    ++(t->ended() ? counts.ended : counts.recording);
    counts.events += t->events();
    counts.samples += t->samples();
    counts.happenings += t->happenings();
    counts.dropped += t->dropped();
    counts.gcs += t->gcs();
  }
  for (const Beside& b : feeds_) counts.samples += b.feed->samples();
  return counts;
}

size_t SessionEngine::TableBytes() const {
  size_t bytes = recording_->strings.size() * 64;
  for (const auto& t : targets_) bytes += t->TableBytes();
  return bytes;
}

}  // namespace clrscope::capture
