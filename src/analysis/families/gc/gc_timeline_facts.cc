// SPDX-License-Identifier: Apache-2.0
// What a process's GC events say beside its collections: settings, and objects by type.
#include <algorithm>

#include "analysis/families/gc/gc_amounts.h"
#include "analysis/families/gc/gc_timeline.h"
#include "base/hash_bytes.h"
#include "base/utf.h"
#include "clr/gc_events.h"

namespace clrscope::analysis {
namespace {

constexpr size_t kMaxTypes = 4096;

// The entry of `key`, or that of everything past the cap.
profile::GcFacts::TypeCount& CountOf(std::vector<profile::GcFacts::TypeCount>& table,
                                     FlatMap& index, uint64_t key, bool* is_new) {
  uint32_t i = index.Find(key);
  *is_new = i == FlatMap::kNone;
  if (*is_new) {
    i = static_cast<uint32_t>(std::min(table.size(), kMaxTypes));
    if (i == table.size()) table.emplace_back();
    if (i == kMaxTypes)
      *is_new = false;
    else
      index.Set(key, i);
  }
  return table[i];
}

}  // namespace

void GcTimeline::OnPinned(const clr::RawEvent& event) {
  clr::GcPinObject pin;
  if (!clr::Decode(event, pin)) return losses_->Add(Loss::kUnsupportedVersion);
  OpenGc* gc = Current();
  if (gc == nullptr) return;
  if (!gc->pinned) gc->pinned = std::make_unique<FlatMap>();
  Add(gc->record.pinned_seen, 0);
  Add(gc->record.pinned_seen_bytes, 0);
  if (gc->pinned->Find(pin.object) != FlatMap::kNone) return;  // pinned by several handles
  gc->pinned->Set(pin.object, 1);
  Add(gc->record.pinned_seen, 1);
  Add(gc->record.pinned_seen_bytes, I64(pin.size));
  bool is_new = false;
  auto& type =
      CountOf(facts_->pinned_types, pinned_types_, HashBytes(pin.type_name.bytes()), &is_new);
  if (is_new) {
    scratch_.clear();
    AppendUtf8(scratch_, pin.type_name);
    type.name = strings_->Intern(scratch_);
  }
  ++type.count;
  type.bytes += pin.size;
}

void GcTimeline::OnFinalizeObject(const clr::RawEvent& event) {
  clr::GcFinalizeObject object;
  if (!clr::Decode(event, object)) return losses_->Add(Loss::kUnsupportedVersion);
  bool is_new = false;
  auto& type = CountOf(facts_->finalized_types, finalized_types_, object.type_id, &is_new);
  if (is_new) type.type_id = object.type_id;
  ++type.count;
}

void GcTimeline::OnSettings(const clr::RawEvent& event) {
  clr::GcSettings s;
  if (!clr::Decode(event, s)) return losses_->Add(Loss::kUnsupportedVersion);
  facts_->hard_limit_bytes = I64(s.hard_limit);
  facts_->loh_threshold_bytes = I64(s.loh_threshold);
  facts_->physical_memory_bytes = I64(s.physical_memory);
  facts_->gen0_min_budget_bytes = I64(s.gen0_min_budget);
  facts_->gen0_max_budget_bytes = I64(s.gen0_max_budget);
  facts_->high_memory_percent = s.high_memory_percent;
  facts_->setting_bits = s.bits;
}

}  // namespace clrscope::analysis
