// SPDX-License-Identifier: Apache-2.0
#include "export/html.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "export/html_data.h"

#ifndef CLRSCOPE_WEB_OFF
// The viewer, put there by cmake/embed.cmake: a document with two marks to fill in.
extern "C" const char clrscope_report_html[];
extern "C" const char clrscope_report_html_end[];
#endif

namespace clrscope::exporter {
namespace {

constexpr std::string_view kTitleMark = "<!--clrscope:title-->";
constexpr std::string_view kDataMark = "<!--clrscope:data-->";
constexpr uint32_t kFewestNodes = 64;

#ifdef CLRSCOPE_WEB_OFF
std::string_view Template() { return {}; }
#else
std::string_view Template() {
  return {clrscope_report_html,
          static_cast<size_t>(clrscope_report_html_end - clrscope_report_html)};
}
#endif

Result<std::string> Deflate(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int rc =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 6);
  if (rc != Z_OK) return Error{ErrorCode::kFailed, "zlib could not compress the HTML page's data"};
  out.resize(size);
  return out;
}

// Whole groups of three bytes make up each piece, so the pieces join into one base64 text.
Status WriteBase64(std::string_view bytes, ByteSink& sink) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr size_t kPiece = 3 * 16384;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::string_view piece = bytes.substr(at, kPiece);
    text.clear();
    for (size_t i = 0; i < piece.size(); i += 3) {
      const size_t n = std::min<size_t>(3, piece.size() - i);
      uint32_t group = 0;
      for (size_t b = 0; b < 3; ++b) {
        group = group << 8 | (b < n ? static_cast<uint8_t>(piece[i + b]) : 0u);
      }
      for (size_t d = 0; d < 4; ++d) {
        text += d <= n ? kDigits[group >> (18 - 6 * d) & 63] : '=';
      }
    }
    RETURN_IF_ERROR(sink.Write(text));
  }
  return OkStatus();
}

// Text for an HTML title: markup escaped, control characters dropped.
std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) out += c;
    }
  }
  return out;
}

// "orders (4711)", "orders (4711) and 3 more", "allocations"
std::string Title(const profile::Profile& p) {
  if (p.processes.empty()) return "allocations";
  const profile::Process& first = p.processes.front();
  std::string_view name = p.str(first.name);
  if (name.empty()) name = p.str(first.main_module);
  std::string title = name.empty() ? std::string("process") : std::string(name);
  if (first.pid != 0) title += " (" + std::to_string(first.pid) + ")";
  if (p.processes.size() > 1) title += " and " + std::to_string(p.processes.size() - 1) + " more";
  return title;
}

// Prunes until the compressed page fits; the last try is taken as it is.
Result<std::string> PackToFit(const profile::Profile& p, const HtmlOptions& options,
                              size_t viewer_bytes) {
  uint32_t nodes = std::max(options.max_nodes, 2u);
  const double room =
      static_cast<double>(options.max_bytes > viewer_bytes ? options.max_bytes - viewer_bytes : 0) *
      3 / 4;
  for (;;) {
    ASSIGN_OR_RETURN(std::string packed, Deflate(PackPage(p, PrunePage(p, nodes))));
    const auto size = static_cast<double>(packed.size());
    if (size <= room || nodes <= kFewestNodes) return packed;
    const double share = std::clamp(room / size * 0.9, 0.05, 0.8);
    nodes = std::max(kFewestNodes, static_cast<uint32_t>(nodes * share));
  }
}

}  // namespace

Status WriteHtml(const profile::Profile& profile, const HtmlOptions& options, ByteSink& sink) {
  const std::string_view page = Template();
  if (page.empty()) {
    return Error{ErrorCode::kFailed,
                 "this clrscope was built without its web page (-DCLRSCOPE_WEB=off); convert to "
                 ".speedscope.json or .pb.gz instead"};
  }
  const size_t title = page.find(kTitleMark);
  const size_t data = page.find(kDataMark);
  CHECK(title < data && data != std::string_view::npos);
  ASSIGN_OR_RETURN(const std::string packed, PackToFit(profile, options, page.size()));

  const size_t after_title = title + kTitleMark.size();
  RETURN_IF_ERROR(sink.Write(page.substr(0, title)));
  RETURN_IF_ERROR(sink.Write(EscapeHtml(Title(profile))));
  RETURN_IF_ERROR(sink.Write(page.substr(after_title, data - after_title)));
  RETURN_IF_ERROR(WriteBase64(packed, sink));
  return sink.Write(page.substr(data + kDataMark.size()));
}

}  // namespace clrscope::exporter
