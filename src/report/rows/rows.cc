// SPDX-License-Identifier: Apache-2.0
#include "report/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "profile/estimate/bounds.h"
#include "profile/interval/interval_frame.h"
#include "profile/views/call_tree.h"
#include "profile/views/request_costs.h"
#include "report/input/input.h"
#include "report/rows/label_rows.h"

namespace clrscope::report {
namespace {

using profile::Estimate;
using profile::Profile;

class Maker {
 public:
  Maker(const Profile& profile, const RowOptions& options) : p_(profile), options_(options) {}

  template <class Rows, class Key>
  void Fill(ReportTable& table, const Rows& rows, Key key) const {
    table.all_rows = rows.size();
    const size_t n = std::min(rows.size(), options_.limit);
    table.rows.reserve(n);
    for (size_t i = 0; i < n; ++i)
      table.rows.push_back({key(rows[i]), rows[i].value, {}, Partial(rows[i]), KindOf(rows[i])});
  }

  void Type(Json& key, uint32_t type) const {
    const profile::Type& t = p_.types[type];
    key["type"] = p_.str(t.name);
  }
  void TypeIdentity(Json& key, uint32_t type) const {
    const profile::Type& t = p_.types[type];
    key["type_id"] = t.id;
    key["raw"] = p_.str(t.raw);
    Process(key, t.process);
  }
  // "file" and "line" where lines were asked for; null: not known.
  void Line(Json& key, uint32_t file, uint32_t line) const {
    key["file"] = line == 0 ? Json() : Json(p_.str(p_.source_files[file].path));
    key["line"] = line == 0 ? Json() : Json(line);
  }
  Json Frame(uint32_t frame) const {
    Json key;
    const profile::Frame& f = p_.frames[frame];
    key["module"] = f.module.value == 0 ? Json() : Json(p_.str(f.module));
    key["method"] = p_.str(f.method);
    if (p_.shown().clocked()) key["kind"] = FrameKindName(f.kind);
    key["raw"] = p_.str(f.raw);
    return key;
  }
  void Process(Json& key, uint32_t process) const { AddProcess(key, p_, process); }

