// SPDX-License-Identifier: Apache-2.0
// Requests that run again for an error page. UseExceptionHandler("/error") and
// UseStatusCodePagesWithReExecute("/status/{0}") send a request through routing a second time, and
// the runtime's histogram counts it to the page's route alone. What it counts there is moved back
// to the routes that lack as much. docs/decisions/0016-requests.md
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/aggregate.h"
#include "profile/tables/labels.h"
#include "profile/tables/request_tables.h"

namespace clrscope::analysis {

class Reexecution {
 public:
  // A route of a process by its name. `of`: of an action, the name that the runtime counts it to.
  void NoteRoute(uint32_t process, StringId name, profile::RouteKind kind, std::string_view method,
                 std::string_view text, StringId of);
  // A series of requests of a process. Labels are the profile's.
  void Add(uint32_t process, const profile::LabelSet& labels,
           std::span<const Aggregate::Moment> moments);

  // Requests that the runtime counts to a page, though they are of another route.
  struct Move {
    uint32_t process = 0;
    StringId page, route;
    uint64_t status = 0;  // StatusLabel()
    double count = 0, ns = 0;
    bool sure = true;  // false: of several routes and statuses it is not known which goes where
  };
  // Call this after the last Add(), which nothing follows. `whole`: of the whole recording; in a
  // range of time the histogram tells of requests that ended a second before.
  std::vector<Move> Finish(bool whole);

 private:
  struct Counted {
    double count = 0, ns = 0;
  };
  struct Route {
    profile::RouteKind kind = profile::RouteKind::kPath;
    std::string method, text;
    double ended = 0;                       // followed all along
    double watched = 0, watched_ended = 0;  // in windows
    std::map<uint64_t, Counted> counted{};  // by StatusLabel()
    // Of so many it was told how they ended; those that ran again, by their status.
    double looked = 0;
    std::map<uint64_t, double> reexecuted{};

    double own = 0, lacking = 0, surplus = 0;  // requests of its own; what is to be moved
    double all() const;
    double bad() const;  // … that failed or were refused
  };
  struct Process {
    std::map<uint64_t, Route> routes;                        // by name
    std::map<uint64_t, std::optional<std::string>> matches;  // names that stand for no method
    std::map<std::string, double> matched;                   // by template
    double unmatched = 0;
    bool windows = false;
  };

  struct Row {
    uint64_t name;
    const Route* route;
    double sum;
    bool stays;  // at the page, or (name 0) at any: of these nothing is moved
  };
  struct Column {
    uint64_t page, status;
    double sum, ns;  // ns: of one
  };

  // Of which rows it is known how many are of each column.
  struct Certainty {
    bool all = false;
    bool told = false;  // those of which the program reported some
  };

  static void FindLacking(Process& process, bool partly);
  static double LackingAsTold(const Route& route, bool windows, bool partly);
  static void Solve(uint32_t process, const std::vector<std::pair<uint64_t, Route*>>& routes,
                    bool windows, bool partly, std::vector<Move>& out);
  static std::vector<std::vector<double>> Share(const std::vector<Row>& rows,
                                                const std::vector<Column>& columns, bool partly,
                                                bool only_whole, Certainty& certainty);

  std::map<uint32_t, Process> processes_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> actions_;  // by name: that of their template
};

}  // namespace clrscope::analysis
