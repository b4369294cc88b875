// SPDX-License-Identifier: Apache-2.0
// JSON as text, without a library: the reader process is to be small.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clrscope::dac {

class JsonText {
 public:
  JsonText& Open(std::string_view name = {});  // an object
  JsonText& OpenList(std::string_view name = {});
  JsonText& Close();
  JsonText& Add(std::string_view name, uint64_t value);
  JsonText& Add(std::string_view name, std::string_view value);
  std::string_view text() const { return text_; }

 private:
  void Begin(std::string_view name);
  void Quote(std::string_view value);

  std::string text_, closers_;
  bool first_ = true;
};

}  // namespace clrscope::dac
