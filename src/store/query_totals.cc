// SPDX-License-Identifier: Apache-2.0
// Tables with totals over the whole recording.
#include "profile/views/tables.h"
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {

using profile::Estimate;
using profile::Profile;
using profile::SortBy;

std::unique_ptr<TableCursor> Types(const Catalog& c, std::optional<int64_t> thrown) {
  const Profile& p = c.profile();
  std::vector<uint32_t> types;
  for (uint32_t i = 0; i < p.types.size(); ++i)
    if (thrown.value_or(0) != 0 || !c.IsOnlyOfEvents(i)) types.push_back(i);
  std::vector<Estimate> values(p.types.size());
  for (const profile::Cell& cell : p.shown().cells) values[cell.type] += cell.value;
  return List(std::move(types), [&p, thrown, values = std::move(values)](uint32_t i, int column,
                                                                         sqlite3_context* out) {
    const profile::Type& type = p.types[i];
    switch (column) {
      case 0:
        return Put(out, i);
      case 1:
        return Put(out, p.str(type.name));
      case 2:
        return Put(out, p.str(type.raw));
      case 3:
        return Put(out, type.id);
      case 4:
        return PutProcess(out, p, type.process);
      case 5:
        return Put(out, p.processes[type.process].pid);
      case 6 + kFigures:
        return thrown ? Put(out, *thrown) : void();
      default:
        return PutFigure(out, p, values[i], column - 6, type.partial);
    }
  });
}

std::unique_ptr<TableCursor> Sites(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(profile::BySite(p, SortBy::kAmount, false),
              [&p](const profile::SiteRow& row, int column, sqlite3_context* out) {
                const profile::Type& type = p.types[row.type];
                switch (column) {
                  case 0:
                    return Put(out, p.str(type.name));
                  case 1:
                    return Put(out, p.str(p.frames[row.frame].method));
                  case 2:
                    return PutKnown(out, p.str(p.frames[row.frame].module));
                  case 3:
                    return PutProcess(out, p, type.process);
                  case 4:
                    return Put(out, p.processes[type.process].pid);
                  case 5:
                    return Put(out, row.type);
                  case 6:
                    return Put(out, row.frame);
                  default:
                    return PutFigure(out, p, row.value, column - 7, type.partial);
                }
              });
}

std::unique_ptr<TableCursor> Methods(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<profile::MethodRow> rows(p.frames.size());
  for (const profile::MethodRow& r : profile::ByMethod(p, SortBy::kAmount)) rows[r.frame] = r;
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i].frame = i;
  if (!rows.empty()) rows.erase(rows.begin());  // the root's
  return List(std::move(rows), [&p](const profile::MethodRow& r, int column, sqlite3_context* out) {
    const profile::Frame& f = p.frames[r.frame];
    switch (column) {
      case 0:
        return Put(out, r.frame);
      case 1:
        return Put(out, p.str(f.method));
      case 2:
        return PutKnown(out, p.str(f.module));
      case 3:
        return Put(out, p.str(f.raw));
      case 4:
        return f.token != 0 ? Put(out, f.token) : void();
      case 5:
        return PutFlag(out, (f.flags & profile::kFramework) != 0);
      case 6:
        return PutFlag(out, (f.flags & profile::kMachinery) != 0);
      case 7:
        return Put(out, r.self.samples);
      case 8:
        return Put(out, r.self.amount);
      case 9:
        return p.shown().counts_known ? Put(out, r.self.count) : void();
      case 10:
        return Put(out, r.total.samples);
      case 11:
        return Put(out, r.total.amount);
      default:
        return p.shown().counts_known ? Put(out, r.total.count) : void();
    }
  });
}

std::unique_ptr<TableCursor> Threads(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(p.shown().threads,
              [&p](const profile::ThreadRow& r, int column, sqlite3_context* out) {
                switch (column) {
                  case 0:
                    return Put(out, r.thread);
                  case 1:
                    return PutProcess(out, p, r.process);
                  case 2:
                    return Put(out, p.processes[r.process].pid);
                  case 3:
                    return Put(out, KindName(r.kind, p.shown().source));
                  default:
                    return PutFigure(out, p, r.value, column - 4, false, r.kind);
                }
              });
}

std::unique_ptr<TableCursor> RecordingRow(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(Numbers(1), [&p](uint32_t, int column, sqlite3_context* out) {
    switch (column) {
      case 0:
        return Put(out, p.event());
      case 1:
        return PutFlag(out, p.biased() || p.shown().mixed);
      case 2:
        return Put(out, p.start_unix_ns);
      case 3:
        return PutSeconds(out, p.duration_ns);
      case 4:
        return PutFlag(out, p.complete);
      default:
        return PutFigure(out, p, p.Total(), column - 5);
    }
  });
}

}  // namespace clrscope::store
