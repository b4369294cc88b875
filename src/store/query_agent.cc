// SPDX-License-Identifier: Apache-2.0
// What the agent told: live objects, their ages over time, births and deaths, the collector's CPU
// time, and what the agent itself cost.
#include "profile/interval/interval_frame.h"
#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Profile;

std::string_view GenerationName(int8_t generation) {
  constexpr std::string_view kNames[] = {"gen0", "gen1", "gen2", "LOH", "POH"};
  return generation < 0 || generation > 4 ? "unknown" : kNames[static_cast<size_t>(generation)];
}

// `end`: where the bucket ends, in place of where it begins; nothing for the last one.
void PutAge(sqlite3_context* out, uint8_t bucket, bool end) {
  const size_t i = size_t{bucket} + (end ? 1 : 0);
  if (i < profile::kAgeStarts.size()) Put(out, profile::kAgeStarts[i]);
}

// One row for each row of `rows_of(interval)`, interval by interval.
template <class RowsOf, class PutRow>
class IntervalCursor final : public TableCursor {
 public:
  IntervalCursor(const Catalog& catalog, RowsOf rows_of, PutRow put)
      : catalog_(catalog), rows_of_(rows_of), put_(put) {}

  Result<bool> Next() override {
    if (!begun_) {
      begun_ = true;
      ASSIGN_OR_RETURN(intervals_, catalog_.Intervals());
    }
    while (intervals_) {
      if (interval_ != nullptr && ++row_ < rows_of_(*interval_)) return true;
      ASSIGN_OR_RETURN(interval_, intervals_->Next());
      if (interval_ == nullptr) return false;
      row_ = 0;
      if (rows_of_(*interval_) > 0) return true;
    }
    return false;
  }
  void Column(int column, sqlite3_context* out) const override {
    put_(*interval_, row_, column, out);
  }

 private:
  const Catalog& catalog_;
  RowsOf rows_of_;
  PutRow put_;
  std::optional<IntervalStream> intervals_;
  const profile::AgentInterval* interval_ = nullptr;
  size_t row_ = 0;
  bool begun_ = false;
};

template <class RowsOf, class PutRow>
std::unique_ptr<TableCursor> ByInterval(const Catalog& catalog, RowsOf rows_of, PutRow put) {
  return std::make_unique<IntervalCursor<RowsOf, PutRow>>(catalog, rows_of, put);
}

}  // namespace

std::unique_ptr<TableCursor> LiveObjects(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  std::vector<const profile::LiveCell*> rows;
  for (const profile::LiveCell& cell : p.lives())
    if (!cell.young) rows.push_back(&cell);
  return List(std::move(rows),
              [&p, &c](const profile::LiveCell* r, int column, sqlite3_context* out) {
                const profile::Frame& site = p.frames[c.SiteOf(r->node)];
                const profile::Process& process = p.processes[r->process];
                switch (column) {
                  case 0:
                    return PutProcess(out, p, r->process);
                  case 1:
                    return Put(out, process.pid);
                  case 2:
                    return Put(out, p.str(p.types[r->type].name));
                  case 3:
                    return Put(out, p.str(site.method));
                  case 4:
                    return PutKnown(out, p.str(site.module));
                  case 5:
                    return Put(out, p.str(p.frames[p.nodes[r->node].frame].method));
                  case 6:
                    return Put(out, KindName(r->kind));
                  case 7:
                    return Put(out, GenerationName(r->generation));
                  case 8:
                    return PutAge(out, r->age_bucket, false);
                  case 9:
                    return PutAge(out, r->age_bucket, true);
                  case 10:
                    return Put(out, r->gcs_survived_min);
                  case 11:
                    return Put(out, r->gcs_survived_max);
                  case 12:
                    return Put(out, r->gen2_survived_min);
                  case 13:
                    return Put(out, r->gen2_survived_max);
                  case 14:
                    return PutSeconds(out, process.live_at_ns);
                  case 15 + kFigures:
                    return Put(out, r->node);
                  case 16 + kFigures:
                    return Put(out, r->type);
                  case 17 + kFigures:
                    return Put(out, r->process);
                  case 18 + kFigures:
                    return r->labels != 0 ? Put(out, p.RequestName(p.labels[r->labels])) : void();
                  default:
                    return PutLiveFigure(out, process.live_source, r->value, column - 15, r->kind);
                }
              });
}

