// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "capture/sessions/ipc_link.h"
#include "capture/sessions/process_source.h"
#include "capture/sessions/settling.h"
#include "capture/streams/event_fd.h"
#include "ipc/diagnosis/diagnosis.h"
#include "ipc/processes/process_finder.h"
#include "ipc/processes/process_watch.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskTimeout = 2000ms;

class LiveFeed final : public ProcessSource {
 public:
  LiveFeed(Drain* drain, std::shared_ptr<RingPool> pool) : drain_(drain), pool_(std::move(pool)) {}
  ~LiveFeed() override {
    stop_ = true;
    if (stop_event_.valid()) Notify(stop_event_.get());
    if (thread_.joinable()) thread_.join();
  }

  Status Discover() {
    ASSIGN_OR_RETURN(watch_, ipc::ProcessWatch::Start());
    ready_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    stop_event_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!ready_.valid() || !stop_event_.valid())
      return Error{ErrorCode::kFailed,
                   fmt::format("cannot look for processes: {}", strerror(errno))};
    thread_ = std::thread([this] { Run(); });
    return OkStatus();
  }

  int fd() const override { return ready_.get(); }

  std::vector<ProcessKey> Take() override {
    if (!ready_.valid()) return {};
    uint64_t count;
    (void)!::read(ready_.get(), &count, sizeof(count));
    const std::lock_guard lock(mutex_);
    return std::exchange(found_, {});
  }

  Result<ipc::DotnetProcess> Examine(const ProcessKey& key) override {
    ipc::DotnetProcess process = ipc::Diagnose(key.pid, kAskTimeout).process;
    if (process.start_ticks != key.start_ticks)
      return Error{ErrorCode::kNotFound, fmt::format("process {} has ended", key.pid)};
    return process;
  }

  Result<std::shared_ptr<RuntimeLink>> Connect(const ipc::DotnetProcess& process) override {
    ASSIGN_OR_RETURN(std::unique_ptr<ipc::Transport> transport, ipc::OpenTransport(process));
    auto link = std::make_shared<IpcLink>(std::move(transport), drain_, pool_);
    link->SettlesIn(UntilSettled(process));
    return std::shared_ptr<RuntimeLink>(std::move(link));
  }

 private:
  void Run() {
    // Signals are the main thread's.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    pthread_setname_np(pthread_self(), "discovery");
    while (!stop_) {
      const std::vector<ipc::ProcessFacts> found = watch_->Look();
      {
        const std::lock_guard lock(mutex_);
        for (const ipc::ProcessFacts& f : found) found_.push_back({f.pid, f.start_ticks});
      }
      if (!found.empty()) Notify(ready_.get());
      pollfd fds[] = {{watch_->fd(), POLLIN, 0}, {stop_event_.get(), POLLIN, 0}};
      (void)::poll(fds, 2, static_cast<int>(ipc::ProcessWatch::kInterval.count()));
      // A runtime listens an instant after its socket's name appeared.
      if (fds[0].revents != 0 && !stop_) std::this_thread::sleep_for(5ms);
    }
  }

  Drain* drain_;
  std::shared_ptr<RingPool> pool_;
  std::unique_ptr<ipc::ProcessWatch> watch_;  // of the thread
  Fd ready_, stop_event_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<ProcessKey> found_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<ProcessSource>> LiveProcesses(bool discover, Drain* drain,
                                                     std::shared_ptr<RingPool> pool) {
  auto feed = std::make_unique<LiveFeed>(drain, std::move(pool));
  if (discover) RETURN_IF_ERROR(feed->Discover());
  return std::unique_ptr<ProcessSource>(std::move(feed));
}

}  // namespace clrscope::capture
