// SPDX-License-Identifier: Apache-2.0
#include "export/html.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "export/html_data.h"
#include "export/html_lines.h"
#include "export/html_page.h"

#ifndef CLRSCOPE_WEB_OFF
// The viewer, put there by cmake/embed.cmake: a document with two marks to fill in.
extern "C" const char clrscope_report_html[];
extern "C" const char clrscope_report_html_end[];
#endif

namespace clrscope::exporter {
namespace {

constexpr uint32_t kFewestNodes = 64;

#ifdef CLRSCOPE_WEB_OFF
std::string_view ReportViewer() { return {}; }
#else
std::string_view ReportViewer() {
  return {clrscope_report_html,
          static_cast<size_t>(clrscope_report_html_end - clrscope_report_html)};
}
#endif

// "orders (4711)", "orders (4711) and 3 more", "allocations"
std::string ReportTitle(const profile::Profile& p) {
  if (p.processes.empty()) return std::string(p.shown().spec().title);
  const profile::Process& first = p.processes.front();
  std::string_view name = p.str(first.name);
  if (name.empty()) name = p.str(first.main_module);
  std::string title = name.empty() ? std::string("process") : std::string(name);
  if (first.pid != 0) title += " (" + std::to_string(first.pid) + ")";
  if (p.processes.size() > 1) title += " and " + std::to_string(p.processes.size() - 1) + " more";
  return title;
}

// Prunes until the compressed page fits; the last try is taken as it is.
Result<std::string> PackToFit(const profile::Profile& p, const HtmlOptions& options,
                              size_t viewer_bytes) {
  uint32_t nodes = std::max(options.max_nodes, 2u);
  const double room =
      static_cast<double>(options.max_bytes > viewer_bytes ? options.max_bytes - viewer_bytes : 0) *
      3 / 4;
  PageTexts texts(options.source_text,
                  std::min(options.max_source_bytes, static_cast<uint64_t>(room / 2)));
  for (;;) {
    ASSIGN_OR_RETURN(std::string packed,
                     Deflate(PackPage(p, PrunePage(p, nodes, options.only_shown), texts)));
    const auto size = static_cast<double>(packed.size());
    if (size <= room || nodes <= kFewestNodes) return packed;
    const double share = std::clamp(room / size * 0.9, 0.05, 0.8);
    nodes = std::max(kFewestNodes, static_cast<uint32_t>(nodes * share));
  }
}

}  // namespace

bool HasWebPage() { return !ReportViewer().empty(); }

Status WriteHtml(const profile::Profile& profile, const HtmlOptions& options, ByteSink& sink) {
  const std::string_view page = ReportViewer();
  ASSIGN_OR_RETURN(const std::string packed, PackToFit(profile, options, page.size()));
  return WriteHtmlPage(page, ReportTitle(profile), packed, sink);
}

}  // namespace clrscope::exporter
