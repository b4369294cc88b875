// SPDX-License-Identifier: Apache-2.0
// What a text in a path could be, as .NET parses it in the invariant culture.
// Source: dotnet/aspnetcore src/Http/Routing/src/Constraints/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace clrscope::analysis {

// Int64.TryParse with NumberStyles.Integer: a sign, and white space around it.
std::optional<int64_t> ParseInteger(std::string_view text);
// Guid.TryParse: 32 digits, with hyphens or without, in braces or in parentheses. Not "{0x…".
bool IsGuid(std::string_view text);
// Boolean.TryParse.
bool IsBoolean(std::string_view text);
// Decimal.TryParse with NumberStyles.Number. Not whether it is in its range.
bool IsDecimal(std::string_view text);
// Double.TryParse with NumberStyles.Float and thousands.
bool IsFloat(std::string_view text);
// A name with an extension, as static files have.
bool IsFileName(std::string_view text);
// Whether it could be a date: DateTime.TryParse takes far too much to follow it.
bool CouldBeDate(std::string_view text);

char LowerAscii(char c);
bool EqualWithoutCase(std::string_view a, std::string_view b);  // ASCII's case
// What .NET counts as a string's length.
size_t Utf16Units(std::string_view utf8);

}  // namespace clrscope::analysis
