// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/value_kinds.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace clrscope::analysis {
namespace {

constexpr std::string_view kWhite = " \t\n\v\f\r";

std::string_view TrimWhite(std::string_view text) {
  const size_t from = text.find_first_not_of(kWhite);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kWhite) - from + 1);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (LowerAscii(c) >= 'a' && LowerAscii(c) <= 'f'); }
bool IsSign(char c) { return c == '+' || c == '-'; }

bool TakeSign(std::string_view& text) {
  if (text.empty() || !IsSign(text[0])) return false;
  text.remove_prefix(1);
  return true;
}

bool IsNumber(std::string_view text, bool exponent, bool sign_at_end) {
  text = TrimWhite(text);
  const bool sign = TakeSign(text);
  size_t i = 0, digits = 0;
  for (; i < text.size() && (IsDigit(text[i]) || (text[i] == ',' && digits > 0)); ++i)
    digits += IsDigit(text[i]) ? 1u : 0u;
  if (i < text.size() && text[i] == '.')
    for (++i; i < text.size() && IsDigit(text[i]); ++i) ++digits;
  if (digits == 0) return false;
  text.remove_prefix(i);
  if (exponent && !text.empty() && LowerAscii(text[0]) == 'e') {
    text.remove_prefix(1);
    TakeSign(text);
    const size_t from = text.size();
    while (!text.empty() && IsDigit(text[0])) text.remove_prefix(1);
    if (text.size() == from) return false;
  }
  return text.empty() || (sign_at_end && !sign && text.size() == 1 && IsSign(text[0]));
}

}  // namespace

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         (a == b || std::equal(a.begin(), a.end(), b.begin(),
                               [](char x, char y) { return LowerAscii(x) == LowerAscii(y); }));
}

size_t Utf16Units(std::string_view utf8) {
  size_t units = 0;
  for (const char c : utf8) {
    const auto b = static_cast<unsigned char>(c);
    units += (b & 0xC0) != 0x80 ? 1 : 0;
    units += b >= 0xF0 ? 1 : 0;
  }
  return units;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  text = TrimWhite(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsGuid(std::string_view text) {
  text = TrimWhite(text);
  if (text.size() == 38 &&
      ((text.front() == '{' && text.back() == '}') || (text.front() == '(' && text.back() == ')')))
    text = text.substr(1, 36);
  if (text.size() == 32) return std::all_of(text.begin(), text.end(), IsHex);
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !IsHex(text[i])) return false;
  return true;
}

bool IsBoolean(std::string_view text) {
  text = TrimWhite(text);
  return EqualWithoutCase(text, "true") || EqualWithoutCase(text, "false");
}

bool IsDecimal(std::string_view text) { return IsNumber(text, false, true); }

bool IsFloat(std::string_view text) {
  if (IsNumber(text, true, false)) return true;
  text = TrimWhite(text);
  TakeSign(text);
  return EqualWithoutCase(text, "Infinity") || EqualWithoutCase(text, "NaN") || text == "∞";
}

bool IsFileName(std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash != text.npos) text.remove_prefix(slash + 1);
  const size_t dot = text.find('.');
  return dot != text.npos && text.find_first_not_of('.', dot) != text.npos;
}

bool CouldBeDate(std::string_view text) {
  bool digit = false;
  for (const char c : text) {
    digit = digit || IsDigit(c);
    const char lower = LowerAscii(c);
    const bool letter = lower >= 'a' && lower <= 'z';
    if (!IsDigit(c) && !letter && std::string_view("-+/.,:; ").find(c) == std::string_view::npos)
      return false;
  }
  return digit;
}

}  // namespace clrscope::analysis
