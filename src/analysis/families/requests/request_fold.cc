// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/request_fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/families/requests/live_requests.h"
#include "base/utf.h"
#include "clr/metric_events.h"
#include "clr/request_events.h"
#include "profile/estimate/duration_scale.h"

namespace clrscope::analysis {
namespace {

using profile::DurationScale;
using profile::LabelKey;
using profile::LabelSet;
using profile::LabelTable;
using profile::RequestPart;
using profile::SeriesKey;
using profile::Source;

// Of the room for sets of labels, what requests may take: events of threads are to have some, too.
constexpr size_t kMostSets = LabelTable::kMost / 2;

SeriesKey RequestKey() {
  return SeriesKey::Make(profile::StackTree::kNoStack, 0, profile::HeapKind::kUnknown,
                         Source::kRequest, 0);
}

uint64_t Nanoseconds(double ns) {
  constexpr double kLongest = 1e18;  // 30 years
  return static_cast<uint64_t>(std::clamp(ns, 0.0, kLongest));
}

// No character is cut in two.
size_t CutUtf8(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return most;
}

}  // namespace

RequestFold::RequestFold(StringPool* strings, const LateSlices::Home& home)
    : strings_(strings),
      tables_(home.tables),
      slices_(home),
      book_(strings, home.tables),
      children_(strings, home.tables) {}
RequestFold::~RequestFold() = default;

uint32_t RequestFold::NewSlot() {
  if (free_.empty()) {
    requests_.emplace_back();
    return static_cast<uint32_t>(requests_.size() - 1);
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  const uint32_t serial = requests_[slot].serial;
  requests_[slot] = {};
  requests_[slot].serial = serial;
  return slot;
}

void RequestFold::Free(uint32_t slot) {
  Request& r = requests_[slot];
  index_.Erase(r.path);
  idle_.Forget(r.path);
  long_bytes_ -= r.long_text.size();
  std::string().swap(r.long_text);
  r.action.reset();
  ++r.serial;
  free_.push_back(slot);
}

// Those that began first are given up: perhaps nobody told their end.
void RequestFold::MakeRoom(int64_t now_ns) {
  while (index_.size() >= kMostRequests && !begun_.empty()) {
    const Turn turn = begun_.front();
    begun_.pop_front();
    const Request& r = requests_[turn.slot];
    if (r.serial != turn.serial) continue;
    if (!r.stopped()) tables_->losses.Add(Loss::kRequestsCapped);
    End(turn.slot, now_ns, r.stopped());
  }
}

void RequestFold::Prune(std::deque<Turn>& turns) {
  if (turns.size() > 2 * index_.size() + 1024)
    std::erase_if(turns, [this](const Turn& t) { return requests_[t.slot].serial != t.serial; });
}

void RequestFold::SetPath(Request& r, Utf16View path) {
  scratch_.clear();
  AppendUtf8(scratch_, {path.data, std::min<size_t>(path.units, kLongPathBytes)});
  SetPathText(r);
}

// To what is in `scratch_`.
void RequestFold::SetPathText(Request& r) {
  r.text_size = static_cast<uint16_t>(CutUtf8(scratch_, kPathBytes));
  std::copy_n(scratch_.begin(), r.text_size, r.text.begin());
  if (r.text_size == scratch_.size() || long_bytes_ >= kMostLongBytes) return;
  r.long_text = scratch_.substr(0, CutUtf8(scratch_, kLongPathBytes));
  long_bytes_ += r.long_text.size();
}

void RequestFold::OnStart(const clr::RawEvent& event, int64_t now_ns) {
  on_ = true;
  clr::RequestStart start;
  if (!clr::Decode(event, start)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  if (event.activity == nullptr || now_ns > end_ns_) return;
  const ActivityPath path = ActivityPath::Of(*event.activity);
  if (path.size() == 0) return;
  Request* r = NewRequest(path, now_ns);
  if (r == nullptr) return;
  NoteRun(IdleTimes::Kind::kStart, event.thread, path, now_ns);
  scratch_.clear();
  AppendUtf8(scratch_, {start.method.data, std::min<size_t>(start.method.units, 16)});
  r->method = strings_->Intern(RouteBook::KnownMethod(scratch_)).value;
  SetPath(*r, start.path);
}

RequestFold::Request* RequestFold::NewRequest(const ActivityPath& path, int64_t now_ns) {
  if (in_windows_ && (windows_.empty() || windows_.back().closed())) return nullptr;
  starts_.Add(now_ns);
  if (!in_windows_) ++started_;
  ++all_started_;
  if (const uint32_t same = index_.Find(path); same != PathIndex::kNone) {
    if (requests_[same].windowed) {
      GiveUp(requests_[same]);
      Free(same);
    } else {
      End(same, now_ns, false);
    }
  }
  MakeRoom(now_ns);
  if (index_.size() >= kMostRequests) {
    tables_->losses.Add(Loss::kRequestsCapped);
    return nullptr;
  }
  const uint32_t slot = NewSlot();
  Request& r = requests_[slot];
  r.path = path;
  r.start_ns = now_ns;
  index_.Add(path, slot);
  r.windowed = in_windows_;
  if (in_windows_) {
    windows_.back().requests.push_back({slot, r.serial});
    return &r;
  }
  begun_.push_back({slot, r.serial});
  Prune(begun_);
  return &r;
}

void RequestFold::OnStop(const clr::RawEvent& event, int64_t now_ns) {
  if (event.activity == nullptr) return;
  const uint32_t slot = index_.Find(ActivityPath::Of(*event.activity));
  if (slot == PathIndex::kNone) {
    if (now_ns <= end_ns_ && !in_windows_) tables_->losses.Add(Loss::kRequestsBefore);
    return;
  }
  if (requests_[slot].activity) return;
  NoteRun(IdleTimes::Kind::kStop, event.thread, requests_[slot].path, now_ns);
  EndRequest(slot, now_ns);
}

void RequestFold::EndRequest(uint32_t slot, int64_t now_ns) {
  Request& r = requests_[slot];
  if (r.stopped()) return;
  r.stop_ns = std::max(now_ns, r.start_ns);
  if (r.windowed) return;
  ended_.push_back({slot, r.serial});
  Prune(ended_);
}

// It waits for its request's route as other events do.
void RequestFold::OnOperation(const clr::RawEvent& event, int64_t now_ns) {
  if (!on_ || now_ns > end_ns_) return;
  const clr::EventTag tag = event.kind->tag;
  if (tag == clr::EventTag::kActivityStart || tag == clr::EventTag::kActivityStop)
    return OnActivity(event, now_ns);
  if (const auto ended = children_.OnEvent(event, now_ns)) AddChild(*ended, now_ns);
}

void RequestFold::AddChild(const ChildOperations::Ended& ended, int64_t now_ns) {
  Add({ended.path,
       now_ns,
       0,
       RequestKey(),
       ended.what,
       {1, static_cast<uint64_t>(ended.duration_ns), 1}});
}

void RequestFold::OnHistogram(const clr::RawEvent& event, int64_t now_ns) {
  clr::HistogramValue value;
  if (!clr::Decode(event, value) || !clr::IsRequestDuration(value) || value.count <= 0) return;
  on_ = true;
  scratch_.clear();
  AppendUtf8(scratch_, value.tags);
  const std::string tags = std::exchange(scratch_, {});
  const clr::RequestTags t = clr::ParseRequestTags(tags);
  const uint32_t route = t.has_route ? book_.Template(t.method, t.route) : book_.NoRoute(t.method);
  const bool failed = t.status >= 500 || t.has_error_type;
  const LabelSet labels =
      LabelSet()
          .With(LabelKey::kRequest, route + uint64_t{1})
          .With(LabelKey::kRequestPart, static_cast<uint64_t>(RequestPart::kCounted))
          .With(LabelKey::kStatus,
                profile::StatusLabel(static_cast<uint32_t>(std::clamp(t.status, 0, 999)), failed));
  const uint16_t label = tables_->labels.Find(labels);
  constexpr int kFirstError = 400;
  if (t.has_route) {
    book_.Count(t.method, t.route, static_cast<uint64_t>(value.count),
                failed || t.status >= kFirstError);
    routed_ += value.count;
  } else {
    book_.CountUnrouted(t.method, static_cast<uint64_t>(value.count));
  }
  if (label == LabelTable::kOther) return tables_->losses.Add(Loss::kLabelsCapped);
  counting_ += value.count;
  // A value comes at the end of its interval.
  AddOwn(std::min(now_ns, end_ns_) - 1, label,
         {static_cast<uint64_t>(value.count), Nanoseconds(value.sum * 1e9),
          static_cast<uint64_t>(value.count)});
}

void RequestFold::OnCounter(const clr::RawEvent& event, int64_t now_ns) {
  clr::CounterRate rate;
  if (!clr::Decode(event, rate) || !clr::IsMatchAttempts(rate) || rate.added < 1) return;
  on_ = true;
  scratch_.clear();
  AppendUtf8(scratch_, rate.tags);
  const std::string tags = std::exchange(scratch_, {});
  const clr::MatchTags t = clr::ParseMatchTags(tags);
  const auto count = static_cast<uint64_t>(std::llround(rate.added));
  const uint32_t route =
      t.has_route ? book_.CountMatched(t.route, count) : book_.CountUnmatched(count);
  if (t.has_route) matches_ += rate.added;
  const uint16_t label = tables_->labels.Find(
      LabelSet()
          .With(LabelKey::kRequest, route + uint64_t{1})
          .With(LabelKey::kRequestPart, static_cast<uint64_t>(RequestPart::kMatched)));
  if (label == LabelTable::kOther) return tables_->losses.Add(Loss::kLabelsCapped);
  AddOwn(std::min(now_ns, end_ns_) - 1, label, {count, 0, count});
}

void RequestFold::OnCollected(int64_t now_ns) {
  collected_ = true;
  if (const int64_t began_ns = std::exchange(collecting_ns_, 0); began_ns > 0)
    now_ns = std::min(now_ns, began_ns);
  const int64_t length_ns = now_ns - collected_to_ns_;
  if (collected_to_ns_ != 0 && length_ns > 0) {
    // A burst counts for some seconds: windows are not to be too long.
    constexpr double kFading = 0.7;
    counted_ = std::max(counting_ * 1e9 / static_cast<double>(length_ns), counted_ * kFading);
    ++intervals_;
  }
  counting_ = 0;
  reexecuted_ = book_.CountReexecuted();
  collected_to_ns_ = std::max(collected_to_ns_, now_ns);
}

void RequestFold::OnRefused(const clr::RawEvent& event) {
  clr::MetricsSession session;
  refused_.clear();
  if (clr::Decode(event, session)) refused_ = ToUtf8(session.id);
  if (refused_.empty()) refused_.push_back('?');
}

void RequestFold::CountEvent(Request& r, const Event& event) {
  switch (event.key.source()) {
    case Source::kException:
      r.exceptions += event.sums.stands_for;
      break;
    case Source::kContention:
      r.lock_wait_ns += static_cast<int64_t>(event.sums.amount);
      break;
    case Source::kCpuClock:
      break;
    default:
      r.samples += event.bytes > 0 ? event.sums.samples : 0;
      r.bytes += event.bytes;
      r.objects += event.objects;
  }
}

void RequestFold::UncountEvent(Request& r, const Event& event) {
  switch (event.key.source()) {
    case Source::kException:
      r.exceptions -= event.sums.stands_for;
      break;
    case Source::kContention:
      r.lock_wait_ns -= static_cast<int64_t>(event.sums.amount);
      break;
    case Source::kCpuClock:
      break;
    default:
      r.samples -= event.bytes > 0 ? event.sums.samples : 0;
      // Nothing left is nothing, whatever sums of doubles say.
      r.bytes = r.samples == 0 ? 0 : r.bytes - event.bytes;
      r.objects = r.samples == 0 ? 0 : r.objects - event.objects;
  }
}

void RequestFold::Attach(Request& r, const Event& event) {
  if (waiting_count_ >= kMostEvents && r.windowed) return HandOut(event);
  CountEvent(r, event);
  if (waiting_count_ >= kMostEvents) {  // as of a long request: what is known by now
    const int64_t to_ns = r.stopped() ? r.stop_ns : event.time_ns;
    return HandOutOne(r, event, RouteSoFar(r),
                      DurationScale::Rounded(DurationScale::StepOf(to_ns - r.start_ns)));
  }
  r.oldest_ns = std::min(r.oldest_ns, event.time_ns);
  uint32_t at = free_waiting_;
  if (at != kNone) {
    free_waiting_ = waiting_[at].next;
  } else {
    at = static_cast<uint32_t>(waiting_.size());
    waiting_.emplace_back();
  }
  ++waiting_count_;
  waiting_[at] = {event, r.events};
  r.events = at;
}

void RequestFold::Add(Event event) {
  tables_->source_samples[static_cast<size_t>(event.key.source())] += event.sums.samples;
  if (event.bytes > 0) event.epoch = Share(event.bytes);
  for (size_t n = event.path.size(); n > 0; --n) {
    const ActivityPath prefix = event.path.Prefix(n);
    if (const uint32_t slot = index_.Find(prefix); slot != kNone)
      return Attach(requests_[slot], event);
    if (const EndedRequests::Ended* ended = ended_requests_.Find(prefix);
        ended != nullptr && AddLate(*ended, event))
      return;
  }
  if (!event.path.empty() && unknown_.size() < kMostEvents) return unknown_.push_back(event);
  HandOut(event);
}

// Sessions are read one after the other: the start may come after the event.
void RequestFold::RetryUnknown(int64_t now_ns, bool all) {
  size_t kept = 0;
  for (size_t i = 0; i < unknown_.size(); ++i) {
    const Event e = unknown_[i];
    const uint32_t slot = index_.FindWithin(e.path);
    if (slot != kNone) {
      Attach(requests_[slot], e);
    } else if (all || e.time_ns < now_ns - kUnknownNs) {
      HandOut(e);
    } else {
      unknown_[kept++] = e;
    }
  }
  unknown_.resize(kept);
}

bool RequestFold::TemplatesKnown(const Request& r, int64_t now_ns) const {
  return !templates_expected_ || collected_to_ns_ >= r.stop_ns ||
         r.stop_ns < now_ns - LongestTemplate();
}

void RequestFold::HandOut(const Event& e, uint64_t route, uint16_t step, const Watched& watched,
                          double weight) {
  if (e.key.source() == Source::kRequest) {
    const uint16_t child = children_.LabelOf(e.nominal_size, route, watched.group, watched.age);
    if (child != LabelTable::kOther) slices_.Add(e.time_ns, e.key, child, 0, 0, e.sums);
    return;
  }
  const LabelSet& known = tables_->labels.sets()[e.key.labels];
  const LabelSet with = known.With(LabelKey::kRequest, route)
                            .With(LabelKey::kRequestWindow, watched.group)
                            .With(LabelKey::kAge, watched.age);
  uint16_t label = LabelTable::kNone;
  if (route != 0) {
    label = tables_->labels.Find(with.With(LabelKey::kDuration, step), kMostSets);
    if (label == LabelTable::kOther) label = tables_->labels.Find(with);
    if (label == LabelTable::kOther) tables_->losses.Add(Loss::kLabelsCapped);
  } else {
    label = e.key.labels;
  }
  slices_.Add(e.time_ns, e.key, label, e.nominal_size, e.thread, e.sums);
  if (e.bytes > 0 && route != 0)
    shares_.OnRoute(e.epoch, static_cast<uint32_t>(route - 1), weight * e.bytes,
                    [&](uint32_t r, double ns) {
                      Count(r, RequestPart::kGcCaused, 0, e.time_ns, {1, Nanoseconds(ns), 0});
                    });
}

void RequestFold::HandOutOne(Request& r, const Event& e, uint32_t route, uint16_t step) {
  const bool after = r.stopped() && e.time_ns > r.stop_ns;
  if (after) UncountEvent(r, e);
  const std::optional<Watched> watched = WatchedAt(r.start_ns, e, {});
  if (!watched) return HandOut(e);
  HandOut(e, (after ? book_.After() : route) + uint64_t{1}, after ? DurationScale::kUnknown : step,
          after ? Watched{} : *watched, 1);
}

void RequestFold::HandOutEvents(Request& r, uint32_t route, uint16_t step) {
  TakeEvents(r, [&](const Event& e) { HandOutOne(r, e, route, step); });
}

void RequestFold::Count(uint32_t route, RequestPart part, uint16_t step, int64_t time_ns,
                        const profile::Sums& sums, const Watched& watched) {
  const LabelSet labels = LabelSet()
                              .With(LabelKey::kRequest, route + uint64_t{1})
                              .With(LabelKey::kRequestPart, static_cast<uint64_t>(part))
                              .With(LabelKey::kRequestWindow, watched.group)
                              .With(LabelKey::kAge, watched.age);
  const uint16_t label = tables_->labels.FindTimed(labels, step, DurationScale::Rounded(step));
  if (label == LabelTable::kOther) {
    tables_->losses.Add(Loss::kLabelsCapped);
    if (part != RequestPart::kEnded) return;  // without its label it would be a request that ended
  }
  AddOwn(time_ns, label, sums);
}

void RequestFold::AddOwn(int64_t time_ns, uint16_t label, const profile::Sums& sums) {
  tables_->source_samples[static_cast<size_t>(Source::kRequest)] += sums.samples;
  slices_.Add(time_ns, RequestKey(), label, 0, 0, sums);
}

void RequestFold::NoteSlow(const Request& r, uint32_t route, int64_t duration_ns, int64_t gc_ns,
                           const std::optional<profile::IdleTime>& idle) {
  auto& slowest = tables_->requests.slowest;
  const auto slower = [](const profile::SlowRequest& a, const profile::SlowRequest& b) {
    return a.duration_ns > b.duration_ns;
  };
  if (slowest.size() >= profile::RequestTables::kMostSlow) {
    if (duration_ns <= slowest.front().duration_ns) return;
    std::pop_heap(slowest.begin(), slowest.end(), slower);
    slowest.pop_back();
  }
  slowest.push_back({r.start_ns, duration_ns, route, std::string(r.short_text()), r.stopped(),
                     r.samples, r.bytes, r.objects, r.exceptions, r.lock_wait_ns, gc_ns,
                     idle ? std::llround(idle->queued_ns) : -1,
                     idle ? std::llround(idle->awaiting_ns) : -1});
  std::push_heap(slowest.begin(), slowest.end(), slower);
}

// `certain`: it is known that it went on to `to_ns`, or ended then.
uint32_t RequestFold::RouteOf(const Request& r, bool certain, int64_t to_ns) {
  const std::string_view method = strings_->Get(StringId(r.method));
  uint32_t route = r.activity ? book_.Activity(r.path_text())
                   : certain
                       ? book_.MatchEnded(method, r.path_text(),
                                          collected_ && collected_to_ns_ >= to_ns, r.action.get())
                       : book_.Match(method, r.path_text());
  if (route == RouteBook::kNone)
    route = certain && collected_ && collected_to_ns_ >= to_ns
                ? book_.NoRoute(method)
                : book_.OfPath(method, r.path_text());
  if (tables_->requests.routes[route].kind == profile::RouteKind::kOther)
    tables_->losses.Add(Loss::kRoutesCapped);
  return route;
}

// The runtime counts errors of templates.
bool RequestFold::IsFailedAction(const Request& r, uint32_t route) const {
  return r.failed && tables_->requests.routes[route].kind == profile::RouteKind::kAction;
}

// `certain`: its end was told, and the templates of its time are known.
void RequestFold::End(uint32_t slot, int64_t now_ns, bool certain) {
  Request& r = requests_[slot];
  LearnAction(r);
  const uint32_t route = RouteOf(r, certain, r.stop_ns);
  const int64_t to_ns = std::min(r.stopped() ? r.stop_ns : now_ns, end_ns_);
  const int64_t duration_ns = std::max<int64_t>(0, to_ns - r.start_ns);
  const uint16_t step = DurationScale::StepOf(duration_ns);
  const bool counts = r.stopped() && r.stop_ns <= end_ns_;
  Count(route, counts ? RequestPart::kEnded : RequestPart::kUnended, step, to_ns,
        {1, static_cast<uint64_t>(duration_ns), 1});
  if (counts) {
    int64_t& longest = tables_->requests.routes[route].max_ns;
    longest = std::max(longest, duration_ns);
    if (IsFailedAction(r, route)) Count(route, RequestPart::kFailed, 0, to_ns, {1, 0, 1});
    if (templates_expected_ && collected_to_ns_ < r.stop_ns && !r.activity)
      Count(route, RequestPart::kUncounted, 0, to_ns, {1, 0, 1});
    CountLooked(r, route);
  }
  ++tables_->requests.changes;
  const int64_t gc_ns = pauses_.Within(r.start_ns, to_ns);
  if (gc_ns > 0)
    Count(route, RequestPart::kGcWaited, 0, to_ns, {1, static_cast<uint64_t>(gc_ns), 0});
  const auto idle = CountIdle(r, route, to_ns, counts);
  HandOutEvents(r, route, DurationScale::Rounded(step));
  // Where events were dropped, perhaps its end was.
  if (r.stopped() || tables_->losses[Loss::kEventsDropped] == 0)
    NoteSlow(r, route, duration_ns, gc_ns, idle);
  Remember(r, route, r.stopped() ? r.stop_ns : now_ns, r.stopped());
  Free(slot);
}

// What waits for the end of a long request is told as what it is for certain: of one that takes at
// least as long as it does already.
void RequestFold::FlushLong(int64_t now_ns) {
  size_t looked = 0;
  for (const Turn& turn : begun_) {
    Request& r = requests_[turn.slot];
    if (r.serial != turn.serial) continue;
    if (r.start_ns > now_ns - kLongestWaitNs || ++looked > kMostRequests) return;
    if (!r.stopped() && r.oldest_ns <= now_ns - kLongestWaitNs) HandOutOpen(r, now_ns);
  }
}

uint32_t RequestFold::RouteSoFar(const Request& r) {
  if (r.activity) return book_.Activity(r.path_text());
  const std::string_view method = strings_->Get(StringId(r.method));
  // Its own template may be told at its end only, and a broader one is known already: names are
  // given when all are known.
  const uint32_t route = book_.OfPath(method, r.path_text());
  if (tables_->requests.routes[route].kind != profile::RouteKind::kOther) return route;
  const uint32_t match = book_.Match(method, r.path_text());
  return match != RouteBook::kNone ? match : route;
}

void RequestFold::HandOutOpen(Request& r, int64_t now_ns) {
  HandOutEvents(r, RouteSoFar(r),
                DurationScale::Rounded(DurationScale::StepOf(now_ns - r.start_ns)));
}

void RequestFold::TakePauses() {
  for (; pauses_seen_ < pauses_.count(); ++pauses_seen_) {
    if (pauses_seen_ < pauses_.oldest()) continue;
    const PauseLog::Pause& p = pauses_.At(pauses_seen_);
    shares_.OnPause(p.end_ns - p.begin_ns);
  }
}

void RequestFold::CountCaused() {
  TakePauses();
  shares_.Collect([this](uint32_t route, double ns) {
    Count(route, RequestPart::kGcCaused, 0, pauses_.At(pauses_.count() - 1).end_ns,
          {1, Nanoseconds(ns), 0});
  });
}

void RequestFold::Advance(int64_t now_ns) {
  if (!on_) return;
  advanced_ns_ = now_ns;
  RetryUnknown(now_ns, false);
  RunRouting(now_ns);
  RunIdle(now_ns - kGraceNs);
  if (idle_.runs() != nullptr) idle_.runs()->Forget(now_ns - kGraceNs - kGraceForCpuNs);
  while (!ended_.empty()) {
    const Turn turn = ended_.front();
    if (requests_[turn.slot].serial == turn.serial) {
      const Request& r = requests_[turn.slot];
      if (r.stop_ns > now_ns - grace_ns_ || !TemplatesKnown(r, now_ns) || !IdleKnown(r) ||
          AwaitsActions(r, now_ns))
        break;
      End(turn.slot, now_ns, true);
    }
    ended_.pop_front();
  }
  FinishWindows(now_ns, false);
  FlushLong(now_ns);
  while (!begun_.empty() && requests_[begun_.front().slot].serial != begun_.front().serial)
    begun_.pop_front();
  CountCaused();
  slices_.Flush();
  if (live_ != nullptr) live_->Settle(SettledTo(now_ns));
  ended_requests_.ForgetUpTo(now_ns);
}

void RequestFold::Interrupt(int64_t now_ns) {
  children_.Forget();
  for (const Turn& turn : begun_) {
    Request& r = requests_[turn.slot];
    if (r.serial != turn.serial || r.stopped()) continue;
    HandOutOpen(r, now_ns);
    if (live_ != nullptr || remembers_) Remember(r, RouteSoFar(r), now_ns, false);
    Free(turn.slot);
  }
  EndWindows();
}

// All whose end was told, whatever is known of their templates.
void RequestFold::EndStopped(int64_t now_ns) {
  for (const Turn& turn : ended_)
    if (requests_[turn.slot].serial == turn.serial) End(turn.slot, now_ns, true);
  ended_.clear();
}

void RequestFold::Finish(int64_t last_ns) {
  if (on_) FinishAll(last_ns);
  if (live_ != nullptr) live_->Settle(INT64_MAX);
}

void RequestFold::FinishAll(int64_t last_ns) {
  RetryUnknown(last_ns, false);
  RunRouting(last_ns);
  // All that was told is known, also of a look that has just ended.
  for (RoutingWatch& w : routing_watches_)
    if (!w.learned) LearnMissing(w);
  RunIdle(last_ns);
  FinishWindows(last_ns, true);
  EndStopped(last_ns);
  for (const Turn& turn : begun_)
    if (requests_[turn.slot].serial == turn.serial) End(turn.slot, last_ns, false);
  begun_.clear();
  RetryUnknown(last_ns, true);
  CountCaused();
  slices_.Flush();
}

void RequestFold::Flush(int64_t now_ns) {
  if (!on_) return;
  RetryUnknown(now_ns, true);
  RunRouting(now_ns);
  RunIdle(now_ns);
  FinishWindows(now_ns, true);
  EndStopped(now_ns);
  for (Request& r : requests_)
    if (r.events != kNone) HandOutOpen(r, now_ns);
  CountCaused();
  slices_.Flush();
}

void RequestFold::MoveTo(StringPool* strings, const LateSlices::Home& home) {
  for (Request& r : requests_) r.method = strings->Intern(strings_->Get(StringId(r.method))).value;
  shares_ = {};
  pauses_seen_ = pauses_.count();
  strings_ = strings;
  tables_ = home.tables;
  slices_.MoveTo(home);
  book_.MoveTo(strings, home.tables);
  ended_requests_.Clear();  // their routes were those of the old tables
  children_.MoveTo(strings, home.tables);
}

void RequestFold::Shift(int64_t shift_ns) {
  for (Request& r : requests_) r.start_ns -= shift_ns;
  idle_.Shift(shift_ns);
  for (IdleWatch& w : idle_watches_) {
    if (w.from_ns != kGoesOn) w.from_ns -= shift_ns;
    if (w.closed()) w.to_ns -= shift_ns;
  }
  for (RoutingWatch& w : routing_watches_) {
    if (w.from_ns != kGoesOn) w.from_ns -= shift_ns;
    if (w.closed()) w.to_ns -= shift_ns;
  }
  watched_to_ns_ -= shift_ns;
  children_.Shift(shift_ns);
  starts_.Clear();
  ended_requests_.Shift(shift_ns);
  advanced_ns_ -= shift_ns;
  pauses_.Shift(shift_ns);                                  // those of requests that go on
  if (collected_to_ns_ != 0) collected_to_ns_ -= shift_ns;  // 0: never
  collecting_ns_ = 0;
}

}  // namespace clrscope::analysis
