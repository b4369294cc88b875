// SPDX-License-Identifier: Apache-2.0
// Folded stacks, one line each: what flamegraph.pl and many other tools read.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_sink.h"
#include "base/result.h"
#include "profile/profile.h"

namespace clrscope::exporter {

enum class FoldedWeight : uint8_t { kAmount, kCount, kSamples };

struct FoldedOptions {
  bool keep_machinery = false;           // keep async and thread-pool plumbing
  std::optional<FoldedWeight> weight{};  // none: the measure's first quantity
};

// Streams `root;…;leaf;type weight` lines of the figure that is shown (measures without types:
// `root;…;leaf weight`), depth first, the heaviest subtree first. With several
// processes the process comes first. Within a name `;` becomes `,` and a line break a space. Bytes
// and objects are whole numbers that sum to the rounded total; lines of weight 0 are left out.
// Objects fail with kUsage when the profile does not know them. Does not finish `sink`.
//
// Source: github.com/brendangregg/FlameGraph, stackcollapse-*.pl
Status WriteFolded(const profile::Profile& profile, const FoldedOptions& options, ByteSink& sink);

}  // namespace clrscope::exporter
