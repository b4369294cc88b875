// SPDX-License-Identifier: Apache-2.0
// Where runtimes dial in: DOTNET_DiagnosticPorts=path[,suspend|nosuspend].
//
// A runtime dials, introduces itself, and waits for one command; after that it dials again. So
// there is at most one idle connection a runtime, and here it is kept until a command needs it.
// Children inherit the variable: any number of runtimes share the port.
//
// Thread-safe. Nothing reads from the sockets behind the caller's back: Pump() does the work, from
// any poll loop or inside Next().
// Source: dotnet/diagnostics ipc-protocol.md § Diagnostic Ports, § Advertise Protocol
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "ipc/protocol/reply.h"
#include "ipc/transport/deadline.h"
#include "ipc/transport/transport.h"

namespace clrscope::ipc {

// A runtime that has dialled in.
struct ReverseRuntime {
  Guid cookie{};
  pid_t inner_pid = 0;  // as it introduced itself
  pid_t pid = 0;        // in our pid namespace, by the kernel's word; 0 when it is not visible
  std::chrono::steady_clock::time_point dialled;  // for the first time
};

class ReverseServer {
 public:
  // Makes a private folder (0700) below `parent` with the socket (0600) in it.
  //   parent: "" = the first that can be written of $XDG_RUNTIME_DIR, /tmp, /dev/shm, /var/tmp and
  //   $TMPDIR. The target must see the same folder.
  //   errors: kIo, kPermission; kUsage when the path is too long for a runtime (107 bytes)
  static Result<std::unique_ptr<ReverseServer>> Create(std::string parent = "");
  // Listens at a path that a server left behind when it was killed, so that the runtimes that still
  // wait there can be released: they dial every half second, and resuming them through their own
  // socket does not free them (measured on .NET 10). Makes the path's last folder where it is gone.
  //   errors: kRefused when somebody listens there; those of Create
  static Result<std::unique_ptr<ReverseServer>> Adopt(std::string path);
  // Removes socket and folder. Suspended runtimes stay so: call ReleaseAll (release.h) before.
  ~ReverseServer();
  ReverseServer(const ReverseServer&) = delete;
  ReverseServer& operator=(const ReverseServer&) = delete;

  const std::string& path() const { return path_; }
  // Readable whenever Pump() has something to do; for poll or epoll, never to be read.
  int fd() const { return ready_.get(); }

  // Listens anew where the socket or its folder has been removed, as cleaners of /tmp do; a runtime
  // that waits at the path would wait for ever. To be called from time to time.
  // Next() does, too.
  //   errors: kIo, kPermission; then it is to be called again
  Status KeepPath();

  // Accepts, reads introductions, drops what has hung up; never blocks. Returns the runtimes that
  // were not known before.
  std::vector<ReverseRuntime> Pump();
  // All that were ever seen, in no order; some may have ended.
  std::vector<ReverseRuntime> Runtimes() const;
  // The next connection of this runtime, waiting for it to dial.
  //   errors: kTimeout; kNotFound when its process has ended
  Result<Fd> Next(const Guid& cookie, Deadline deadline);

 private:
  struct Connection;
  ReverseServer() = default;
  Status Listen();
  Result<Fd> ListenAtPath();
  void Serve();
  void AcceptAll();
  void ReadIntroduction(Connection& connection);
  void Introduce(Connection& connection);
  void Drop(int fd);
  void DropOverdue();

  std::string folder_;  // "" when it is not ours to remove
  std::string path_;
  ino_t socket_ = 0;  // the file at path_
  pid_t owner_ = 0;   // a forked child must not remove our files
  Fd listener_;
  Fd epoll_;      // of the listener and its connections
  Fd announced_;  // an eventfd: Next() has seen a new runtime
  Fd ready_;      // an epoll of the two

  mutable std::mutex mutex_;                                // guards what follows
  std::map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
  std::map<Guid, ReverseRuntime> runtimes_;
  std::vector<ReverseRuntime> fresh_;  // not yet returned by Pump()
};

// The commands of one runtime, over its reverse connections.
class ReverseTransport final : public Transport {
 public:
  // server: borrowed, must outlive the transport
  ReverseTransport(ReverseServer& server, ReverseRuntime runtime)
      : server_(server), runtime_(runtime) {}

  Result<Fd> Open(Deadline deadline) override { return server_.Next(runtime_.cookie, deadline); }
  std::string description() const override;
  const ReverseRuntime& runtime() const { return runtime_; }

 private:
  ReverseServer& server_;
  ReverseRuntime runtime_;
};

}  // namespace clrscope::ipc