  void Types(ReportTable& t) const {
    Fill(t, profile::ByType(p_, options_.sort), [&](const profile::TypeRow& r) {
      Json key;
      Type(key, r.type);
      if (p_.shown().spec().heaps) key["kind"] = KindName(r.kind, p_.shown().source);
      TypeIdentity(key, r.type);
      if (p_.counted()) {
        const double bytes = r.value.amount;
        const auto known = [](double part, double whole) {
          return whole > 0 ? Json(std::round(part / whole * 1e6) / 1e6) : Json();
        };
        key["average_size"] = known(bytes, r.value.count);
        key["loh_size_objects"] = std::llround(r.large.count);
        key["loh_size_bytes"] = std::llround(r.large.amount);
        key["loh_size_share"] = known(r.large.amount, bytes);
      }
      return key;
    });
  }
  void Sites(ReportTable& t) const {
    const bool typed = p_.shown().spec().typed;
    Fill(t, profile::BySite(p_, options_.sort, options_.framework), [&](const profile::SiteRow& r) {
      Json key;
      if (typed) Type(key, r.type);
      const Json frame = Frame(r.frame);
      key["module"] = frame["module"];
      key["method"] = frame["method"];
      if (typed) {
        key["type_id"] = p_.types[r.type].id;
        key["raw_type"] = p_.str(p_.types[r.type].raw);
      }
      key["raw_method"] = frame["raw"];
      Process(key, p_.types[r.type].process);
      return key;
    });
  }
  void Stacks(ReportTable& t) const {
    Fill(t, profile::ByStack(p_, options_.sort), [&](const profile::StackRow& r) {
      Json key;
      Json& frames = key["frames"] = Json::array();
      for (uint32_t n = r.node; n != 0; n = p_.nodes[n].parent) {
        const profile::Frame& f = p_.frames[p_.nodes[n].frame];
        Json frame = Frame(p_.nodes[n].frame);
        const profile::SourceLine& line = p_.lines[p_.nodes[n].line];
        Line(frame, line.file, line.line);
        if (line.line != 0) frame["approximate"] = line.approximate(p_.measure());
        frame["machinery"] = (f.flags & profile::kMachinery) != 0;
        frames.push_back(std::move(frame));
      }
      if (p_.shown().spec().typed) {
        Json& types = key["types"] = Json::array();
        for (const profile::StackRow::Part& part : r.types) {
          Json type;
          Type(type, part.type);
          type["type_id"] = p_.types[part.type].id;
          AddEstimate(type, part.value, p_);
          types.push_back(std::move(type));
        }
      }
      Process(key, r.process);
      return key;
    });
  }
  void Methods(ReportTable& t) const {
    const auto rows = profile::ByMethod(p_, options_.sort);
    t.all_rows = rows.size();
    for (size_t i = 0; i < std::min(rows.size(), options_.limit); ++i)
      t.rows.push_back({Frame(rows[i].frame), rows[i].total, rows[i].self, false});
  }
  void Lines(ReportTable& t) const {
    const auto rows = profile::ByLine(p_, options_.sort, options_.framework);
    t.all_rows = rows.size();
    for (size_t i = 0; i < std::min(rows.size(), options_.limit); ++i) {
      const profile::LineRow& r = rows[i];
      Json key;
      Line(key, r.file, r.line);
      key.update(Frame(r.frame));
      key["approximate"] = r.line == 0 ? Json() : Json(r.approximate);
      t.rows.push_back({std::move(key), r.total, r.self, false});
    }
  }
  void Kinds(ReportTable& t) const {
    Fill(t, profile::ByKind(p_, options_.sort), [&](const profile::KindRow& r) {
      return Json{{"kind", KindName(r.kind, p_.shown().source)}};
    });
  }
  void Threads(ReportTable& t) const {
    Fill(t, profile::ByThread(p_, options_.sort), [&](const profile::ThreadTotal& r) {
      const std::string_view name = p_.ThreadName(r.process, r.thread);
      Json key{{"thread", r.thread}};
      key["name"] = name.empty() ? Json() : Json(name);
      Process(key, r.process);
      return key;
    });
  }
  void Assemblies(ReportTable& t) const {
    Fill(t, profile::ByAssembly(p_, options_.sort, options_.framework),
         [&](const profile::AssemblyRow& r) {
           return Json{{"module", r.module.value == 0 ? Json() : Json(p_.str(r.module))}};
         });
  }
  void Processes(ReportTable& t) const {
    Fill(t, profile::ByProcess(p_, options_.sort), [&](const profile::ProcessRow& r) {
      Json key;
      Process(key, r.process);
      return key;
    });
  }
  void Times(ReportTable& t) const {
    Fill(t, profile::ByTime(p_, options_.bucket_ns), [this](const profile::TimeBucket& r) {
      Json key{{"start_s", static_cast<double>(r.start_ns) / 1e9},
               {"end_s", static_cast<double>(r.end_ns) / 1e9}};
      const double seconds = static_cast<double>(r.end_ns - r.start_ns) / 1e9;
      const profile::MeasureSpec& spec = p_.shown().spec();
      const double of = spec.amount_first ? r.value.amount : r.value.count;
      key[fmt::format("{}_per_s", (spec.amount_first ? spec.amount : spec.count).name)] =
          seconds > 0 ? (spec.heaps ? Json(std::llround(of / seconds))
                                    : Json(std::round(of / seconds * 1e3) / 1e3))
                      : Json();
      return key;
    });
  }
  // What lives by route; what belongs to none comes last.
  void Requests(ReportTable& t) const {
    std::map<std::pair<uint32_t, std::string_view>, Estimate> sums;
    for (const profile::Cell& c : p_.shown().cells)
      sums[{c.process, p_.RequestName(p_.labels[c.labels])}] += c.value;
    using Sum = std::pair<std::pair<uint32_t, std::string_view>, Estimate>;
    std::vector<Sum> rows(sums.begin(), sums.end());
    std::stable_sort(rows.begin(), rows.end(), [this](const Sum& a, const Sum& b) {
      return std::pair(profile::IsOfNoRoute(a.first.second), -By(a.second)) <
             std::pair(profile::IsOfNoRoute(b.first.second), -By(b.second));
    });
    t.all_rows = rows.size();
    for (size_t i = 0; i < std::min(rows.size(), options_.limit); ++i) {
      Json key{{"request", rows[i].first.second}};
      Process(key, rows[i].first.first);
      t.rows.push_back({std::move(key), rows[i].second, {}, false});
    }
  }
  // From the youngest to the oldest, without the empty ones at both ends.
  void Ages(ReportTable& t) const {
    std::vector<Estimate> ages(profile::kAgeStarts.size());
    for (const profile::LiveCell& c : p_.lives())
      if (!c.young) ages[c.age_bucket] += c.value;
    size_t first = 0, end = ages.size();
    while (first < end && ages[first].samples == 0) ++first;
    while (end > first && ages[end - 1].samples == 0) --end;
    t.all_rows = end - first;
    for (size_t i = first; i < end && t.rows.size() < options_.limit; ++i) {
      Json key{{"age_from_s", profile::kAgeStarts[i]},
               {"age_to_s", i + 1 < ages.size() ? Json(profile::kAgeStarts[i + 1]) : Json()}};
      t.rows.push_back({std::move(key), ages[i], {}, false});
    }
  }
  void Generations(ReportTable& t) const {
    constexpr std::string_view kNames[] = {"gen0", "gen1", "gen2", "LOH", "POH", "unknown"};
    Estimate sums[6];
    for (const profile::LiveCell& c : p_.lives())
      if (!c.young) sums[c.generation < 0 ? 5 : static_cast<size_t>(c.generation)] += c.value;
    for (size_t i = 0; i < 6; ++i) {
      if (sums[i].none()) continue;
      t.rows.push_back({Json{{"generation", kNames[i]}}, sums[i], {}, false});
    }
    t.all_rows = t.rows.size();
  }
  // Depth first, the root left out.
  void Tree(ReportTable& t, bool bottom_up) const {
    const profile::CallTree tree = profile::BuildCallTree(
        p_, {.bottom_up = bottom_up, .keep_machinery = options_.framework, .sort = options_.sort});
    t.all_rows = tree.nodes.size() - 1;
    std::vector<std::pair<uint32_t, uint32_t>> todo;  // node, depth
    const auto push = [&](uint32_t node, uint32_t depth) {
      const auto& children = tree.nodes[node].children;
      for (size_t i = children.size(); i-- > 0;) todo.emplace_back(children[i], depth);
    };
    push(0, 0);
    while (!todo.empty() && t.rows.size() < options_.limit) {
      const auto [node, depth] = todo.back();
      todo.pop_back();
      Json key{{"depth", depth}};
      key.update(Frame(tree.nodes[node].frame));
      t.rows.push_back({std::move(key), tree.nodes[node].total, {}, false});
      push(node, depth + 1);
    }
  }

