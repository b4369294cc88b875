// SPDX-License-Identifier: Apache-2.0
// Routes and the slowest requests, out of a capture.
#include <algorithm>
#include <string>

#include "store/capture_reader.h"
#include "store/damaged.h"

namespace clrscope::store {

Status CaptureReader::LoadRequests() {
  ASSIGN_OR_RETURN(const bool there, HasTable("route"));
  if (!there) return OkStatus();
  StringPool& s = recording_.strings;
  ASSIGN_OR_RETURN(Statement routes,
                   db_.Prepare("select process,id,kind,method,text,max_ns,template from route "
                               "order by process,id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, routes.Step());
    if (!row) break;
    profile::ProcessTables* t = Process(routes.Int(0));
    if (t == nullptr) continue;
    std::vector<profile::RequestRoute>& all = t->requests.routes;
    const int64_t kind = routes.Int(2);
    if (routes.Int(1) != static_cast<int64_t>(all.size()) || kind < 0 ||
        kind > static_cast<int64_t>(profile::kLastRouteKind))
      return Damaged("its routes");
    const bool action = kind == static_cast<int64_t>(profile::RouteKind::kAction);
    if (action && (routes.Int(6) < 0 || routes.Int(6) >= routes.Int(1)))
      return Damaged("its routes");
    all.push_back({static_cast<profile::RouteKind>(kind), s.Intern(routes.Text(3)),
                   s.Intern(routes.Text(4)), std::max<int64_t>(0, routes.Int(5)),
                   action ? static_cast<uint32_t>(routes.Int(6)) : 0});
  }
  // Captures of before operations were kept have none.
  ASSIGN_OR_RETURN(const bool operations_there, HasTable("operation"));
  if (operations_there) RETURN_IF_ERROR(LoadOperations());
  ASSIGN_OR_RETURN(Statement slow,
                   db_.Prepare("select process,start_ns,duration_ns,route,path,finished,samples,"
                               "bytes,objects,exceptions,lock_wait_ns,gc_waited_ns,"
                               "queued_ns,awaiting_ns "
                               "from slow_request"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, slow.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(slow.Int(0));
    if (t == nullptr) continue;
    profile::RequestTables& r = t->requests;
    if (slow.Int(3) < 0 || slow.Int(3) >= static_cast<int64_t>(r.routes.size()) ||
        r.slowest.size() >= profile::RequestTables::kMostSlow)
      return Damaged("its slowest requests");
    for (const int column : {2, 6, 7, 8, 9, 10, 11})
      if (slow.Int(column) < 0) return Damaged("its slowest requests");
    r.slowest.push_back({slow.Int(1), slow.Int(2), static_cast<uint32_t>(slow.Int(3)),
                         std::string(slow.Text(4)), slow.Int(5) != 0,
                         static_cast<uint64_t>(slow.Int(6)), static_cast<double>(slow.Int(7)),
                         static_cast<double>(slow.Int(8)), static_cast<uint64_t>(slow.Int(9)),
                         slow.Int(10), slow.Int(11), slow.Int(12), slow.Int(13)});
  }
}

Status CaptureReader::LoadOperations() {
  ASSIGN_OR_RETURN(Statement rows,
                   db_.Prepare("select process,id,name from operation order by process,id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(rows.Int(0));
    if (t == nullptr) continue;
    std::vector<StringId>& all = t->requests.operations;
    if (rows.Int(1) != static_cast<int64_t>(all.size())) return Damaged("its operations");
    all.push_back(recording_.strings.Intern(rows.Text(2)));
  }
}

}  // namespace clrscope::store
