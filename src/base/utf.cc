// SPDX-License-Identifier: Apache-2.0
#include "base/utf.h"

#include <cstdint>

namespace clrscope {
namespace {

void AppendCodePoint(std::string& out, uint32_t c) {
  const auto push = [&out](uint32_t b) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(b)));
  };
  if (c < 0x80) {
    push(c);
  } else if (c < 0x800) {
    push(0xC0 | (c >> 6));
    push(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    push(0xE0 | (c >> 12));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  } else {
    push(0xF0 | (c >> 18));
    push(0x80 | ((c >> 12) & 0x3F));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  }
}

constexpr uint32_t kReplacement = 0xFFFD;

}  // namespace

void AppendUtf8(std::string& out, Utf16View text) {
  // Nearly every name is ASCII to its end.
  const size_t before = out.size();
  out.resize(before + text.units);
  char* to = out.data() + before;
  size_t i = 0;
  for (; i < text.units && text[i] < 0x80; ++i) to[i] = static_cast<char>(text[i]);
  out.resize(before + i);
  for (; i < text.units; ++i) {
    const uint32_t c = text[i];
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else if (c >= 0xD800 && c < 0xDC00 && i + 1 < text.units &&
               (text[i + 1] & 0xFC00) == 0xDC00) {
      AppendCodePoint(out, 0x10000 + ((c & 0x3FF) << 10) + (text[i + 1] & 0x3FFu));
      ++i;
    } else {
      AppendCodePoint(out, (c & 0xF800) == 0xD800 ? kReplacement : c);
    }
  }
}

std::string ToUtf8(Utf16View text) {
  std::string out;
  out.reserve(text.units);
  AppendUtf8(out, text);
  return out;
}

std::u16string ToUtf16(std::string_view text) {
  std::u16string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) {
      return static_cast<uint32_t>(static_cast<unsigned char>(text[k]));
    };
    const uint32_t b = byte(i);
    const size_t len = b < 0x80         ? 1
                       : (b >> 5) == 6  ? 2
                       : (b >> 4) == 14 ? 3
                       : (b >> 3) == 30 ? 4
                                        : 0;
    uint32_t c = len == 1 ? b : len == 0 ? kReplacement : b & (0x7Fu >> len);
    bool good = len != 0 && i + len <= text.size();
    for (size_t k = 1; good && k < len; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) good = false;
      c = (c << 6) | (byte(i + k) & 0x3F);
    }
    if (!good || c > 0x10FFFF) {
      out.push_back(static_cast<char16_t>(kReplacement));
      ++i;
      continue;
    }
    if (c >= 0x10000) {
      out.push_back(static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10)));
      out.push_back(static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF)));
    } else {
      out.push_back(static_cast<char16_t>(c));
    }
    i += len;
  }
  return out;
}

}  // namespace clrscope
