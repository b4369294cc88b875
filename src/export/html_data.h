// SPDX-License-Identifier: Apache-2.0
// What the HTML page is given: a pruned stack tree and its columns, packed for a browser.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace clrscope::exporter {

// Stand for what was folded away; no index into Profile::frames or Profile::types.
inline constexpr uint32_t kOtherFrame = ~uint32_t{0};
inline constexpr uint32_t kOtherType = ~uint32_t{0};

class PageTexts;  // export/html_lines.h

struct PageNode {
  uint32_t parent = 0;  // node 0 is the root, its own parent
  uint32_t frame = 0;   // index into Profile::frames, or kOtherFrame
  uint32_t folded = 0;  // for kOtherFrame: how many nodes of the profile it stands for
  uint32_t line = 0;    // index into Profile::lines, 0 = not known
};

// What of a measure of events is on a page.
struct PageEvents {
  const profile::Figure* figure = nullptr;
  std::vector<profile::Cell> cells;  // as PageTree::cells; of type 0 where the measure has no types
};

struct PageThread {
  uint32_t process = 0;
  uint64_t thread = 0;  // the OS thread id
};

// A profile's tree and cells, cut down to the heaviest nodes. Adding up the cells gives the
// profile's totals, of every measure: nothing is dropped, only merged. A profile of what lives has
// no other cells.
struct PageTree {
  std::vector<PageNode> nodes;           // depth first: a parent comes before its children
  std::vector<profile::Cell> cells;      // ordered by node; `node` indexes `nodes`,
                                         // `type` indexes Profile::types or is kOtherType;
                                         // `labels` is an index into `threads` + 1, 0 = unknown
  std::vector<profile::LiveCell> lives;  // likewise, distinct in (node, type, process, kind, age);
                                         // without the young
  // Which views there are beside those of events.
  const profile::Figure* allocated = nullptr;
  bool live = false, gc_cpu = false;
  std::vector<PageEvents> events;  // in the order of the profile's figures
  uint64_t folded_nodes = 0;       // nodes of the profile that went into (other)
  uint64_t folded_types = 0;       // cells of the profile whose type became (other types)
  std::vector<PageThread> threads;
  uint64_t folded_threads = 0;  // cells of the profile whose thread is not told
};

// Keeps the nodes whose subtrees have the largest shares of any measure: of what was allocated, of
// what lives, of what happened;
// `nodes` of the result has at most `max_nodes` entries (at least 2), `cells` about twice as many.
// only_shown: as FiguresOf().
PageTree PrunePage(const profile::Profile& profile, uint32_t max_nodes, bool only_shown = false);

// Packs a page into the container that web/src/data/decode.ts reads, all little endian:
//   "CLRP"  u32 version = 1  u32 length of JSON  JSON (UTF-8)  columns
// JSON names the columns in order, with type (u8, u32, f32, f64) and count. A column of n values of
// w bytes is stored as w planes of n bytes each, which deflate packs far better than values.
// `texts`: of the files that the page's lines are in.
std::string PackPage(const profile::Profile& profile, const PageTree& page, PageTexts& texts);

}  // namespace clrscope::exporter
