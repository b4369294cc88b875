// SPDX-License-Identifier: Apache-2.0
// The thread that does nothing else than to read every session's socket into its ring. A target
// whose session nobody reads cannot exit, so nothing may ever hold this thread up: no disk, no
// terminal.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/result.h"
#include "capture/streams/stream_ring.h"

namespace clrscope::capture {

class Drain {
 public:
  static Result<std::unique_ptr<Drain>> Start();
  ~Drain() { Shut(); }
  // Stops reading: sockets that are still open are closed, which ends their sessions and frees who
  // waits for a runtime's answer. Nothing can be added afterwards.
  void Shut();

  // Takes a nonblocking socket and reads it to its end into `ring`.
  Status Add(Fd socket, std::shared_ptr<StreamRing> ring);
  // Stops reading this ring's socket and closes it; the ring is closed too.
  void Remove(const std::shared_ptr<StreamRing>& ring);
  // Readable (eventfd) whenever bytes arrived or a stream ended; the reader resets it.
  int ready_fd() const { return ready_.get(); }

 private:
  struct Stream {
    Fd socket;
    std::shared_ptr<StreamRing> ring;
  };

  Drain() = default;
  void Run();
  void Read(int fd);

  Fd epoll_, wake_, ready_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards streams_
  std::unordered_map<int, Stream> streams_;
  static constexpr size_t kReadBytes = 64 << 10;
  const std::unique_ptr<std::byte[]> buffer_{new std::byte[kReadBytes]};  // the thread's
  std::thread thread_;
};

}  // namespace clrscope::capture
