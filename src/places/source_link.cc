// SPDX-License-Identifier: Apache-2.0
#include "places/source_link.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace clrscope::places {
namespace {

bool SameLetter(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b);
}

// Patterns are compared without case, as they are on Windows.
bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), SameLetter);
}

// What stands for the "*" of a path, as a part of an address.
std::string Escaped(std::string_view rest) {
  std::string out;
  for (const char c : rest) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (c == '\\') {
      out += '/';
    } else if (plain) {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[static_cast<uint8_t>(c) >> 4];
      out += "0123456789ABCDEF"[static_cast<uint8_t>(c) & 15];
    }
  }
  return out;
}

}  // namespace

SourceLink::SourceLink(std::string_view json) {
  const auto document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_object()) return;
  const auto documents = document.find("documents");
  if (documents == document.end() || !documents->is_object()) return;
  for (const auto& [pattern, url] : documents->items())
    if (url.is_string()) links_.emplace_back(pattern, url.get<std::string>());
  std::stable_sort(links_.begin(), links_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string SourceLink::UrlOf(std::string_view path) const {
  for (const auto& [pattern, url] : links_) {
    if (!url.starts_with("https://") && !url.starts_with("http://")) continue;
    if (!pattern.ends_with('*')) {
      if (pattern.size() == path.size() && StartsWith(path, pattern)) return url;
      continue;
    }
    const std::string_view prefix = std::string_view(pattern).substr(0, pattern.size() - 1);
    if (!StartsWith(path, prefix)) continue;
    const size_t star = url.find('*');
    if (star == std::string::npos) return url;
    return url.substr(0, star) + Escaped(path.substr(prefix.size())) + url.substr(star + 1);
  }
  return {};
}

}  // namespace clrscope::places
