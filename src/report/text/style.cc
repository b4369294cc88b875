// SPDX-License-Identifier: Apache-2.0
#include "report/text/style.h"

namespace clrscope::report {

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out.append(code).append("m").append(text).append("\x1b[0m");
  return out;
}

}  // namespace clrscope::report
