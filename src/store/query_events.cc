// SPDX-License-Identifier: Apache-2.0
// Exceptions, locks, waits, CPU and wall time: what each cell of their figures had in each slice of
// time.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "profile/tables/thread_state.h"
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::LabelKey;
using profile::Profile;

enum class EventColumn : uint8_t {
  kStart,
  kEnd,
  kProcess,
  kPid,
  kType,
  kMethod,
  kModule,
  kLeaf,
  kThread,
  kOwner,
  kHolding,
  kUnfinished,
  kMessage,
  kInner,
  kNested,
  kCount,
  kAmount,
  kStack,
  kTypeKey,
  kProcessKey,
  kRequest,
  kKind,
  kState,
};

// By time; one row where several series of a slice belong to one cell.
std::vector<profile::TimedCell> TimedRows(const profile::Figure* figure) {
  if (figure == nullptr) return {};
  std::vector<profile::TimedCell> rows = figure->timed;
  const auto key = [](const profile::TimedCell& t) {
    return std::tie(t.start_ns, t.end_ns, t.cell);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (kept != 0 && key(rows[kept - 1]) == key(rows[i]))
      rows[kept - 1].value += rows[i].value;
    else
      rows[kept++] = rows[i];
  }
  rows.resize(kept);
  return rows;
}

// `columns`: those of the table, in order.
std::unique_ptr<TableCursor> Events(const Catalog& c, profile::Measure measure,
                                    std::span<const EventColumn> columns) {
  const Profile& p = c.profile();
  const profile::Figure* figure = p.Find(measure);
  return List(TimedRows(figure), [&p, &c, figure, columns](const profile::TimedCell& row,
                                                           int column, sqlite3_context* out) {
    const profile::Cell& cell = figure->cells[row.cell];
    const profile::LabelSet& labels = p.labels[cell.labels];
    const auto label = [&](LabelKey key) { return labels[key] ? Put(out, labels[key]) : void(); };
    const profile::Frame& site = p.frames[c.SiteOf(cell.node)];
    switch (columns[static_cast<size_t>(column)]) {
      case EventColumn::kStart:
        return PutSeconds(out, row.start_ns);
      case EventColumn::kEnd:
        return PutSeconds(out, row.end_ns);
      case EventColumn::kProcess:
        return PutProcess(out, p, cell.process);
      case EventColumn::kPid:
        return Put(out, p.processes[cell.process].pid);
      case EventColumn::kType:
        return Put(out, p.str(p.types[cell.type].name));
      case EventColumn::kMethod:
        return Put(out, p.str(site.method));
      case EventColumn::kModule:
        return PutKnown(out, p.str(site.module));
      case EventColumn::kLeaf:
        return Put(out, p.str(p.frames[p.nodes[cell.node].frame].method));
      case EventColumn::kThread:
        return label(LabelKey::kThread);
      case EventColumn::kOwner:
        return label(LabelKey::kOwner);
      case EventColumn::kHolding:
        return PutKnown(out, p.HoldingName(labels));
      case EventColumn::kUnfinished:
        return PutFlag(out, labels[LabelKey::kUnfinished] != 0);
      case EventColumn::kMessage:
        return PutKnown(out, p.str(StringId(static_cast<uint32_t>(labels[LabelKey::kMessage]))));
      case EventColumn::kInner:
        return PutFlag(out, labels[LabelKey::kInner] != 0);
      case EventColumn::kNested:
        return PutFlag(out, labels[LabelKey::kNested] != 0);
      case EventColumn::kCount:
        return Put(out, int64_t{std::llround(row.value.count)});
      case EventColumn::kAmount:
        return Put(out, int64_t{std::llround(row.value.amount)});
      case EventColumn::kStack:
        return Put(out, cell.node);
      case EventColumn::kTypeKey:
        return Put(out, cell.type);
      case EventColumn::kProcessKey:
        return Put(out, cell.process);
      case EventColumn::kKind:
        return Put(out, profile::FrameKindName(p.frames[p.nodes[cell.node].frame].kind));
      case EventColumn::kState:
        return PutKnown(out, profile::ThreadStateName(labels[LabelKey::kState]));
      case EventColumn::kRequest:
        return labels[LabelKey::kRequest] != 0 ? Put(out, p.RequestName(labels)) : void();
    }
  });
}

using enum EventColumn;
constexpr EventColumn kExceptionColumns[] = {
    kStart,   kEnd,   kProcess, kPid,   kType,   kMethod, kModule,  kLeaf,       kThread,
    kMessage, kInner, kNested,  kCount, kAmount, kStack,  kTypeKey, kProcessKey, kRequest};
constexpr EventColumn kLockColumns[] = {
    kStart, kEnd,     kProcess,    kPid,   kMethod, kModule, kLeaf,       kThread,
    kOwner, kHolding, kUnfinished, kCount, kAmount, kStack,  kProcessKey, kRequest};
constexpr EventColumn kWaitColumns[] = {kStart,  kEnd,   kProcess,    kPid,        kMethod,
                                        kModule, kLeaf,  kThread,     kUnfinished, kCount,
                                        kAmount, kStack, kProcessKey, kRequest};

constexpr EventColumn kCpuColumns[] = {kStart,  kEnd,   kProcess,   kPid,    kMethod,
                                       kModule, kLeaf,  kKind,      kThread, kCount,
                                       kAmount, kStack, kProcessKey};
constexpr EventColumn kWallColumns[] = {kStart,  kEnd,    kProcess, kPid,       kMethod,
                                        kModule, kLeaf,   kKind,    kThread,    kState,
                                        kCount,  kAmount, kStack,   kProcessKey};

}  // namespace

std::unique_ptr<TableCursor> Exceptions(const Catalog& c, std::optional<int64_t>) {
  return Events(c, profile::Measure::kExceptions, kExceptionColumns);
}
std::unique_ptr<TableCursor> Locks(const Catalog& c, std::optional<int64_t>) {
  return Events(c, profile::Measure::kLocks, kLockColumns);
}
std::unique_ptr<TableCursor> Waits(const Catalog& c, std::optional<int64_t>) {
  return Events(c, profile::Measure::kWaits, kWaitColumns);
}
std::unique_ptr<TableCursor> Cpu(const Catalog& c, std::optional<int64_t>) {
  return Events(c, profile::Measure::kCpu, kCpuColumns);
}
std::unique_ptr<TableCursor> Wall(const Catalog& c, std::optional<int64_t>) {
  return Events(c, profile::Measure::kWall, kWallColumns);
}

}  // namespace clrscope::store
