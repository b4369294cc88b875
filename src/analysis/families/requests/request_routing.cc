// SPDX-License-Identifier: Apache-2.0
// What ASP.NET Core tells of a request's routing where a session asks for it: its action, of MVC's,
// by which it is known which conventional route a path is of, and how the request ended.
// docs/decisions/0016-requests.md
#include <algorithm>
#include <utility>

#include "analysis/families/requests/request_fold.h"
#include "base/utf.h"
#include "clr/operation_events.h"

namespace clrscope::analysis {
namespace {

constexpr std::string_view kAspNet = "Microsoft.AspNetCore";
constexpr std::string_view kServerErrors = "5";  // the first of three digits

std::string TextOf(Utf16View text) {
  constexpr size_t kMostText = 1024;
  std::string out;
  AppendUtf8(out, {text.data, std::min(text.units, kMostText)});
  return out;
}

}  // namespace

void RequestFold::OpenRouting() {
  constexpr size_t kMostWatches = 64;
  if (routing_watches_.size() >= kMostWatches) routing_watches_.pop_front();
  routing_watches_.emplace_back();
}

void RequestFold::CloseRouting(int64_t end_ns, bool failed) {
  if (routing_watches_.empty() || routing_watches_.back().closed()) return;
  routing_watches_.back().to_ns = end_ns;
  routing_watches_.back().failed = failed;
}

// Whether each of its routings that there are was told.
bool RequestFold::RoutingToldOf(const Request& r) const {
  if (!r.stopped()) return false;
  return std::any_of(routing_watches_.begin(), routing_watches_.end(), [&r](const auto& w) {
    return !w.failed && w.from_ns != kGoesOn && r.start_ns >= w.from_ns &&
           (!w.closed() || r.stop_ns <= w.to_ns);
  });
}

bool RequestFold::WantsActions() {
  const uint64_t undecided = book_.undecided() + undecided_;
  return std::exchange(undecided_seen_, undecided) != undecided;
}

// The first requests of a program with conventional routes wait until its actions are known.
bool RequestFold::AwaitsActions(const Request& r, int64_t now_ns) {
  // A look of three seconds, which begins when the first values of the histogram are there.
  constexpr int64_t kLongestLearningNs = 10'000'000'000;
  if (!actions_expected_ || r.activity || r.action || r.stop_ns < now_ns - kLongestLearningNs)
    return false;
  if (std::any_of(routing_watches_.begin(), routing_watches_.end(),
                  [&r](const auto& w) { return w.learned && w.to_ns > r.stop_ns; }))
    return false;
  if (RoutingToldOf(r) || !book_.IsUndecided(strings_->Get(StringId(r.method)), r.path_text()))
    return false;
  ++undecided_;
  return true;
}

void RequestFold::OnDiagnostic(const clr::RawEvent& event, int64_t now_ns) {
  clr::DiagnosticEvent e;
  if (!clr::Decode(event, e)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  Told told{ActivityPath::Of(event.activity), now_ns, nullptr, false};
  if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Routing.EndpointMatched")) {
    if (!routing_watches_.empty() && routing_watches_.back().from_ns == kGoesOn)
      routing_watches_.back().from_ns = now_ns;
    told.action = std::make_unique<ActionValues>(
        ParseActionValues(TextOf(clr::FindArgument(e, "RouteValues"))));
  } else if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Hosting.EndRequest")) {
    const std::string status = TextOf(clr::FindArgument(e, "Status"));
    if (status.size() != 3 || !status.starts_with(kServerErrors)) return;
    told.failed = true;
  } else if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Hosting.UnhandledException")) {
    told.failed = true;
  } else {
    if (const auto ended = children_.OnDiagnostic(event, e)) AddChild(*ended, now_ns);
    return;
  }
  if (told.path.empty()) return;
  if (told_.size() < kMostTold) return told_.push_back(std::move(told));
  tables_->losses.Add(Loss::kRoutesCapped);
  if (!routing_watches_.empty()) routing_watches_.back().failed = true;
}

// Sessions are read one after the other: the request may come after what is told of it.
void RequestFold::RunRouting(int64_t now_ns) {
  std::erase_if(told_, [this, now_ns](Told& told) {
    const uint32_t slot = index_.FindWithin(told.path);
    if (slot == PathIndex::kNone) return told.time_ns < now_ns - kUnknownNs;
    Request& r = requests_[slot];
    if (told.time_ns < r.start_ns || (r.stopped() && told.time_ns > r.stop_ns)) return true;
    r.failed = r.failed || told.failed;
    if (told.action == nullptr) return true;
    r.action = std::move(told.action);
    LearnAction(r);  // requests that ended before may wait for it
    return true;
  });
  for (RoutingWatch& w : routing_watches_)
    if (!w.learned && w.closed() && w.to_ns < now_ns - kGraceNs) LearnMissing(w);
}

// Requests that nothing was told of fit no template, and those that wait are to know.
void RequestFold::LearnMissing(RoutingWatch& watch) {
  watch.learned = true;
  for (const Turn& turn : ended_)
    if (requests_[turn.slot].serial == turn.serial) LearnAction(requests_[turn.slot]);
}

void RequestFold::LearnAction(const Request& r) {
  if (r.activity || (r.action == nullptr && !RoutingToldOf(r))) return;
  book_.Learn(strings_->Get(StringId(r.method)), r.path_text(), r.action.get());
}

}  // namespace clrscope::analysis
