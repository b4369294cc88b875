// SPDX-License-Identifier: Apache-2.0
// Records every .NET process for ever, into a folder of captures of limited age and size. Sessions
// go on from one capture to the next; what a capture holds is known of nothing but itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/record/capture_output.h"
#include "capture/record/signals.h"
#include "capture/sessions/session_engine.h"
#include "capture/watch/watch_folder.h"
#include "capture/watch/watch_log.h"

namespace clrscope::capture {

struct WatchOptions {
  std::string folder;
  int64_t keep_ns = int64_t{24} * 3600 * 1'000'000'000;
  // Of all captures together.
  uint64_t max_bytes = uint64_t{4} << 30;
  // Captures begin at whole multiples of this, in UTC, or earlier when one has grown to
  // `rotate_bytes`.
  int64_t rotate_ns = int64_t{3600} * 1'000'000'000;
  uint64_t rotate_bytes = 0;  // 0 = an eighth of max_bytes
  EngineOptions engine;       // discover and start_now are set
};

class Watch final : private SessionObserver {
 public:
  // errors: the folder cannot be used, the system refuses threads or descriptors
  static Result<std::unique_ptr<Watch>> Start(WatchOptions options, WatchLog* log);
  // For tests: with other processes and another time.
  static Result<std::unique_ptr<Watch>> Start(WatchOptions options, WatchLog* log,
                                              const Clock* clock,
                                              std::unique_ptr<ProcessSource> feed);
  ~Watch() override;

  // Until a signal asks to end.
  void Run();
  // One round of work without waiting. Returns whether there may be more to do at once.
  bool Step();
  // Ends all sessions and closes the capture. `keep_waiting` as in SessionEngine.
  void End(const std::function<bool()>& keep_waiting);

  const WatchFolder& folder() const { return *folder_; }
  SessionEngine& engine() { return *engine_; }

 private:
  Watch() = default;
  void OnJoined(const Target& target) override;
  void OnSlice(const profile::Slice& slice) override;
  void OnEnded(const Target& target) override;
  void OnTick(int64_t now_ns) override;
  void OnNote(const Target& target, const std::string& note) override;
  void OnSkipped(const ipc::DotnetProcess& process, const Error& error) override;

  void Begin();
  // Closes the capture and begins the next one.
  void Rotate();
  void CloseOutput(profile::Recording* recording);
  void KeepHouse();
  // Why the capture is to be closed now; null = it is not.
  const char* Due() const;
  void Suspend();

  WatchOptions options_;
  WatchLog* log_ = nullptr;
  const Clock* clock_ = nullptr;
  std::unique_ptr<WatchFolder> folder_;
  std::unique_ptr<CaptureOutput> output_;  // null while the disk takes nothing
  std::unique_ptr<SessionEngine> engine_;
  std::optional<Signals> signals_;
  int64_t next_rotation_unix_ns_ = 0;
  int64_t retry_output_ns_ = 0;      // on the machine's clock, while output_ is null
  size_t table_bytes_at_start_ = 0;  // of the recording
  bool rotating_ = false;
  bool ticked_ = false;
  int stop_requests_ = 0;
  bool suspended_ = false;
};

}  // namespace clrscope::capture
