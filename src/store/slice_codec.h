// SPDX-License-Identifier: Apache-2.0
// A time slice as a blob and back. The layout is described in docs/capture-format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profile/interval/interval_frame.h"
#include "profile/tables/series.h"
#include "profile/tables/slice.h"

namespace clrscope::store {

std::string EncodeSlice(const profile::Slice& slice, const profile::SeriesTable& series);

// Fills `slice.rows` and `slice.threads`; rows that refer to unknown series are an error.
Status DecodeSlice(Bytes blob, const profile::SeriesTable& series, profile::Slice& slice);

// SeriesKey::attributes as a file of schema `version` stores them: version 1 had two bits for the
// source. No value: they are damaged, or of a source that nobody knows.
std::optional<uint16_t> SeriesAttributes(uint64_t stored, int64_t version);

// Appends the entries of a dictionary blob of kind "series". Nodes and types are not looked at.
Status DecodeSeries(Bytes blob, uint64_t count, profile::SeriesTable& series);

// A blob of the tables agent_interval and agent_dictionary: a frame of the agent.
Result<profile::IntervalFrame> DecodeIntervalBlob(Bytes blob);

}  // namespace clrscope::store
