// SPDX-License-Identifier: Apache-2.0
// The reader process: loads the target's own data access library, which is code of somebody else's,
// and tells clrscope what it finds. clrscope starts it with few rights and with limits of time and
// memory (src/inspect/reader_process_linux.cc), and keeps what came before it may end.
//   clrscope-dac SOCKET LIBRARY RUNTIME-BASE
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "dac/core_library.h"
#include "dac/finalizers.h"
#include "dac/guarded.h"
#include "dac/json_text.h"
#include "dac/locks.h"
#include "dac/pool.h"
#include "dac/runtime.h"
#include "dac/stack_walk.h"
#include "dac/thread_name.h"

namespace clrscope::dac {
namespace {

void Tell(Remote& remote, JsonText& json) {
  json.Close();
  remote.Part(json.text());
}

void TellError(Remote& remote, std::string_view sentence) {
  JsonText json;
  json.Open().Add("error", sentence);
  Tell(remote, json);
}

void AddFrames(Runtime& runtime, const ThreadStack& stack, JsonText& json) {
  json.OpenList("frames");
  for (const StackFrame& frame : stack.frames) {
    if (frame.method == 0) continue;
    json.Open().Add("method", runtime.MethodName(frame.method));
    json.Add("module", runtime.ModuleOf(frame.method));
    if (frame.explicit_frame != 0) json.Add("explicit", 1);
    json.Add("ip", frame.ip).Add("sp", frame.sp).Close();
  }
  json.Close();
}

void AddNumbers(std::string_view name, const std::vector<uint32_t>& numbers, JsonText& json) {
  json.OpenList(name);
  for (const uint32_t n : numbers) json.Add("", uint64_t{n});
  json.Close();
}

void TellThread(Runtime& runtime, CoreLibrary& core, Locks& locks, const Thread& thread) {
  JsonText json;
  json.Open().Open("thread");
  json.Add("os_id", thread.data.os_id).Add("managed_id", thread.data.managed_id);
  json.Add("state", static_cast<uint32_t>(thread.data.state));
  json.Add("name", ManagedThreadName(runtime, core, thread));
  const ThreadStack stack = WalkThread(runtime, thread.data.os_id);
  if (!stack.error.empty()) json.Add("error", stack.error);
  if (stack.cut) json.Add("cut", 1);
  AddFrames(runtime, stack, json);
  if (thread.object == runtime.FinalizerThread()) json.Add("finalizer", 1);
  const Wait wait = WaitOf(runtime, thread, stack);
  if (const WaitsFor waits = locks.WaitedFor(thread, wait); waits.lock != nullptr) {
    json.Add("waits_for", waits.lock->object);
    AddNumbers("behind", waits.behind, json);
  }
  json.Close();
  Tell(runtime.remote(), json);
  locks.NoteConstructors(thread, stack, wait);
}

// Only once all threads have been walked it is known who runs which.
void TellConstructors(Remote& remote, Locks& locks) {
  for (const Locks::ConstructorWait& wait : locks.ConstructorsWaitedFor()) {
    JsonText json;
    json.Open().Open("wait").Add("os_id", wait.os_id).Add("waits_for", wait.lock->object).Close();
    Tell(remote, json);
  }
}

void TellLocks(Remote& remote, const Locks& locks) {
  for (const auto& [object, lock] : locks.all()) {
    JsonText json;
    json.Open().Open("lock").Add("object", object).Add("kind", lock.kind);
    json.Add("type", lock.type).Add("recursion", lock.recursion).Add("waiters", lock.waiters);
    AddNumbers("owners", lock.owners, json);
    if (lock.kind == "lock") json.Add("owners_are_os_ids", 1);
    if (!lock.owners_known) json.Add("more_owners", 1);
    json.Close();
    Tell(remote, json);
  }
}

// Whether it is whole, with no fault that may have hidden a part.
bool ReadWholePool(Runtime& runtime, CoreLibrary& core, PoolReading& reading) {
  const uint64_t faults = Faults();
  reading = ReadPool(runtime, core);
  if (Faults() == faults) return reading.whole();
  if (reading.failed.empty()) reading = {std::nullopt, "fields"};
  return false;
}

// The program runs on: what grows or moves while it is read is read again.
void TellPool(Runtime& runtime, CoreLibrary& core) {
  PoolReading reading;
  bool whole = ReadWholePool(runtime, core, reading);
  for (int i = 1; i < kReadings && !whole; ++i) {
    runtime.Forget();
    CoreLibrary anew(runtime);
    whole = ReadWholePool(runtime, anew, reading);
  }
  if (!reading.failed.empty())
    TellError(runtime.remote(),
              "the thread pool's " + std::string(reading.failed) + " could not be read");
  const std::optional<Pool>& pool = reading.pool;
  if (!pool) return;
  JsonText json;
  json.Open().Open("pool").Add("threads", pool->threads).Add("busy", pool->busy);
  json.Add("goal", pool->goal).Add("min", pool->min).Add("max", pool->max);
  if (pool->queue_length) json.Add("queue_length", *pool->queue_length);
  json.Close();
  Tell(runtime.remote(), json);
}

void TellFinalizers(Runtime& runtime) {
  const std::optional<uint64_t> waiting = WaitForFinalizers(runtime);
  if (!waiting) return;
  JsonText json;
  json.Open().Open("finalizers").Add("waiting", *waiting).Close();
  Tell(runtime.remote(), json);
}

int Run(int socket, const char* library, Address base) {
  Remote remote(socket);
  Runtime runtime(remote, base);
  if (const std::string error = runtime.Load(library); !error.empty()) {
    TellError(remote, error);
    remote.Done();
    return 1;
  }
  std::vector<SnapshotThread> wanted;
  const auto [before, all_before] = runtime.Threads();
  for (const Thread& t : before)
    if (t.data.os_id != 0) wanted.push_back({t.data.os_id, t.object});
  if (wanted.empty()) TellError(remote, "the runtime has no threads yet");
  remote.Snapshot(wanted);

  const auto [threads, all_threads] = runtime.ThreadsOfSnapshot();
  if (!all_before || !all_threads)
    TellError(remote, "its list of threads could not be read to the end");
  const uint64_t faults = Faults();
  CoreLibrary core(runtime);
  Locks locks(runtime, core, threads);
  if (Faults() != faults) TellError(remote, "not all locks and threads' names could be read");
  // One whose stack could not be copied has its managed id, its name and its locks all the same.
  for (const Thread& t : threads)
    if (t.data.os_id != 0) TellThread(runtime, core, locks, t);
  TellConstructors(remote, locks);
  TellLocks(remote, locks);
  if (locks.full()) TellError(remote, "there may be more locks than are looked at");
  TellFinalizers(runtime);
  TellPool(runtime, core);
  remote.Done();
  return 0;
}

}  // namespace
}  // namespace clrscope::dac

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("clrscope-dac: this is a part of clrscope, which starts it itself\n", stderr);
    return 2;
  }
  const int status =
      clrscope::dac::Run(std::atoi(argv[1]), argv[2], std::strtoull(argv[3], nullptr, 16));
  std::_Exit(status);  // the library's own ends are of no use to anybody
}
