// SPDX-License-Identifier: Apache-2.0
// The kinds of events that a stream announces, by the id that its events refer to.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "clr/raw_event.h"

namespace clrscope::nettrace {

// A kind and how many events of it came.
struct CountedKind : clr::EventKind {
  uint64_t count = 0;
  bool wanted = true;
  std::string provider_text, event_text;  // what the views in EventKind point to
};

class MetadataTable {
 public:
  // A machine-wide trace has some thousands; more are damage, and would never be forgotten.
  static constexpr size_t kMaxKinds = 1 << 17;

  // A V4/V5 metadata payload: the payload of one row of a MetadataBlock.
  Status AddV4(Bytes payload, uint64_t offset);
  // The content of a whole V6 MetadataBlock.
  Status AddBlockV6(Bytes content, uint64_t offset);
  void Clear();  // ids may be reused after it; kinds stay

  CountedKind* Find(uint32_t id) {
    if (id < dense_.size()) return dense_[id];
    const auto it = sparse_.find(id);
    return it == sparse_.end() ? nullptr : it->second;
  }
  // Every kind that was announced, in that order; never shrinks.
  const std::deque<CountedKind>& kinds() const { return kinds_; }
  CountedKind& kind(size_t i) { return kinds_[i]; }

 private:
  Status Add(uint32_t id, CountedKind kind, uint64_t offset);

  std::deque<CountedKind> kinds_;
  std::vector<CountedKind*> dense_;  // small ids
  std::unordered_map<uint32_t, CountedKind*> sparse_;
};

}  // namespace clrscope::nettrace
