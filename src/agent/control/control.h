// SPDX-License-Identifier: Apache-2.0
// The agent's socket: commands as lines of text, each answered by a line; a peer that says
// "subscribe" is sent every interval's frame from then on, as a u32 length and the bytes. One that
// says "ptracer" may trace the process from then on, where Yama would forbid it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/agent_fd.h"
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

// Bytes that wait to be sent: appended at the end, sent from the front, copied once.
class SendQueue {
 public:
  void Append(std::string_view bytes);
  std::string_view front() const {
    return pieces_.empty() ? std::string_view() : std::string_view(pieces_.front()).substr(sent_);
  }
  void Sent(size_t n);
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::deque<std::string> pieces_;
  size_t sent_ = 0;  // of the first piece
  size_t size_ = 0;
};

// A peer is read from while its answers are read: what one of them can make the agent keep is
// bounded, and what it can make it do between two looks at everything else.
class Control {
 public:
  static constexpr size_t kMaxPeers = 16;
  static constexpr size_t kMaxLine = 16 * 1024;
  static constexpr size_t kMaxAnswers = 64 * 1024;        // that a peer has not read
  static constexpr size_t kMaxFrames = size_t{32} << 20;  // … a subscriber
  static constexpr int kLinesATurn = 16;                  // of one peer

  ~Control();
  // Listens in `folder`; "" = where the runtime's diagnostics socket lies: TMPDIR, or /tmp.
  // errors: kIo
  Status Listen(std::string_view folder);
  // Nobody finds it any more; who is connected stays so.
  void StopListening();
  void Close();
  const std::string& path() const { return path_; }

  // What to poll for.
  void AddPolls(std::vector<pollfd>& polls) const;
  // There is more to do at once, whatever poll() says.
  bool has_lines() const;
  // After a poll: accepts, reads, answers, writes on.
  void Serve(ControlHandler& handler);

  bool has_subscriber() const;
  // False: there is nobody, or the frame is dropped since the peer does not read.
  bool Send(std::string_view frame);
  // Waits until what was queued is written, at most `milliseconds`.
  void Flush(int milliseconds);
  // What all peers together make it keep.
  size_t memory_bytes() const;

 private:
  struct Peer {
    AgentFd fd;
    std::string in;
    SendQueue out;
    bool subscribed = false, gone = false, ended = false;  // it has said all that it will
    bool wants_answers() const { return subscribed || out.size() < kMaxAnswers; }
  };
  void Accept();
  static void Read(Peer& peer);
  void Answer(Peer& peer, ControlHandler& handler);
  static void Write(Peer& peer);

  AgentFd listener_;
  std::string path_;
  uint64_t device_ = 0, inode_ = 0;  // of the socket's file, which is removed only if it is ours
  std::vector<std::unique_ptr<Peer>> peers_;  // the oldest first
};

}  // namespace clrscope::agent
