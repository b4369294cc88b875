// SPDX-License-Identifier: Apache-2.0
// What ASP.NET Core tells of a request's routing where a session asks for it: its action, of MVC's,
// by which it is known which conventional route a path is of, and how the request ended.
// docs/decisions/0016-requests.md
#include <algorithm>
#include <charconv>
#include <utility>

#include "analysis/families/requests/request_fold.h"
#include "analysis/families/requests/request_path.h"
#include "base/utf.h"
#include "clr/operation_events.h"

namespace clrscope::analysis {
namespace {

constexpr std::string_view kAspNet = "Microsoft.AspNetCore";
constexpr uint16_t kFirstServerError = 500;
constexpr size_t kMostRoutingText = 1024;

// 0: it is none.
uint16_t StatusOf(std::string_view text) {
  uint16_t status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && status < 1000 ? status : uint16_t{0};
}

// Whether routing looked for the request's own path, from which middleware may have stripped a
// base. `path`: as RequestStart has it, escaped; `routed`: as routing has it, perhaps cut.
bool IsOwnPath(std::string_view path, std::string_view routed) {
  if (routed.empty() || routed.size() >= kMostRoutingText) return true;
  const RequestPath own(path);
  const std::string_view whole = own.size() > 0 ? own.From(0) : std::string_view();
  if (routed == "/") return whole.empty() || whole.ends_with('/');
  if (routed.starts_with('/')) routed.remove_prefix(1);
  if (!whole.ends_with(routed)) return false;
  const size_t base = whole.size() - routed.size();
  return base == 0 || whole[base - 1] == '/';
}

std::string TextOf(Utf16View text) {
  std::string out;
  AppendUtf8(out, {text.data, std::min(text.units, kMostRoutingText)});
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

bool RequestFold::WantsReexecuted() {
  // Each has been matched twice. What goes on was matched, too, and is no failure yet.
  constexpr uint64_t kLeast = 3;
  const double more = std::max(0.0, matches_ - routed_);
  const uint64_t reexecuted = std::min(reexecuted_, static_cast<uint64_t>(more));
  if (reexecuted < std::max(kLeast, 2 * reexecuted_seen_)) return false;
  reexecuted_seen_ = reexecuted;
  return true;
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
  Told told{ActivityPath::Of(event.activity), now_ns, nullptr};
  if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Routing.EndpointMatched")) {
    if (!routing_watches_.empty() && routing_watches_.back().from_ns == kGoesOn)
      routing_watches_.back().from_ns = now_ns;
    told.action = std::make_unique<ActionValues>(
        ParseActionValues(TextOf(clr::FindArgument(e, "RouteValues"))));
    told.routed = TextOf(clr::FindArgument(e, "Path"));
  } else if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Hosting.EndRequest")) {
    told.status = StatusOf(TextOf(clr::FindArgument(e, "Status")));
    if (told.status == 0) return;
    told.failed = told.status >= kFirstServerError;
  } else if (clr::IsEvent(e, kAspNet, "Microsoft.AspNetCore.Hosting.UnhandledException")) {
    told.failed = true;
    told.status = kFirstServerError;
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
    if (told.status != 0) r.status = told.status;
    if (told.action == nullptr) return true;
    if (!IsOwnPath(r.path_text(), told.routed)) {
      r.reexecuted = true;
      return true;
    }
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

void RequestFold::CountLooked(const Request& r, uint32_t route) {
  if (r.activity || r.status == 0 || !RoutingToldOf(r)) return;
  const uint64_t status = r.reexecuted ? profile::StatusLabel(r.status, r.failed) : 0;
  const uint16_t label =
      tables_->labels.Find(profile::LabelSet()
                               .With(profile::LabelKey::kRequest, route + uint64_t{1})
                               .With(profile::LabelKey::kRequestPart,
                                     static_cast<uint64_t>(profile::RequestPart::kLooked))
                               .With(profile::LabelKey::kStatus, status));
  if (label == profile::LabelTable::kOther) return tables_->losses.Add(Loss::kLabelsCapped);
  AddOwn(r.stop_ns, label, {1, 0, 1});
}

}  // namespace clrscope::analysis
