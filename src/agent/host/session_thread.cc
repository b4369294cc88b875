// SPDX-License-Identifier: Apache-2.0
#include "agent/host/session_thread.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <string_view>

#include "agent/host/thread.h"
#include "agent/host/waker.h"

namespace clrscope::agent {
namespace {

// AppDomain resource monitoring: no events but ThreadCreated, ThreadTerminated and those of
// AppDomains.
constexpr Ask kRare{0x800, 4};
constexpr std::string_view kStart = "EventPipeStartSession", kStop = "EventPipeStopSession";

SessionThread::Begun StartSession(ICorProfilerInfo* info, const Ask& ask) {
  EventPipeProviderConfig provider{};
  provider.name = u"Microsoft-Windows-DotNETRuntime";
  provider.keywords = ask.keywords;
  provider.level = ask.level;
  EventPipeSession id = 0;
  const HResult result = info->EventPipeStartSession(1, &provider, 0, &id);
  return {Succeeded(result) ? id : 0, result};
}

}  // namespace

struct SessionThread::Call {
  bool begins = false;
  Ask ask;
  Begun session{};  // that was begun, or is to be stopped
};

struct SessionThread::State {
  explicit State(ICorProfilerInfo* i) : info(i) {
    (void)::pthread_sigmask(SIG_SETMASK, nullptr, &signals);
    LeaveSignalsOfTheRuntime(&signals);
  }
  ICorProfilerInfo* const info;
  sigset_t signals;  // of the thread that made it: blocked
  Waker waker;
  std::atomic<bool> running{false}, quit{false};
  enum class Step { kIdle, kAsked, kDone };
  std::atomic<Step> step{Step::kIdle};
  Call call;  // the thread's while it is asked, else the caller's
};

SessionThread::SessionThread(ICorProfilerInfo* info, const std::atomic<bool>& ending,
                             Heartbeat& heartbeat)
    : ending_(ending), heartbeat_(heartbeat), state_(std::make_shared<State>(info)) {}

SessionThread::~SessionThread() {
  state_->quit.store(true);
  state_->waker.Wake();
}

void* SessionThread::Main(void* raw) {
  auto* holder = static_cast<std::shared_ptr<State>*>(raw);
  const std::shared_ptr<State> s = std::move(*holder);
  delete holder;
  (void)::pthread_sigmask(SIG_SETMASK, &s->signals, nullptr);
  (void)::prctl(PR_SET_NAME, "clrscope-events");
  // So that its own ThreadCreated is told.
  if (const Begun first = StartSession(s->info, kRare); first.id != 0)
    (void)s->info->EventPipeStopSession(first.id);
  while (!s->quit.load()) {
    if (s->step.load() != State::Step::kAsked) {
      pollfd wake{s->waker.fd(), POLLIN, 0};
      (void)::poll(&wake, 1, 1000);
      s->waker.Clear();
      continue;
    }
    if (s->call.begins)
      s->call.session = StartSession(s->info, s->call.ask);
    else
      (void)s->info->EventPipeStopSession(s->call.session.id);
    s->step.store(State::Step::kDone);
  }
  s->running.store(false);
  return nullptr;
}

bool SessionThread::Do(Call& call) {
  const Heartbeat::Call on_that_thread(heartbeat_, call.begins ? kStart : kStop);
  State& s = *state_;
  if (s.step.load() != State::Step::kIdle) return false;  // the process ends, and one was left
  s.call = call;
  if (!s.running.load()) {
    auto holder = std::make_unique<std::shared_ptr<State>>(state_);
    s.quit.store(false);
    s.running.store(true);
    if (!StartThread(Main, holder.get())) {
      s.running.store(false);
      return false;
    }
    (void)holder.release();
  }
  s.step.store(State::Step::kAsked);
  s.waker.Wake();
  const timespec pause{0, 200'000};
  while (s.step.load() != State::Step::kDone) {
    if (ending_.load()) return false;
    (void)::nanosleep(&pause, nullptr);
  }
  call = s.call;
  s.step.store(State::Step::kIdle);
  return true;
}

std::optional<SessionThread::Begun> SessionThread::Begin(const Ask& ask) {
  Call call{true, ask, {}};
  return Do(call) ? std::optional(call.session) : std::nullopt;
}

SessionThread::Begun SessionThread::BeginHere(const Ask& ask) {
  const Heartbeat::Call call(heartbeat_, kStart);
  return StartSession(state_->info, ask);
}

void SessionThread::Stop(EventPipeSession id) {
  Call call{false, {}, {id, kOk}};
  if (Do(call) || ending_.load()) return;
  const Heartbeat::Call here(heartbeat_, kStop);  // better here than never
  (void)state_->info->EventPipeStopSession(id);
}

// A session that ends still counts when the runtime works out what is asked of it: its events go on
// being made, stacks and all, and are thrown away, until another session begins or ends
// (dotnet/runtime src/native/eventpipe/ep-config.c, config_compute_keyword_and_level).
void SessionThread::Remind() {
  if (const auto begun = Begin(kRare); begun.has_value() && begun->id != 0) Stop(begun->id);
}

void SessionThread::End() {
  state_->quit.store(true);
  state_->waker.Wake();
  const timespec pause{0, 200'000};
  while (state_->running.load() && !ending_.load()) (void)::nanosleep(&pause, nullptr);
}

}  // namespace clrscope::agent
