// SPDX-License-Identifier: Apache-2.0
// Decodes payloads for tests as events of any tag and version.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>

#include "clr/raw_event.h"

namespace clrscope::nettrace::testing {

// Decodes `payload` as the event of `tag` in `version`.
template <class Record>
bool DecodeAs(clr::EventTag tag, uint32_t version, const std::string& payload, Record& out,
              uint8_t pointer_size = 8) {
  // Texts of a record are views into its payload.
  static std::deque<std::string> kept;
  kept.push_back(payload);
  clr::EventKind kind;
  kind.tag = tag;
  kind.version = version;
  clr::RawEvent e;
  e.kind = &kind;
  e.payload = AsBytes(kept.back().data(), payload.size());
  e.pointer_size = pointer_size;
  return Decode(e, out);
}

// A longer payload decodes like `payload`; every shorter one than `needed` does not.
template <class Record>
void ExpectTailAndTruncation(clr::EventTag tag, uint32_t version, const std::string& payload,
                             size_t needed, uint8_t pointer_size = 8) {
  Record r;
  EXPECT_TRUE(DecodeAs(tag, version, payload + "a newer field", r, pointer_size)) << "V" << version;
  EXPECT_TRUE(DecodeAs(tag, version + 1, payload + std::string(64, '\0'), r, pointer_size))
      << "V" << version + 1;
  for (size_t n = 0; n < needed; ++n)
    EXPECT_FALSE(DecodeAs(tag, version, payload.substr(0, n), r, pointer_size))
        << "V" << version << " of " << n;
  EXPECT_TRUE(DecodeAs(tag, version, payload.substr(0, needed), r, pointer_size));
}

}  // namespace clrscope::nettrace::testing