 private:
  double By(const Estimate& e) const {
    return options_.sort == profile::SortBy::kAmount  ? e.amount
           : options_.sort == profile::SortBy::kCount ? e.count
                                                      : static_cast<double>(e.samples);
  }
  bool Partial(const profile::TypeRow& r) const { return p_.types[r.type].partial; }
  bool Partial(const profile::SiteRow& r) const { return p_.types[r.type].partial; }
  template <class Row>
  static profile::HeapKind KindOf(const Row& r) {
    if constexpr (requires { r.kind; })
      return r.kind;
    else
      return profile::HeapKind::kUnknown;
  }
  template <class Row>
  bool Partial(const Row&) const {
    return false;
  }

  const Profile& p_;
  const RowOptions& options_;
};

}  // namespace

ReportTable MakeTable(const Profile& profile, View view, const RowOptions& options) {
  const Maker maker(profile, options);
  ReportTable table;
  table.view = view;
  switch (view) {
    case View::kType:
      maker.Types(table);
      break;
    case View::kSite:
      maker.Sites(table);
      break;
    case View::kStack:
      maker.Stacks(table);
      break;
    case View::kMethod:
      maker.Methods(table);
      break;
    case View::kLine:
      maker.Lines(table);
      break;
    case View::kKind:
      maker.Kinds(table);
      break;
    case View::kThread:
      maker.Threads(table);
      break;
    case View::kAssembly:
      maker.Assemblies(table);
      break;
    case View::kProcess:
      maker.Processes(table);
      break;
    case View::kTime:
      maker.Times(table);
      break;
    case View::kAge:
      maker.Ages(table);
      break;
    case View::kGeneration:
      maker.Generations(table);
      break;
    case View::kOwner:
      OwnerRows(profile, options, table);
      break;
    case View::kMessage:
      MessageRows(profile, options, table);
      break;
    case View::kState:
      StateRows(profile, options, table);
      break;
    case View::kRequest:  // of live objects; else report/rows/request_rows.h
      maker.Requests(table);
      break;
    case View::kTree:
      maker.Tree(table, false);
      break;
    case View::kBottomUp:
      maker.Tree(table, true);
      break;
  }
  return table;
}

std::string_view ViewName(View view) {
  constexpr std::string_view kNames[] = {"type",    "site",       "stack",    "method",  "line",
                                         "kind",    "thread",     "assembly", "process", "time",
                                         "age",     "generation", "owner",    "message", "state",
                                         "request", "tree",       "bottom-up"};
  return kNames[static_cast<size_t>(view)];
}

void AddProcess(Json& key, const Profile& profile, uint32_t process) {
  key["process"] = profile.str(profile.processes[process].name);
  key["pid"] = profile.processes[process].pid;
  key["process_index"] = process;
}

void AddEstimate(Json& json, const Estimate& value, const Profile& profile, std::string_view prefix,
                 bool partial, profile::HeapKind kind) {
  const auto set = [&](std::string_view name, bool known, double v) {
    json[fmt::format("{}{}", prefix, name)] = known ? Json(std::llround(v)) : Json();
  };
  const profile::MeasureSpec& spec = profile.shown().spec();
  if (profile.shown().events() || spec.id == profile::Measure::kGcCpu) {
    const auto quantity = [&](const profile::Quantity& q, double v, const profile::Bounds& b) {
      set(q.name, true, v);
      if (!profile.shown().storms.any() && !profile.shown().by_windows) return;
      set(fmt::format("{}_low", q.name), b.low.has_value(), b.low.value_or(0));
      set(fmt::format("{}_high", q.name), b.high.has_value(), b.high.value_or(0));
    };
    if (profile.shown().clocked()) {
      const profile::Bounds b = profile::AmountBounds(profile, value);
      set(spec.count.name, true, value.count);
      set(spec.amount.name, true, value.amount);
      set(fmt::format("{}_low", spec.amount.name), true, b.low.value_or(0));
      set(fmt::format("{}_high", spec.amount.name), true, b.high.value_or(0));
      return;
    }
    quantity(spec.count, value.count, profile::CountBounds(profile, value));
    quantity(spec.amount, value.amount, profile::AmountBounds(profile, value));
    return;
  }
  json[fmt::format("{}samples", prefix)] = value.samples;
  const auto bound = [&](std::string_view name, const std::optional<double>& v) {
    set(name, v.has_value(), v.value_or(0));
  };
  const profile::Bounds bytes = profile::AmountBounds(profile, value, partial);
  const profile::Bounds objects = profile::CountBounds(profile, value, partial, kind);
  set("bytes", true, value.amount);
  bound("bytes_low", bytes.low);
  bound("bytes_high", bytes.high);
  set("objects", profile.shown().counts_known, value.count);
  bound("objects_low", objects.low);
  bound("objects_high", objects.high);
}

Json RowJson(const ReportRow& row, const ReportTable& table, const Profile& profile,
             const Estimate& total) {
  Json json = row.key;
  const bool self_and_total = table.view == View::kMethod || table.view == View::kLine;
  if (self_and_total) {
    if (!profile.shown().events()) json["samples"] = row.value.samples;
    AddEstimate(json, row.self, profile, "self_");
    AddEstimate(json, row.value, profile, "total_");
  } else {
    AddEstimate(json, row.value, profile, "", row.partial, row.kind);
  }
  // It has what no window saw, too.
  if (table.view == View::kRequest && profile::OnlyInWindows(profile) &&
      profile.has_interval(row.value) && row.key.at("request") == profile::kNoRequest) {
    json["bytes_low"] = json["objects_low"] = 0;
    json["bytes_high"] = std::llround(AmountInterval(row.value).high);
    json["objects_high"] = std::llround(CountInterval(row.value).high);
  }
  const auto share = [&](const Estimate& part) {
    const bool by_amount = profile.shown().spec().amount_first;
    const double of = by_amount ? part.amount : part.count;
    const double whole = by_amount ? total.amount : total.count;
    return whole > 0 ? Json(std::round(of / whole * 1e6) / 1e6) : Json();
  };
  if (profile.counted()) {
    json["exact"] = profile.exact() && !row.partial;
    json["guessed_bytes"] = std::llround(row.value.amount - row.value.seen_amount);
  }
  json["share"] = share(self_and_total ? row.self : row.value);
  if (self_and_total) json["total_share"] = share(row.value);
  return json;
}

}  // namespace clrscope::report
