// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/child_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "analysis/families/requests/sql_summary.h"
#include "base/utf.h"
#include "profile/estimate/duration_scale.h"
#include "profile/requests.h"

namespace clrscope::analysis {
namespace {

using clr::EventTag;
using profile::DurationScale;
using profile::LabelKey;
using profile::LabelTable;

// LabelOf()'s `what`: operation + 1, step, failed.
constexpr unsigned kStepBits = 16, kFailedBit = 48;

uint64_t WhatOf(uint32_t operation, uint16_t step, bool failed) {
  return (uint64_t{operation} + 1) << kStepBits | step | uint64_t{failed} << kFailedBit;
}

constexpr int32_t kServerError = 500;

}  // namespace

uint32_t ChildOperations::Named() {
  if (const auto known = numbers_.find(name_); known != numbers_.end()) return known->second;
  if (numbers_.size() >= kMostOperations) {
    name_ = profile::kOtherOperations;
    tables_->losses.Add(Loss::kOperationsCapped);
    if (const auto known = numbers_.find(name_); known != numbers_.end()) return known->second;
  }
  const auto number = static_cast<uint32_t>(tables_->requests.operations.size());
  tables_->requests.operations.push_back(strings_->Intern(name_));
  ++tables_->requests.changes;
  return numbers_[name_] = number;
}

uint32_t ChildOperations::OfHost(Utf16View host, int32_t port) {
  name_ = "HTTP ";
  AppendUtf8(name_, {host.data, std::min<size_t>(host.units, kLongestName)});
  fmt::format_to(std::back_inserter(name_), ":{}", port);
  return Named();
}

uint32_t ChildOperations::OfCommand(std::string_view what, Utf16View text) {
  constexpr size_t kMostText = 4096;
  text_.clear();
  AppendUtf8(text_, {text.data, std::min(text.units, kMostText)});
  name_ = what;
  AppendSqlSummary(name_, text_);
  return Named();
}

// The ends of some are never told: what has been open for about the longest makes room.
uint32_t ChildOperations::NewSlot() {
  if (open_.size() - free_.size() >= kMostOpen) {
    tables_->losses.Add(Loss::kOperationsCapped);
    while (open_[hand_ % open_.size()].kind == Kind::kFree) ++hand_;
    Free(static_cast<uint32_t>(hand_++ % open_.size()));
  }
  if (free_.empty()) {
    open_.emplace_back();
    return static_cast<uint32_t>(open_.size() - 1);
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void ChildOperations::Free(uint32_t slot) {
  Open& open = open_[slot];
  if (open.kind != Kind::kNpgsql) {
    index_.Erase(open.key);
  } else if (const uint32_t first = commands_.Find(open.key); first == slot) {
    commands_.Erase(open.key);
    if (open.next != kNone) {
      open_[open.next].last = open.last;
      commands_.Add(open.key, open.next);
    }
  } else {
    uint32_t before = first;
    while (open_[before].next != slot) before = open_[before].next;
    open_[before].next = open.next;
    if (open_[first].last == slot) open_[first].last = before;
  }
  open.kind = Kind::kFree;
  free_.push_back(slot);
}

void ChildOperations::Begin(const ActivityPath& key, const ActivityPath& path, Kind kind,
                            uint32_t operation, int64_t now_ns) {
  if (key.empty()) return;
  if (const uint32_t same = index_.Find(key); same != PathIndex::kNone) Free(same);
  const uint32_t slot = NewSlot();
  open_[slot] = {key, path, now_ns, operation, kind};
  index_.Add(key, slot);
}

// The runtime does not know it at its stop, which has the path of what is around it: of several
// there, the first one that began has ended.
void ChildOperations::BeginNpgsql(const ActivityPath& path, uint32_t operation, int64_t now_ns) {
  constexpr size_t kOfNothing = 2;  // the app domain, and the command itself
  if (path.size() <= kOfNothing) return;
  const ActivityPath key = path.Parent();
  const uint32_t slot = NewSlot();
  open_[slot] = {key, path, now_ns, operation, Kind::kNpgsql};
  const uint32_t first = commands_.Find(key);
  if (first == PathIndex::kNone) {
    open_[slot].last = slot;
    return commands_.Add(key, slot);
  }
  open_[open_[first].last].next = slot;
  open_[first].last = slot;
}

uint32_t ChildOperations::FindNpgsql(const ActivityPath& path) const {
  if (const uint32_t first = commands_.Find(path); first != PathIndex::kNone) return first;
  for (uint32_t at = commands_.Find(path.Parent()); at != kNone; at = open_[at].next)
    if (open_[at].path == path) return at;
  return kNone;
}

// Something below it may be told of.
void ChildOperations::Fail(const ActivityPath& path) {
  for (size_t n = path.size(); n > 0; --n) {
    const uint32_t slot = index_.Find(path.Prefix(n));
    if (slot == PathIndex::kNone || open_[slot].kind != Kind::kHttp) continue;
    open_[slot].failed = true;
    return;
  }
}

std::optional<ChildOperations::Ended> ChildOperations::End(const ActivityPath& key, Kind kind,
                                                           bool failed, int64_t now_ns) {
  const uint32_t slot = index_.Find(key);
  // A stop whose start the runtime does not know has the path of what is around it.
  if (slot == PathIndex::kNone || open_[slot].kind != kind) return std::nullopt;
  return Close(slot, failed, now_ns);
}

ChildOperations::Ended ChildOperations::Close(uint32_t slot, bool failed, int64_t now_ns) {
  const Open& open = open_[slot];
  const int64_t ns = std::max<int64_t>(0, now_ns - open.start_ns);
  const Ended ended{open.path, ns,
                    WhatOf(open.operation, DurationScale::StepOf(ns), open.failed || failed)};
  Free(slot);
  return ended;
}

std::optional<ChildOperations::Ended> ChildOperations::OnEvent(const clr::RawEvent& event,
                                                               int64_t now_ns) {
  const ActivityPath path = ActivityPath::Of(event.activity);
  switch (event.kind->tag) {
    case EventTag::kHttpStart: {
      clr::HttpStart start;
      if (!clr::Decode(event, start)) break;
      Begin(path, path, Kind::kHttp, OfHost(start.host, start.port), now_ns);
      return std::nullopt;
    }
    case EventTag::kHttpFailed:
      Fail(path);
      return std::nullopt;
    case EventTag::kHttpStop: {
      clr::HttpStop stop;
      if (!clr::Decode(event, stop)) break;
      return End(path, Kind::kHttp, stop.status < 0 || stop.status >= kServerError, now_ns);
    }
    case EventTag::kNpgsqlStart:
    case EventTag::kNpgsqlStop:
    case EventTag::kSqlClientStart:
    case EventTag::kSqlClientStop:
      return OnCommand(event, now_ns);
    default:
      return std::nullopt;
  }
  tables_->losses.Add(Loss::kUnsupportedVersion);
  return std::nullopt;
}

// A path that no activity has: below no app domain.
ActivityPath ChildOperations::PathOfObject(int32_t object) {
  clr::ActivityId id{};
  id[0] = std::byte{0xF0};
  std::memcpy(&id[1], &object, sizeof(object));
  return ActivityPath::Of(id);
}

std::optional<ChildOperations::Ended> ChildOperations::OnCommand(const clr::RawEvent& event,
                                                                 int64_t now_ns) {
  const ActivityPath path = ActivityPath::Of(event.activity);
  const EventTag tag = event.kind->tag;
  if (tag == EventTag::kNpgsqlStart || tag == EventTag::kSqlClientStart) {
    clr::SqlStart start;
    if (!clr::Decode(event, start)) {
      tables_->losses.Add(Loss::kUnsupportedVersion);
      return std::nullopt;
    }
    const uint32_t operation = OfCommand("SQL ", start.text);
    if (tag == EventTag::kNpgsqlStart)
      BeginNpgsql(path, operation, now_ns);
    else
      Begin(PathOfObject(start.object), path, Kind::kSqlClient, operation, now_ns);
    return std::nullopt;
  }
  clr::SqlStop stop;
  if (!clr::Decode(event, stop)) {
    tables_->losses.Add(Loss::kUnsupportedVersion);
    return std::nullopt;
  }
  if (tag == EventTag::kSqlClientStop)
    return End(PathOfObject(stop.object), Kind::kSqlClient, stop.failed, now_ns);
  const uint32_t slot = FindNpgsql(path);
  if (slot == kNone) return std::nullopt;
  return Close(slot, false, now_ns);
}

void AppendActivityName(std::string& out, const clr::DiagnosticEvent& event) {
  const auto append = [&out](Utf16View text) {
    AppendUtf8(out, {text.data, std::min(text.units, ChildOperations::kLongestName / 2)});
  };
  const size_t at = out.size();
  append(event.name);
  const size_t end = out.size();
  if (event.source.empty()) return;
  out += " (";
  append(event.source);
  // The runtime's own names have their source in them.
  const std::string_view all = std::string_view(out).substr(at);
  if (all.starts_with(all.substr(end - at + 2))) return out.resize(end);
  out += ')';
}

void ChildOperations::BeginActivity(const ActivityPath& path, const clr::DiagnosticEvent& event,
                                    int64_t now_ns) {
  name_.clear();
  AppendActivityName(name_, event);
  Begin(path, path, Kind::kActivity, Named(), now_ns);
}

std::optional<ChildOperations::Ended> ChildOperations::EndActivity(
    const ActivityPath& path, const clr::DiagnosticEvent& event, int64_t now_ns) {
  const uint32_t slot = index_.Find(path);
  if (slot == PathIndex::kNone) return std::nullopt;
  name_.clear();
  AppendActivityName(name_, event);
  const std::string_view begun = strings_->Get(tables_->requests.operations[open_[slot].operation]);
  if (begun != name_ && begun != profile::kOtherOperations) return std::nullopt;
  return End(path, Kind::kActivity, clr::IsFailed(event), now_ns);
}

std::optional<ChildOperations::Ended> ChildOperations::OnDiagnostic(
    const clr::RawEvent& raw, const clr::DiagnosticEvent& event) {
  constexpr std::string_view kEf = "Microsoft.EntityFrameworkCore";
  const bool failed =
      clr::IsEvent(event, kEf, "Microsoft.EntityFrameworkCore.Database.Command.CommandError");
  if (!failed &&
      !clr::IsEvent(event, kEf, "Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted"))
    return std::nullopt;
  const int64_t ns = clr::ParseTimeSpan(clr::FindArgument(event, "Duration"));
  // Its driver may tell of the command, too.
  const uint32_t operation = OfCommand("EF ", clr::FindArgument(event, "Command"));
  return Ended{ActivityPath::Of(raw.activity), ns,
               WhatOf(operation, DurationScale::StepOf(ns), failed)};
}

uint16_t ChildOperations::LabelOf(uint64_t what, uint64_t route, uint64_t window, uint16_t age) {
  const auto step = static_cast<uint16_t>(what);
  const auto labels =
      profile::LabelSet()
          .With(LabelKey::kRequest, route)
          .With(LabelKey::kRequestPart, static_cast<uint64_t>(profile::RequestPart::kChild))
          .With(LabelKey::kOperation, (what & ((uint64_t{1} << kFailedBit) - 1)) >> kStepBits)
          .With(LabelKey::kStatus, what >> kFailedBit)
          .With(LabelKey::kRequestWindow, window)
          .With(LabelKey::kAge, age);
  const uint16_t label = tables_->labels.FindTimed(labels, step, DurationScale::Rounded(step));
  if (label == LabelTable::kOther) tables_->losses.Add(Loss::kLabelsCapped);
  return label;
}

void ChildOperations::Forget() {
  for (uint32_t slot = 0; slot < open_.size(); ++slot)
    if (open_[slot].kind != Kind::kFree) Free(slot);
}

void ChildOperations::MoveTo(StringPool* strings, profile::ProcessTables* tables) {
  std::vector<StringId> moved;  // by the old number
  for (const StringId name : tables_->requests.operations)
    moved.push_back(strings->Intern(strings_->Get(name)));
  strings_ = strings;
  tables_ = tables;
  numbers_.clear();
  for (Open& open : open_) {
    if (open.kind == Kind::kFree) continue;
    name_ = strings->Get(moved[open.operation]);
    open.operation = Named();
  }
}

void ChildOperations::Shift(int64_t shift_ns) {
  for (Open& open : open_) open.start_ns -= shift_ns;
}

}  // namespace clrscope::analysis
