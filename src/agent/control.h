// SPDX-License-Identifier: Apache-2.0
// The agent's socket: commands as lines of text, each answered by a line; a peer that says
// "subscribe" is sent every interval's frame from then on, as a u32 length and the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

struct pollfd;

namespace clrscope::agent {

class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  // One line without its end; the answer, likewise.
  virtual std::string Command(std::string_view line) = 0;
  virtual void OwnerCame() = 0;  // somebody subscribed
  virtual void OwnerLeft() = 0;  // … and is gone
};

class Control {
 public:
  ~Control();
  // Listens in TMPDIR, or /tmp. errors: kIo
  Status Listen();
  void Close();
  const std::string& path() const { return path_; }

  // What to poll for.
  void AddPolls(std::vector<pollfd>& polls) const;
  // After a poll: accepts, reads, answers, writes on.
  void Serve(ControlHandler& handler);

  bool has_subscriber() const;
  // False: there is nobody, or the frame is dropped since the peer does not read.
  bool Send(std::string_view frame);
  // Waits until what was queued is written, at most `milliseconds`.
  void Flush(int milliseconds);

 private:
  struct Peer {
    Fd fd;
    std::string in, out;
    bool subscribed = false, gone = false;
  };
  void Accept();
  void Read(Peer& peer, ControlHandler& handler);
  static void Write(Peer& peer);

  Fd listener_;
  std::string path_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace clrscope::agent
