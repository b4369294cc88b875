// SPDX-License-Identifier: Apache-2.0
// What is mapped for execution in one process over time: files, and memory that the runtime writes
// code into. Files may be unmapped and others mapped in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/strong.h"
#include "profile/stacks/code_map.h"

namespace clrscope::profile {

// Where a file, or memory without one, was mapped, and when.
struct Image {
  uint64_t start = 0, end = 0;
  uint64_t offset = 0;  // in the file, of `start`
  StringId path;        // "": generated code
  StringId build_id;    // hex, "" when it has none
  int64_t from_ns = kAlways, to_ns = kNever;

  bool generated() const { return path.value == 0; }
  // The same mapping of the same file.
  bool Is(const Image& o) const {
    return start == o.start && end == o.end && offset == o.offset && path == o.path &&
           build_id == o.build_id;
  }
};

class ImageMap {
 public:
  // A process can map files without end.
  static constexpr size_t kMost = 20'000;

  // All that is mapped at `now_ns`. Files that were there and are not any more end; what is new may
  // have come at any time since the last look. The runtime's heaps of code grow and never end: it
  // tells itself which methods go. Returns the files that ended. `left_out` becomes larger by those
  // for which there was no room.
  std::vector<Image> Look(std::span<const Image> mapped, int64_t now_ns, uint64_t* left_out);
  // As it was stored, or known before.
  void Restore(const Image& image);
  // What is new at the next Look() has come since `ns`.
  void LookAgain(int64_t ns) { looked_ns_ = ns; }

  // The image at `address` at `time_ns`, or the one that was there nearest to then; null: none.
  // `ambiguous` becomes true where several may have been.
  const Image* Find(uint64_t address, int64_t time_ns, bool* ambiguous = nullptr) const;

  // In order of arrival. Those that have ended keep their place.
  const std::vector<Image>& images() const { return images_; }

 private:
  // Of what is there now and begins at `start`; null: nothing.
  Image* NowAt(uint64_t start);

  std::vector<Image> images_;
  std::multimap<uint64_t, uint32_t> by_start_;
  uint64_t longest_ = 0;
  int64_t looked_ns_ = kAlways;
};

}  // namespace clrscope::profile
