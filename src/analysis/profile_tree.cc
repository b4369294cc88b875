// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile_tree.h"

#include "base/flat_map.h"

namespace clrscope::analysis {
namespace {

using profile::Estimate;
using profile::HeapKind;

}  // namespace

uint32_t ProfileTree::FindFrame(const profile::Frame& f) {
  const uint64_t key = PairKey(f.module.value, f.raw.value);
  uint32_t index = frame_by_name_.Find(key);
  if (index == FlatMap::kNone) {
    index = static_cast<uint32_t>(out_.frames.size());
    out_.frames.push_back(f);
    frame_by_name_.Set(key, index);
  }
  return index;
}

uint32_t ProfileTree::PseudoFrame(std::string_view text, profile::FrameKind kind) {
  profile::Frame f;
  f.kind = kind;
  f.method = f.raw = out_.strings.Intern(text);
  f.flags = profile::kPseudo;
  return FindFrame(f);
}

uint32_t ProfileTree::CellIndexAt(uint32_t node, uint32_t type, uint32_t process, HeapKind kind) {
  const auto [it, is_new] = cell_of_.try_emplace(
      PairKey(node, type) * 4 + static_cast<uint64_t>(kind), out_.shown().cells.size());
  if (is_new) out_.shown().cells.push_back({node, type, process, kind, {}});
  return static_cast<uint32_t>(it->second);
}

Estimate& ProfileTree::CellAt(uint32_t node, uint32_t type, uint32_t process, HeapKind kind) {
  return out_.shown().cells[CellIndexAt(node, type, process, kind)].value;
}

uint32_t ProfileTree::CellOf(uint32_t node, uint32_t type, uint32_t process, HeapKind kind,
                             const profile::LabelSet& labels) {
  std::vector<profile::Cell>& cells = out_.shown().cells;
  const uint32_t label = LabelFor(labels);
  const auto [it, is_new] =
      labelled_cell_of_.try_emplace({PairKey(node, type) * 4 + static_cast<uint64_t>(kind), label},
                                    static_cast<uint32_t>(cells.size()));
  if (is_new) cells.push_back({node, type, process, kind, {}, label});
  return it->second;
}

uint32_t ProfileTree::LabelFor(const profile::LabelSet& labels) {
  if (labels == profile::LabelSet{}) return 0;
  const auto [it, is_new] = labels_.try_emplace(labels, static_cast<uint32_t>(out_.labels.size()));
  if (is_new) out_.labels.push_back(labels);
  return it->second;
}

uint32_t ProfileTree::FileOf(const profile::SourceFile& file) {
  const auto [at, is_new] =
      files_.try_emplace({file.path, file.hash}, static_cast<uint32_t>(out_.source_files.size()));
  if (is_new) out_.source_files.push_back(file);
  return at->second;
}

uint32_t ProfileTree::LineOf(uint32_t file, uint32_t line, profile::Place::Sure sure) {
  const auto [at, is_new] =
      lines_.try_emplace({file, line, sure}, static_cast<uint32_t>(out_.lines.size()));
  if (is_new) out_.lines.push_back({file, line, sure});
  return at->second;
}

uint32_t ProfileTree::ChildOf(uint32_t parent, uint32_t frame, uint32_t line) {
  if (line != 0) {
    const auto [at, is_new] = child_at_line_.try_emplace({PairKey(parent, frame), line},
                                                         static_cast<uint32_t>(out_.nodes.size()));
    if (is_new) out_.nodes.push_back({parent, frame, line});
    return at->second;
  }
  uint32_t child = child_of_.Find(PairKey(parent, frame));
  if (child == FlatMap::kNone) {
    child = static_cast<uint32_t>(out_.nodes.size());
    out_.nodes.push_back({parent, frame});
    child_of_.Set(PairKey(parent, frame), child);
  }
  return child;
}

}  // namespace clrscope::analysis
