// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/request_path.h"

#include <algorithm>
#include <cstdint>

#include "analysis/families/requests/value_kinds.h"

namespace clrscope::analysis {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that is escaped at `at`, or -1.
int EscapedByte(std::string_view text, size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') return -1;
  const int high = HexDigit(text[at + 1]), low = HexDigit(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

constexpr size_t kShapeSegments = 8, kShapeBytes = 128, kLongSegment = 32;
constexpr std::string_view kMore = "…";

// The bytes of the well-formed character at the beginning of `text`, 0 for none. Sources: Unicode,
// table 3-7.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned b = byte(0), next = byte(1);
  if (b < 0x80) return 1;
  const size_t size = b >= 0xC2 && b <= 0xDF   ? 2
                      : (b >> 4) == 0xE        ? 3
                      : b >= 0xF0 && b <= 0xF4 ? 4
                                               : 0;
  if (size == 0 || (b == 0xE0 && next < 0xA0) || (b == 0xED && next > 0x9F) ||
      (b == 0xF0 && next < 0x90) || (b == 0xF4 && next > 0x8F))
    return 0;
  for (size_t i = 1; i < size; ++i)
    if (byte(i) >> 6 != 2) return 0;
  return size;
}

// Whether the character does something to the text around it: controls, line and paragraph ends,
// changes of direction, a byte order mark.
bool IsUnprintable(std::string_view c) {
  const auto byte = [&c](size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (c.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (c.size() != 3) return false;
  const uint32_t code = (byte(0) & 0xFu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || code >= 0xFFFE;
}

// False when there is no room left.
bool AppendPrintable(std::string& out, std::string_view text, size_t most) {
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    std::string_view c = text.substr(0, std::max<size_t>(bytes, 1));
    text.remove_prefix(c.size());
    if (bytes == 0 || IsUnprintable(c)) c = "\uFFFD";
    if (out.size() + c.size() > most) return false;
    out += c;
  }
  return true;
}

bool LooksLikeValue(std::string_view segment) {
  if (segment.size() > kLongSegment || IsGuid(segment)) return true;
  size_t digits = 0, hex = 0, upper = 0, lower = 0, dated = 0, escapes = 0, word = 0;
  for (size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const bool digit = c >= '0' && c <= '9';
    digits += digit ? 1u : 0u;
    hex += HexDigit(c) >= 0 ? 1u : 0u;
    upper += c >= 'A' && c <= 'Z' ? 1u : 0u;
    lower += c >= 'a' && c <= 'z' ? 1u : 0u;
    dated += digit || std::string_view("-+_.:,TZ").find(c) != std::string_view::npos ? 1u : 0u;
    word += c == '_' || c == '-' || c == '=' ? 1u : 0u;
    escapes += EscapedByte(segment, i) >= 0 ? 1u : 0u;
  }
  const size_t size = segment.size();
  if (digits == 0) return 3 * escapes * 2 > size;
  constexpr size_t kLongHex = 12, kToken = 16, kDateDigits = 6;
  return digits == size || (size > 1 && segment[0] == '-' && digits == size - 1) ||
         (hex == size && size >= kLongHex) || (dated == size && digits >= kDateDigits) ||
         (size >= kToken && upper > 0 && lower > 0 && digits + upper + lower + word == size) ||
         3 * escapes * 2 > size;
}

}  // namespace

RequestPath::RequestPath(std::string_view path) : text_(path) {
  if (path.find('%') != path.npos && path.size() <= unescaped_.size()) {
    size_t size = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      // A slash that a client escaped is no separator: the server leaves it as it is.
      const int byte = EscapedByte(path, i);
      const bool plain = byte < 0 || byte == '/';
      unescaped_[size++] = plain ? path[i] : static_cast<char>(static_cast<unsigned char>(byte));
      if (!plain) i += 2;
    }
    text_ = std::string_view(unescaped_.data(), size);
  }
  size_t at = text_.starts_with('/') ? 1u : 0u;
  while (at < text_.size() && size_ < kMostSegments) {
    const size_t slash = std::min(text_.find('/', at), text_.size());
    segments_[size_++] = text_.substr(at, slash - at);
    at = slash + 1;
  }
}

std::string PathShape(std::string_view path) {
  std::string out;
  size_t segments = 0;
  for (size_t at = 0; at < path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, slash - at);
    at = slash + 1;
    if (segment.empty()) continue;
    const size_t before = out.size();
    out += '/';
    // What is left out leaves room for its sign.
    constexpr size_t kRoom = kShapeBytes - kMore.size() - 1;
    if (segments++ == kShapeSegments || before > kRoom ||
        !AppendPrintable(out, LooksLikeValue(segment) ? "{}" : segment, kRoom)) {
      out.resize(before + 1);
      out += kMore;
      break;
    }
  }
  return out.empty() ? "/" : out;
}

}  // namespace clrscope::analysis
