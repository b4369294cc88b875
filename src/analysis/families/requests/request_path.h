// SPDX-License-Identifier: Apache-2.0
// A request's path as ASP.NET Core's routing sees it: unescaped, in segments.
// Source: dotnet/aspnetcore src/Http/Routing/src/Matching/FastPathTokenizer.cs.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace clrscope::analysis {

class RequestPath {
 public:
  // Templates have at most 28 segments.
  static constexpr size_t kMostSegments = 32;
  // A longer path is matched as it is escaped; a server takes 8 KB in all.
  static constexpr size_t kMostUnescaped = 4096;

  // `path`: clr::RequestStart::path as UTF-8, which must live as long as this.
  explicit RequestPath(std::string_view path);
  RequestPath(const RequestPath&) = delete;
  RequestPath& operator=(const RequestPath&) = delete;

  // Segments; of a path that has more than kMostSegments, so many. A slash at the end begins none.
  size_t size() const { return size_; }
  std::string_view operator[](size_t i) const { return segments_[i]; }
  // From the segment `i` to the end, with slashes. `i` is less than size().
  std::string_view From(size_t i) const {
    return text_.substr(static_cast<size_t>(segments_[i].data() - text_.data()));
  }

 private:
  std::string_view text_;
  size_t size_ = 0;
  std::array<std::string_view, kMostSegments> segments_;
  std::array<char, kMostUnescaped> unescaped_;  // only if there is something to unescape
};

// A name for the paths like this one, where no template is known: "/items/{}/parts". Segments that
// look like values (numbers, GUIDs, hexadecimal, dates, tokens, long or much escaped ones) are {},
// those after the eighth are one "…". UTF-8 that can be printed, at most 128 bytes.
std::string PathShape(std::string_view path);

}  // namespace clrscope::analysis
