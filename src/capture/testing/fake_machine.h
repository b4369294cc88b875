// SPDX-License-Identifier: Apache-2.0
// A machine with a clock of its own and processes whose runtimes send what a test says. Nothing
// waits and nothing runs beside the test: give the engine max_workers = 0.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "capture/sessions/clock.h"
#include "capture/sessions/process_source.h"
#include "clr/event_table.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture::testing {

class FakeClock final : public Clock {
 public:
  int64_t monotonic_ns() const override { return monotonic; }
  int64_t unix_ns() const override { return unix; }
  void Advance(int64_t ns) {
    monotonic += ns;
    unix += ns;
  }
  int64_t monotonic = 500'000 * kSecond;
  int64_t unix = 1'795'000'000 * kSecond;
};

// The runtime of one process. What is written goes to its main sessions, as long as there are any.
class FakeRuntime {
 public:
  FakeRuntime(const FakeClock* clock, ipc::DotnetProcess of)
      : process(std::move(of)), clock_(clock) {}

  // One sample of a type in a stack (leaf first). Stacks and time: now.
  void Sample(const std::string& type, uint64_t type_id, const std::vector<uint64_t>& stack,
              uint64_t size = 1000) {
    nettrace::testing::SampledFields f;
    f.type = type;
    f.type_id = type_id;
    f.object_size = size;
    Emit(303, nettrace::testing::AllocationSampledPayload(f), stack);
  }
  void Tick(const std::string& type, const std::vector<uint64_t>& stack) {
    nettrace::testing::TickFields f;
    f.type = type;
    Emit(10, nettrace::testing::AllocationTickPayload(4, f), stack);
  }
  void Method(const std::string& owner, const std::string& name, uint64_t start, uint32_t size) {
    nettrace::testing::MethodFields f;
    f.method_id = start;
    f.start = start;
    f.size = size;
    f.owner = owner;
    f.name = name;
    Emit(143, nettrace::testing::MethodVerbosePayload(2, f), {});
  }
  void Unload(uint64_t start, uint32_t size) {
    nettrace::testing::MethodFields f;
    f.method_id = start;
    f.start = start;
    f.size = size;
    Emit(144, nettrace::testing::MethodVerbosePayload(2, f), {});
  }
  void LoadModule(uint64_t id, const std::string& path) {
    Emit(152, nettrace::testing::ModulePayload(1, id, path), {});
  }
  void Gc(uint32_t number, uint32_t reason) {
    Emit(1, nettrace::testing::GcStartPayload(2, number, 0, reason, 0), {});
    Emit(2, nettrace::testing::GcEndPayload(1, number, 0), {});
  }
  // Bytes as they are, instead of all that.
  void Raw(Bytes bytes) {
    for (Session& s : sessions_)
      if (s.main && s.ring) s.ring->Push(bytes);
  }
  // What was emitted goes on its way, as a runtime's buffers do ten times a second.
  void Flush() {
    for (Session& s : sessions_) FlushTo(s);
    pending_.clear();
  }
  // The process ends, and its sessions with it; `cut`: without their end tags.
  void End(bool cut = false) {
    Flush();
    for (Session& s : sessions_) Close(s, cut);
    ended = true;
  }

  Result<OpenedStream> Open(const ipc::SessionConfig& config, std::shared_ptr<RingPool> pool) {
    if (ended) return Error{ErrorCode::kNotFound, "nobody listens there"};
    if (open_error) return *open_error;
    Session s;
    s.id = next_id_++;
    s.ring = std::make_shared<StreamRing>(ring_bytes, std::move(pool));
    const ipc::ProviderConfig& p = config.providers.at(0);
    s.main = (p.keywords & clr::keyword::kGc) != 0;
    last_opened_is_reminder = !s.main && p.keywords == 0x800 && config.rundown_keyword == 0;
    if (last_opened_is_reminder) ++reminders;
    if (s.main && !raw_streams) {
      nettrace::testing::WriterOptions options;
      options.sync_ticks = clock_->monotonic_ns();
      options.pid = static_cast<uint32_t>(process.inner_pid);
      s.writer = std::make_unique<nettrace::testing::SyntheticWriter>(options);
      const std::string provider(clr::kRuntimeProvider);
      s.writer->Metadata({{1, provider, 1, 2, "", 0, 4, "", 0},
                          {2, provider, 2, 1, "", 0, 4, "", 0},
                          {10, provider, 10, 4, "", 0, 5, "", 0},
                          {143, provider, 143, 2, "", 0, 4, "", 0},
                          {144, provider, 144, 2, "", 0, 4, "", 0},
                          {152, provider, 152, 1, "", 0, 4, "", 0},
                          {303, provider, 303, 0, "", 0, 4, "", 0}});
      const std::string head = s.writer->Drain();
      s.ring->Push(AsBytes(head.data(), head.size()));
    }
    ++opened;
    sessions_.push_back(std::move(s));
    return OpenedStream{sessions_.back().id, sessions_.back().ring};
  }
  void Stop(uint64_t id) {
    Flush();
    for (Session& s : sessions_)
      if (s.id == id) Close(s, false);
  }
  void Drop(const std::shared_ptr<StreamRing>& ring) {
    for (Session& s : sessions_) {
      if (s.ring != ring) continue;
      s.ring->Close();
      s.ring.reset();
    }
  }
  size_t open_sessions() const {
    size_t n = 0;
    for (const Session& s : sessions_)
      if (s.ring) ++n;
    return n;
  }

