// SPDX-License-Identifier: Apache-2.0
// The parts of a profile that several bindings share: canonical frames, one tree of stacks, cells.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/flat_map.h"
#include "profile/profile.h"

namespace clrscope::analysis {

// Adds to a profile what is not there yet; everything is found by an index.
class ProfileTree {
 public:
  // `profile` must outlive this; it has its root node.
  explicit ProfileTree(profile::Profile* profile) : out_(*profile) {}

  // Cells of another process follow.
  void BeginProcess() {
    cell_of_.clear();
    labelled_cell_of_.clear();
  }
  // Frames are the same by module and raw name.
  uint32_t FindFrame(const profile::Frame& frame);
  uint32_t PseudoFrame(std::string_view text,
                       profile::FrameKind kind = profile::FrameKind::kManaged);
  uint32_t ChildOf(uint32_t parent, uint32_t frame, uint32_t line = 0);
  // The index of a file, and of a line in it, which is added when it is new.
  uint32_t FileOf(const profile::SourceFile& file);
  uint32_t LineOf(uint32_t file, uint32_t line, profile::Place::Sure sure);
  // Of the process that was begun last: an index into the cells.
  uint32_t CellIndexAt(uint32_t node, uint32_t type, uint32_t process, profile::HeapKind kind);
  // The same; valid until the next call.
  profile::Estimate& CellAt(uint32_t node, uint32_t type, uint32_t process, profile::HeapKind kind);
  // The same as an index into the cells, of one set of labels.
  uint32_t CellOf(uint32_t node, uint32_t type, uint32_t process, profile::HeapKind kind,
                  const profile::LabelSet& labels);
  uint32_t LabelFor(const profile::LabelSet& labels);

 private:
  profile::Profile& out_;
  std::unordered_map<uint64_t, size_t> cell_of_;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> labelled_cell_of_;
  std::map<profile::LabelSet, uint32_t> labels_;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> child_at_line_;  // by parent and frame, line
  std::map<std::tuple<uint32_t, uint32_t, profile::Place::Sure>, uint32_t> lines_;
  std::map<std::pair<StringId, StringId>, uint32_t> files_;  // by path and hash
  FlatMap child_of_, frame_by_name_;
};

}  // namespace clrscope::analysis
