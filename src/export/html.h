// SPDX-License-Identifier: Apache-2.0
// Profile → one self-contained HTML page with an icicle, tables and a time strip.
#pragma once

#include <cstdint>

#include "base/byte_sink.h"
#include "base/result.h"
#include "export/source_text.h"
#include "profile/profile.h"

namespace clrscope::exporter {

struct HtmlOptions {
  // Most stack nodes in the page, the (other) nodes included. The lightest subtrees are folded into
  // (other), so that every total stays what it was.
  uint32_t max_nodes = 150'000;
  // The page is pruned further until it is at most this many bytes; a page that cannot be made that
  // small (the viewer alone is about 120 KB) is written as small as it gets.
  uint64_t max_bytes = 10'000'000;
  // Of the texts of source files as much goes into the page, before it is compressed; the files
  // that matter most come first, and the page says which others it lacks.
  uint64_t max_source_bytes = 2'000'000;
  bool only_shown = false;  // no view of another measure than the one that is shown
  SourceTextOf source_text{};
};

// Writes a UTF-8 HTML document to `sink`, which the caller finishes. The page needs no network: the
// viewer is inlined, a content security policy forbids everything else, and the profile rides along
// as base64 of a zlib stream. Fails with kFailed when clrscope was built without the viewer
// (-DCLRSCOPE_WEB=off), or with what the sink says; never because the profile is empty or large.
Status WriteHtml(const profile::Profile& profile, const HtmlOptions& options, ByteSink& sink);

// False in a build without the viewer.
bool HasWebPage();

}  // namespace clrscope::exporter
