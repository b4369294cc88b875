// SPDX-License-Identifier: Apache-2.0
// Any bytes as the texts of requests: lines that are templates ("GET /items/{id}"), paths and tags
// of the histogram, through everything that reads them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/families/requests/request_path.h"
#include "analysis/families/requests/route_matcher.h"
#include "clr/metric_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  analysis::RouteMatcher matcher;
  // Twice: what is learned below a path is tried with it, too.
  for (int round = 0; round < 2; ++round) {
    for (std::string_view rest = all; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
      const clr::RequestTags tags = clr::ParseRequestTags(line);
      if (clr::ParseQuantiles(line).size > clr::Quantiles::kMost) std::abort();
      const size_t space = line.find(' ');
      const std::string_view method = line.substr(0, space);
      const std::string_view text = space == line.npos ? line : line.substr(space + 1);
      const auto found = matcher.FindWithBase(method, text);
      if (found && found.index >= matcher.size()) std::abort();
      (void)matcher.Find(method, text, 1);
      const analysis::ActionValues values = analysis::ParseActionValues(text);
      matcher.Learn(method, text, values.action.empty() ? nullptr : &values);
      if (analysis::PathShape(text).size() > 128) std::abort();
      (void)matcher.Add(method, text);
      if (tags.has_route) (void)matcher.Add(tags.method, tags.route);
    }
  }
  return 0;
}