  ipc::DotnetProcess process;
  std::optional<Error> open_error;
  size_t ring_bytes = StreamRing::kDefaultBytes;
  bool raw_streams = false;  // only Raw() writes
  bool ended = false;
  int opened = 0, reminders = 0;
  bool last_opened_is_reminder = false;

 private:
  struct Session {
    uint64_t id = 0;
    bool main = false;
    std::shared_ptr<StreamRing> ring;
    std::unique_ptr<nettrace::testing::SyntheticWriter> writer;
    uint32_t next_stack = 1;
    std::map<std::vector<uint64_t>, uint32_t> stacks;  // since the last sequence point
    uint32_t blocks = 0;
  };
  struct Pending {
    uint32_t event;
    int64_t time;
    std::string payload;
    std::vector<uint64_t> stack;
  };

  void Emit(uint32_t event, std::string payload, const std::vector<uint64_t>& stack) {
    pending_.push_back({event, clock_->monotonic_ns(), std::move(payload), stack});
  }
  void FlushTo(Session& s) {
    if (!s.main || !s.ring || !s.writer || pending_.empty()) return;
    std::vector<nettrace::testing::EventRowSpec> rows;
    for (const Pending& p : pending_) {
      nettrace::testing::EventRowSpec row;
      row.metadata = p.event;
      row.time = p.time;
      row.payload = p.payload;
      if (!p.stack.empty()) {
        const auto [it, is_new] = s.stacks.try_emplace(p.stack, s.next_stack);
        if (is_new) s.writer->Stacks(s.next_stack++, {p.stack});
        row.stack = it->second;
      }
      rows.push_back(std::move(row));
    }
    s.writer->Events(rows);
    if (++s.blocks % 1000 == 0) {  // a runtime does so each 10 MB
      s.writer->SequencePoint(clock_->monotonic_ns(), s.writer->Sequences());
      s.stacks.clear();
      s.next_stack = 1;
    }
    const std::string bytes = s.writer->Drain();
    s.ring->Push(AsBytes(bytes.data(), bytes.size()));
  }
  static void Close(Session& s, bool cut) {
    if (!s.ring) return;
    if (s.writer && !cut) {
      s.writer->End();
      const std::string bytes = s.writer->Drain();
      s.ring->Push(AsBytes(bytes.data(), bytes.size()));
    } else if (!s.writer && !cut) {
      nettrace::testing::SyntheticWriter empty;
      empty.End();
      if (!s.main) s.ring->Push(empty.bytes());
    }
    s.ring->Close();
    s.ring.reset();
  }

  const FakeClock* clock_;
  std::vector<Session> sessions_;
  std::vector<Pending> pending_;
  uint64_t next_id_ = 1;
};

class FakeMachine {
 public:
  FakeClock clock;

  // Starts a process that will be found. Its name may not be used before it has ended.
  std::shared_ptr<FakeRuntime> Start(pid_t pid, const std::string& name, uint64_t start_ticks = 0,
                                     const std::string& version = "10.0.12") {
    ipc::DotnetProcess p;
    p.pid = p.inner_pid = pid;
    p.start_ticks =
        start_ticks != 0 ? start_ticks : static_cast<uint64_t>(clock.monotonic / 10'000'000);
    p.name = name;
    p.command_line = "dotnet " + name + ".dll";
    p.clr_version = version;
    p.attachable = true;
    auto runtime = std::make_shared<FakeRuntime>(&clock, p);
    runtimes_[{pid, p.start_ticks}] = runtime;
    found_.push_back({pid, p.start_ticks});
    return runtime;
  }
  // The process is not there any more, for whoever asks.
  void Remove(const FakeRuntime& runtime) {
    runtimes_.erase({runtime.process.pid, runtime.process.start_ticks});
  }

  std::unique_ptr<ProcessSource> Processes() { return std::make_unique<MachineProcesses>(this); }
  std::shared_ptr<RingPool> pool;

 private:
  class Link final : public RuntimeLink {
   public:
    Link(std::shared_ptr<FakeRuntime> runtime, std::shared_ptr<RingPool> pool)
        : runtime_(std::move(runtime)), pool_(std::move(pool)) {}
    Result<OpenedStream> Open(const ipc::SessionConfig& config) override {
      return runtime_->Open(config, pool_);
    }
    Status Stop(uint64_t id) override {
      runtime_->Stop(id);
      return OkStatus();
    }
    void Drop(const std::shared_ptr<StreamRing>& ring) override { runtime_->Drop(ring); }

   private:
    std::shared_ptr<FakeRuntime> runtime_;
    std::shared_ptr<RingPool> pool_;
  };
  class MachineProcesses final : public ProcessSource {
   public:
    explicit MachineProcesses(FakeMachine* machine) : machine_(machine) {}
    int fd() const override { return -1; }
    std::vector<ProcessKey> Take() override { return std::exchange(machine_->found_, {}); }
    Result<ipc::DotnetProcess> Examine(const ProcessKey& key) override {
      const auto it = machine_->runtimes_.find(key);
      if (it == machine_->runtimes_.end()) return Error{ErrorCode::kNotFound, "it has ended"};
      return it->second->process;
    }
    Result<std::shared_ptr<RuntimeLink>> Connect(const ipc::DotnetProcess& p) override {
      if (!p.attachable) return Error{p.reason_code, p.reason};
      return std::shared_ptr<RuntimeLink>(
          std::make_shared<Link>(machine_->runtimes_.at({p.pid, p.start_ticks}), machine_->pool));
    }

   private:
    FakeMachine* machine_;
  };

  std::map<ProcessKey, std::shared_ptr<FakeRuntime>> runtimes_;
  std::vector<ProcessKey> found_;
};

}  // namespace clrscope::capture::testing
