// SPDX-License-Identifier: Apache-2.0
// What every HTML page of ours is made of: a bundled viewer with two marks, a title, and data that
// rides along as base64 of a zlib stream.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/result.h"

namespace clrscope::exporter {

// A zlib stream. errors: kFailed
Result<std::string> Deflate(std::string_view bytes);
// `page` holds "<!--clrscope:title-->" and, after it, "<!--clrscope:data-->". errors: the sink's;
// kFailed when `page` is empty, as it is without the web pages (-DCLRSCOPE_WEB=off)
Status WriteHtmlPage(std::string_view page, std::string_view title, std::string_view deflated,
                     ByteSink& sink);

}  // namespace clrscope::exporter
