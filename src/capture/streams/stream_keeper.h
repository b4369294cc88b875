// SPDX-License-Identifier: Apache-2.0
// Keeps raw session streams as .nettrace files. A thread of its own writes them: a slow disk holds
// up neither the drain nor the decoder. What cannot be written is counted, and recording goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/streams/stream_ring.h"

namespace clrscope::capture {

class StreamKeeper {
 public:
  // How much may wait for the disk. A file whose next piece finds no room ends there.
  static constexpr size_t kDefaultBacklogBytes = 64 << 20;

  // One session's file. Its stream stays a readable nettrace whatever the ring has discarded.
  class File {
   public:
    // Takes the stream's next piece. `version`: of the format, once the reader knows it.
    void Append(StreamRing::Item&& item, uint32_t version);

    const std::string& path() const { return path_; }
    // Valid after StreamKeeper::Finish().
    uint64_t bytes_written() const { return written_; }
    uint64_t bytes_lost() const { return lost_; }
    // Why the file is not whole.
    const std::optional<Error>& error() const { return error_; }

   private:
    friend class StreamKeeper;
    File(StreamKeeper* keeper, std::string path, Fd fd)
        : keeper_(keeper), path_(std::move(path)), fd_(std::move(fd)) {}

    StreamKeeper* keeper_;
    std::string path_;
    Fd fd_;
    uint64_t stream_bytes_ = 0, file_bytes_ = 0;  // decoder thread: in the stream, in the file
    // Guarded by the keeper's mutex:
    uint64_t written_ = 0, lost_ = 0;
    std::optional<Error> error_;
  };

  //   base: the files' path without `.nettrace`
  //   replace: existing files may be overwritten; else another number is taken
  StreamKeeper(std::string base, bool replace, size_t backlog_bytes = kDefaultBacklogBytes);
  ~StreamKeeper();

  // Creates BASE + `suffix` + ".nettrace"; ".2" and so on before the ending where that is taken.
  // errors: kIo, kPermission.
  Result<std::shared_ptr<File>> Create(const std::string& suffix);
  // Waits until everything is written, and closes the files. Nothing may be appended after it.
  void Finish();
  std::vector<std::string> Paths() const;

 private:
  struct Piece {
    File* file;
    std::vector<std::byte> bytes;
  };

  void Append(File& file, std::vector<std::byte>&& bytes);
  void Run();

  const std::string base_;
  const bool replace_;
  const size_t backlog_bytes_;
  std::vector<std::shared_ptr<File>> files_;
  std::set<std::string> used_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::deque<Piece> pieces_;
  size_t waiting_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

// An event block without events which takes a V4 or V5 stream at `file_offset` to an offset that is
// `alignment` modulo 4: blocks are padded by where they lie in the stream.
std::vector<std::byte> AlignmentBlock(uint64_t file_offset, uint64_t alignment);

}  // namespace clrscope::capture
