// SPDX-License-Identifier: Apache-2.0
#include "dac/json_text.h"

namespace clrscope::dac {

void JsonText::Quote(std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonText::Begin(std::string_view name) {
  if (!first_) text_ += ',';
  first_ = false;
  if (name.empty()) return;
  Quote(name);
  text_ += ':';
}

JsonText& JsonText::Open(std::string_view name) {
  Begin(name);
  text_ += '{';
  closers_ += '}';
  first_ = true;
  return *this;
}

JsonText& JsonText::OpenList(std::string_view name) {
  Begin(name);
  text_ += '[';
  closers_ += ']';
  first_ = true;
  return *this;
}

JsonText& JsonText::Close() {
  text_ += closers_.back();
  closers_.pop_back();
  first_ = false;
  return *this;
}

JsonText& JsonText::Add(std::string_view name, uint64_t value) {
  Begin(name);
  text_ += std::to_string(value);
  return *this;
}

JsonText& JsonText::Add(std::string_view name, std::string_view value) {
  Begin(name);
  Quote(value);
  return *this;
}

}  // namespace clrscope::dac
