// SPDX-License-Identifier: Apache-2.0
// Everything that is known of one recorded process: the dictionaries that slices refer to.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/loss.h"
#include "base/string_pool.h"
#include "base/strong.h"
#include "profile/estimate/counting.h"
#include "profile/profile.h"
#include "profile/stacks/code_map.h"
#include "profile/stacks/image_map.h"
#include "profile/stacks/stack_tree.h"
#include "profile/tables/agent_tables.h"
#include "profile/tables/il_maps.h"
#include "profile/tables/labels.h"
#include "profile/tables/places.h"
#include "profile/tables/request_tables.h"
#include "profile/tables/series.h"

namespace clrscope::profile {

// A type by its runtime id. Ids may be used again after an unload, then the name differs.
struct RuntimeType {
  uint64_t id = 0;
  StringId raw_name;  // "" = never named
};

struct ProcessTables {
  Process info;
  uint32_t pointer_size = 8;
  StackTree stacks;
  Places places;                    // of the addresses in `stacks`
  std::shared_ptr<IlMaps> il_maps;  // null: source lines were not asked for
  std::vector<RuntimeType> types;   // type 0 is the unknown type
  uint64_t types_renamed = 0;       // how often one got another name, its owner's before its own
  SeriesTable series;
  LabelTable labels;
  std::vector<StringId> messages;             // of exceptions, where they are kept
  std::map<uint64_t, StringId> thread_names;  // by the OS thread id
  RequestTables requests;
  CodeMap code;
  GcRecords gcs;    // those that are over and that a writer has not taken out yet
  ImageMap images;  // for addresses that no method owns
  Counting counting;
  AgentTables agent;
  LossCounters losses;
  // As the runtime's counters told last; -1 = nobody asked, or they say nothing any more.
  double pool_threads = -1, pool_queue = -1;
  bool sizes_unknown = false;  // AllocationTick before V4 was seen
  std::array<uint64_t, kSources> source_samples{};

  ProcessTables() : ProcessTables(StackTree::kDefaultMaxNodes, SeriesTable::kDefaultMax) {}
  // `methods`: what the processes of a recording share.
  ProcessTables(uint32_t max_nodes, uint32_t max_series,
                std::shared_ptr<MethodPool> methods = nullptr)
      : stacks(max_nodes), types(1), series(max_series), code(std::move(methods)) {}

  // Forgets everything but who the process is and what was counted.
  void Release() {
    ProcessTables kept(0, 0);
    kept.info = info;
    kept.pointer_size = pointer_size;
    kept.losses = losses;
    kept.sizes_unknown = sizes_unknown;
    kept.source_samples = source_samples;
    *this = std::move(kept);
  }
};

// A series' value of LabelKey::kWindow; 0: it was recorded all along.
inline uint64_t WindowOf(const ProcessTables& t, const SeriesKey& key) {
  if (key.labels == 0 || key.labels >= t.labels.sets().size()) return 0;
  return t.labels.sets()[key.labels][LabelKey::kWindow];
}

// What a series counts are events, and not what is known of windows of time.
inline bool IsOfEvents(const ProcessTables& t, const SeriesKey& key) {
  return WindowOf(t, key) <= kWindowGroups;
}

// A whole recording, without its slices.
struct Recording {
  StringPool strings;
  std::shared_ptr<MethodPool> methods = std::make_shared<MethodPool>();
  std::vector<std::unique_ptr<ProcessTables>> processes;
  LossCounters losses;        // that belong to no process
  int64_t start_unix_ns = 0;  // wall clock at time 0
  int64_t end_ns = 0;         // how far it goes
  bool complete = true;
  std::string origin;  // the file it was read from, for messages
};

}  // namespace clrscope::profile
