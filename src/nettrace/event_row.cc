// SPDX-License-Identifier: Apache-2.0
#include "nettrace/event_row.h"

#include <cstring>

namespace clrscope::nettrace {

std::byte* EventRow::Own(std::byte* to) {
  uint32_t ids[2] = {activity_back, related_back};
  uint32_t at = 0;
  for (uint32_t& back : ids) {
    if (back == 0) continue;
    std::memcpy(to + at, payload - back, sizeof(clr::ActivityId));
    back = at;  // from the front for now
    at += sizeof(clr::ActivityId);
  }
  if (payload_size != 0) std::memcpy(to + at, payload, payload_size);
  if (activity_back != 0) activity_back = at - ids[0];
  if (related_back != 0) related_back = at - ids[1];
  payload = to + at;
  return to + at + payload_size;
}

}  // namespace clrscope::nettrace
