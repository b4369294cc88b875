// SPDX-License-Identifier: Apache-2.0
// An IntervalFrame as bytes and back: what goes over the agent's socket.
//
// Layout, little-endian: u32 magic, u16 version, u16 0, then sections of varint tag, varint length
// and as many bytes. A reader skips sections whose tag it does not know and, in those that it
// knows, what follows the fields that it knows, so that a newer agent may add to both; what it may
// not is to change what is there: for that the version rises.
#pragma once

#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/interval/interval_frame.h"

namespace clrscope::profile {

inline constexpr uint32_t kIntervalMagic = 0x46524C43;  // "CLRF"

std::string EncodeInterval(const IntervalFrame& frame);

// Errors: kTruncated, kCorrupt with the byte offset, kFailed for a version that is newer. Ids of
// nodes, methods and types that were sent by an earlier frame cannot be checked here; those that
// are beyond this frame's dictionaries are an error.
Result<IntervalFrame> DecodeInterval(Bytes bytes);

}  // namespace clrscope::profile
