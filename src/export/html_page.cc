// SPDX-License-Identifier: Apache-2.0
#include "export/html_page.h"

#include <zlib.h>

#include <algorithm>

namespace clrscope::exporter {
namespace {

constexpr std::string_view kTitleMark = "<!--clrscope:title-->";
constexpr std::string_view kDataMark = "<!--clrscope:data-->";

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

}  // namespace

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

Status WriteHtmlPage(std::string_view page, std::string_view title, std::string_view deflated,
                     ByteSink& sink) {
  if (page.empty()) {
    return Error{ErrorCode::kFailed,
                 "this clrscope was built without its web page (-DCLRSCOPE_WEB=off); choose "
                 "another format instead"};
  }
  const size_t title_at = page.find(kTitleMark);
  const size_t data_at = page.find(kDataMark);
  CHECK(title_at < data_at && data_at != std::string_view::npos);
  const size_t after_title = title_at + kTitleMark.size();
  RETURN_IF_ERROR(sink.Write(page.substr(0, title_at)));
  RETURN_IF_ERROR(sink.Write(EscapeHtml(title)));
  RETURN_IF_ERROR(sink.Write(page.substr(after_title, data_at - after_title)));
  RETURN_IF_ERROR(WriteBase64(deflated, sink));
  return sink.Write(page.substr(data_at + kDataMark.size()));
}

}  // namespace clrscope::exporter
