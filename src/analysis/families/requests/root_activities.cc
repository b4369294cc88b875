// SPDX-License-Identifier: Apache-2.0
// Activities of the program's ActivitySources: one within a request is an operation of it, one that
// nothing is around is a row of its own, as a request is. docs/decisions/0016-requests.md
#include "analysis/families/requests/request_fold.h"
#include "clr/operation_events.h"

namespace clrscope::analysis {
namespace {

// Of requests and calls, which other events tell.
bool IsToldElsewhere(const clr::DiagnosticEvent& e) {
  return clr::IsEvent(e, "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.HttpRequestIn") ||
         clr::IsEvent(e, "System.Net.Http", "System.Net.Http.HttpRequestOut");
}

}  // namespace

// They have a price, as requests have.
void RequestFold::CountActivity(int64_t now_ns) {
  ++all_started_;
  if (in_windows_) {
    if (!windows_.empty() && !windows_.back().closed()) ++windows_.back().activities;
    return;
  }
  starts_.Add(now_ns);
  ++started_;
}

void RequestFold::OnActivity(const clr::RawEvent& event, int64_t now_ns) {
  clr::DiagnosticEvent e;
  if (!clr::Decode(event, e)) return tables_->losses.Add(Loss::kUnsupportedVersion);
  const ActivityPath path = ActivityPath::Of(event.activity);
  if (path.empty()) return;
  const bool begins = event.kind->tag == clr::EventTag::kActivityStart;
  if (begins) {
    // Without a request that is known, but within an activity: its request began before.
    const bool within =
        index_.FindWithin(path.Parent()) != kNone || !clr::FindArgument(e, "OperationName").empty();
    if (within || in_windows_) CountActivity(now_ns);  // outside of windows, NewRequest() does
    if (IsToldElsewhere(e)) return;
    if (within) return children_.BeginActivity(path, e, now_ns);
    Request* r = NewRequest(path, now_ns);
    if (r == nullptr) return;
    NoteRun(IdleTimes::Kind::kStart, event.thread, path, now_ns);
    r->activity = true;
    scratch_.clear();
    AppendActivityName(scratch_, e);
    return SetPathText(*r);
  }
  if (const uint32_t slot = index_.Find(path); slot != PathIndex::kNone) {
    scratch_.clear();
    AppendActivityName(scratch_, e);
    // A stop whose start the runtime does not know has the path of what is around it.
    if (!requests_[slot].activity || requests_[slot].path_text() != scratch_) return;
    NoteRun(IdleTimes::Kind::kStop, event.thread, path, now_ns);
    EndRequest(slot, now_ns);
    return;
  }
  if (const auto ended = children_.EndActivity(path, e, now_ns)) AddChild(*ended, now_ns);
}

}  // namespace clrscope::analysis
