// SPDX-License-Identifier: Apache-2.0
// A row of an EventBlock or MetadataBlock as it is decoded, and what decides about its turn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clr/raw_event.h"

namespace clrscope::nettrace {

// What is kept of a row while it waits for its turn.
struct EventRow {
  int64_t time = 0;  // ticks
  const std::byte* payload = nullptr;
  uint64_t thread = 0;  // V6: index into the thread table
  uint32_t payload_size = 0;
  uint32_t metadata_id = 0;
  uint32_t stack_id = 0;
  uint32_t label_list = 0;  // V6; 0 = none
  // V4, V5: how many bytes before the payload the id lies, perhaps in an earlier row; 0 = none.
  uint32_t activity_back = 0;
  uint32_t related_back = 0;

  const clr::ActivityId* activity() const { return Guid(activity_back); }
  const clr::ActivityId* related_activity() const { return Guid(related_back); }

  // Copies payload and ids to `to`, refers to the copy from now on, and returns where that ends.
  size_t owned_bytes() const { return kOwnedIds + payload_size; }  // at most
  std::byte* Own(std::byte* to);

 private:
  static constexpr size_t kOwnedIds = 2 * sizeof(clr::ActivityId);
  const clr::ActivityId* Guid(uint32_t back) const {
    // An array of bytes: no alignment.
    return back == 0 ? nullptr : reinterpret_cast<const clr::ActivityId*>(payload - back);
  }
};

// What decides about a row's turn.
struct RowOrder {
  uint64_t capture_thread = 0;  // V6: index into the thread table
  uint32_t sequence = 0;
  bool sorted = false;  // nothing later in the stream is older
  // The row before it in the block is of the same thread, and no number is missing between them.
  bool follows = false;
  // It is about the thread that captured it, and of no activity.
  bool plain = false;
};

}  // namespace clrscope::nettrace
