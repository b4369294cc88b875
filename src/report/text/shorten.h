// SPDX-License-Identifier: Apache-2.0
// Long .NET names in little room: what tells most is kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clrscope::report {

// Columns of a terminal that UTF-8 `text` takes; every character counts one.
size_t DisplayWidth(std::string_view text);

// `name` in at most `width` columns. First the namespaces of type arguments go, then those in front
// ("…Generic.List<string>.Add"), then the middle ("…Dictionary<…>.FindValue").
std::string ShortenName(std::string_view name, size_t width);

// Cuts the middle out: "/usr/share/…/Foo.dll".
std::string ShortenMiddle(std::string_view text, size_t width);

// Without control characters, so that no name can steer the terminal.
std::string Printable(std::string_view text);

}  // namespace clrscope::report