std::unique_ptr<TableCursor> LiveAges(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(p.live_ages(), [&p](const profile::LiveAgeRow& r, int column, sqlite3_context* out) {
    switch (column) {
      case 0:
        return PutSeconds(out, r.at_ns);
      case 1:
        return PutProcess(out, p, r.process);
      case 2:
        return Put(out, p.processes[r.process].pid);
      case 3:
        return Put(out, KindName(r.kind));
      case 4:
        return PutAge(out, r.age_bucket, false);
      case 5:
        return PutAge(out, r.age_bucket, true);
      case 6 + kFigures:
        return Put(out, r.process);
      default:
        return PutLiveFigure(out, p.processes[r.process].live_source, r.value, column - 6, r.kind);
    }
  });
}

std::unique_ptr<TableCursor> Turnover(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return ByInterval(
      c, [](const profile::AgentInterval& i) { return i.frame.turnover.size(); },
      [&p, &c](const profile::AgentInterval& i, size_t row, int column, sqlite3_context* out) {
        const profile::IntervalTurnover& r = i.frame.turnover[row];
        const analysis::AgentPlaces& places = c.AgentPlacesOf(i.process);
        const uint32_t node = places.nodes[r.node], type = places.types[r.type];
        const profile::Frame& site = p.frames[c.SiteOf(node)];
        switch (column) {
          case 0:
            return PutSeconds(out, i.start_ns());
          case 1:
            return PutSeconds(out, i.end_ns());
          case 2:
            return PutProcess(out, p, i.process);
          case 3:
            return Put(out, p.processes[i.process].pid);
          case 4:
            return Put(out, p.str(p.types[type].name));
          case 5:
            return Put(out, p.str(site.method));
          case 6:
            return PutKnown(out, p.str(site.module));
          case 7:
            return Put(out, r.births.samples);
          case 8:
            return Put(out, r.births.amount);
          case 9:
            return Put(out, r.births.count);
          case 10:
            return Put(out, r.deaths.samples);
          case 11:
            return Put(out, r.deaths.amount);
          case 12:
            return Put(out, r.deaths.count);
          case 13:
            return r.deaths.count > 0 ? Put(out, r.deaths_age_s / r.deaths.count) : void();
          case 14:
            return Put(out, node);
          case 15:
            return Put(out, type);
          case 16:
            return Put(out, i.process);
          default:
            return r.request != 0 && r.request <= places.routes.size()
                       ? Put(out, p.str(places.routes[r.request - 1]))
                       : void();
        }
      });
}

std::unique_ptr<TableCursor> GcCpu(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return List(p.gc_cpu(), [&p](const profile::GcCpuRow& r, int column, sqlite3_context* out) {
    switch (column) {
      case 0:
        return PutProcess(out, p, r.process);
      case 1:
        return Put(out, p.processes[r.process].pid);
      case 2:
        return PutSeconds(out, r.start_ns);
      case 3:
        return PutSeconds(out, r.end_ns);
      case 4:
        return PutKnownSeconds(out, r.gc_ns());
      case 5:
        return r.gc_ns() >= 0 && r.process_ns > 0
                   ? Put(out, static_cast<double>(r.gc_ns()) / static_cast<double>(r.process_ns))
                   : void();
      case 6:
        return PutKnownSeconds(out, r.server_gc_ns);
      case 7:
        return PutKnownSeconds(out, r.background_gc_ns);
      case 8:
        return PutKnownSeconds(out, r.workstation_gc_ns);
      case 9:
        return PutKnownSeconds(out, r.process_ns);
      default:
        return Put(out, r.process);
    }
  });
}

std::unique_ptr<TableCursor> AgentIntervals(const Catalog& c, std::optional<int64_t>) {
  const Profile& p = c.profile();
  return ByInterval(
      c, [](const profile::AgentInterval&) { return size_t{1}; },
      [&p, &c](const profile::AgentInterval& i, size_t, int column, sqlite3_context* out) {
        const profile::IntervalMeter& m = i.frame.meter;
        const auto seconds = [out](uint64_t ns) { Put(out, static_cast<double>(ns) / 1e9); };
        switch (column) {
          case 0:
            return PutProcess(out, p, i.process);
          case 1:
            return Put(out, p.processes[i.process].pid);
          case 2:
            return PutSeconds(out, i.start_ns());
          case 3:
            return PutSeconds(out, i.end_ns());
          case 4:
            return Put(out, EventName(c.recording().processes[i.process]->agent.source));
          case 5:
            return Put(out, m.samples);
          case 6:
            return seconds(m.sample_ns);
          case 7:
            return Put(out, m.walk_fallbacks);
          case 8:
            return seconds(m.agent_cpu_ns);
          case 9:
            return Put(out, m.agent_bytes);
          case 10:
            return Put(out, m.handles);
          case 11:
            return seconds(m.handle_scan_ns);
          case 12:
            return Put(out, m.live_mean_bytes);
          default:
            return Put(out, i.process);
        }
      });
}

}  // namespace clrscope::store
