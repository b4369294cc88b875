// SPDX-License-Identifier: Apache-2.0
// Stacks as text and frame by frame.
#include <string>

#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Estimate;
using profile::Profile;

// Nodes that samples or events end in, or the one that was asked for.
std::vector<uint32_t> StackIds(const Catalog& c, std::optional<int64_t> id) {
  const auto size = static_cast<int64_t>(c.profile().nodes.size());
  if (id)
    return *id > 0 && *id < size ? std::vector<uint32_t>{static_cast<uint32_t>(*id)}
                                 : std::vector<uint32_t>{};
  std::vector<bool> used(static_cast<size_t>(size));
  const auto& processes = c.recording().processes;
  for (uint32_t process = 0; process < processes.size(); ++process) {
    const auto& keys = processes[process]->series.keys();
    for (uint32_t series = 0; series < keys.size(); ++series)
      if (!profile::IsEvent(keys[series].source())) used[c.PlaceOf(process, series).node] = true;
  }
  // Not where series of events end: a rethrow belongs to where it was thrown.
  for (const profile::Figure& figure : c.profile().figures)
    for (const profile::Cell& cell : figure.cells) used[cell.node] = true;
  std::vector<uint32_t> ids;
  for (uint32_t n = 1; n < used.size(); ++n)
    if (used[n] || c.IsAgentStack(n)) ids.push_back(n);
  return ids;
}

struct FrameOfStack {
  uint32_t stack, depth, frame;
};

}  // namespace

std::unique_ptr<TableCursor> Stacks(const Catalog& c, std::optional<int64_t> id) {
  const Profile& p = c.profile();
  std::vector<Estimate> values(p.nodes.size());
  for (const profile::Cell& cell : p.shown().cells) values[cell.node] += cell.value;
  return List(StackIds(c, id), [&p, &c, values = std::move(values)](uint32_t node, int column,
                                                                    sqlite3_context* out) {
    switch (column) {
      case 0:
        return Put(out, node);
      case 1: {
        uint32_t depth = 0;
        for (uint32_t n = node; n != 0; n = p.nodes[n].parent) ++depth;
        return Put(out, depth);
      }
      case 2:
        return Put(out, p.str(p.frames[c.SiteOf(node)].method));
      case 3:
        return PutKnown(out, p.str(p.frames[c.SiteOf(node)].module));
      case 4:
        return Put(out, p.str(p.frames[p.nodes[node].frame].method));
      case 5: {
        std::vector<std::string_view> names;
        for (uint32_t n = node; n != 0; n = p.nodes[n].parent)
          names.push_back(p.str(p.frames[p.nodes[n].frame].method));
        std::string text;
        for (size_t i = names.size(); i-- > 0;) text.append(names[i]).append(i == 0 ? "" : ";");
        return Put(out, text);
      }
      case 13:
        return Put(out, node);
      default:
        return PutFigure(out, p, values[node], column - 6);
    }
  });
}

std::unique_ptr<TableCursor> Frames(const Catalog& c, std::optional<int64_t> id) {
  const Profile& p = c.profile();
  std::vector<FrameOfStack> rows;
  for (const uint32_t stack : StackIds(c, id)) {
    uint32_t depth = 0;
    for (uint32_t n = stack; n != 0; n = p.nodes[n].parent)
      rows.push_back({stack, depth++, p.nodes[n].frame});
  }
  return List(std::move(rows), [&p](const FrameOfStack& r, int column, sqlite3_context* out) {
    const profile::Frame& f = p.frames[r.frame];
    switch (column) {
      case 1:
        return Put(out, r.depth);
      case 2:
        return Put(out, p.str(f.method));
      case 3:
        return PutKnown(out, p.str(f.module));
      case 4:
        return Put(out, r.frame);
      case 5:
        return PutFlag(out, (f.flags & profile::kFramework) != 0);
      case 6:
        return PutFlag(out, (f.flags & profile::kMachinery) != 0);
      default:
        return Put(out, r.stack);
    }
  });
}

}  // namespace clrscope::store
