// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/action_verdicts.h"

#include <fmt/format.h>

#include <algorithm>

namespace clrscope::analysis {

ActionValues ParseActionValues(std::string_view text) {
  ActionValues out;
  const auto value = [text](std::string_view name) -> std::string {
    const std::string begin = fmt::format("[{}, ", name);
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
      if (at != 0 && !text.substr(0, at).ends_with("],")) continue;
      const size_t from = at + begin.size();
      // A value may have brackets.
      const size_t end = std::min(text.find("],[", from), text.rfind(']'));
      if (end != text.npos && end >= from) return std::string(text.substr(from, end - from));
    }
    return {};
  };
  out.area = value("area");
  out.controller = value("controller");
  out.action = value("action");
  return out;
}

Fit ActionVerdicts::Of(uint32_t index, std::string_view key) const {
  const auto keys = by_template_.find(index);
  if (keys == by_template_.end()) return Fit::kMaybe;
  const auto known = keys->second.find(key);
  if (known == keys->second.end()) return Fit::kMaybe;
  return known->second ? Fit::kYes : Fit::kNo;
}

void ActionVerdicts::Learn(uint32_t index, std::string_view key, bool exists) {
  if (key.empty()) return;
  Keys& keys = by_template_[index];
  if (const auto known = keys.find(key); known != keys.end()) {
    // What exists does so whatever else is told: a request may have been refused before.
    known->second = known->second || exists;
  } else if (size_ < kMost) {
    ++size_;
    keys.emplace(key, exists);
  }
}

}  // namespace clrscope::analysis
