// SPDX-License-Identifier: Apache-2.0
// One row per format.
#include "export/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "export/gzip_sink.h"
#include "export/html.h"
#include "export/pprof.h"
#include "export/speedscope.h"

namespace clrscope::exporter {
namespace {

using profile::Profile;

Status WriteRawPprof(const Profile& profile, const ExportOptions& options, ByteSink& sink) {
  return WritePprof(
      profile, {.keep_machinery = options.keep_machinery, .only_shown = options.only_shown}, sink);
}

Status WriteGzippedPprof(const Profile& profile, const ExportOptions& options, ByteSink& sink) {
  GzipSink gzip(sink);
  RETURN_IF_ERROR(WriteRawPprof(profile, options, gzip));
  return gzip.Finish();
}

Status WriteSpeedscopeRow(const Profile& profile, const ExportOptions& options, ByteSink& sink) {
  return WriteSpeedscope(
      profile, {.keep_machinery = options.keep_machinery, .only_shown = options.only_shown}, sink);
}

Status WriteFoldedRow(const Profile& profile, const ExportOptions& options, ByteSink& sink) {
  return WriteFolded(
      profile, {.keep_machinery = options.keep_machinery, .weight = options.folded_weight}, sink);
}

Status WriteHtmlRow(const Profile& profile, const ExportOptions& options, ByteSink& sink) {
  return WriteHtml(profile, {.only_shown = options.only_shown, .source_text = options.source_text},
                   sink);
}

constexpr std::string_view kPprofExtensions[] = {".pb.gz", ".pprof", ".pprof.gz"};
constexpr std::string_view kRawPprofExtensions[] = {".pb"};
constexpr std::string_view kSpeedscopeExtensions[] = {".speedscope.json"};
constexpr std::string_view kFoldedExtensions[] = {".folded", ".collapsed"};
constexpr std::string_view kHtmlExtensions[] = {".html", ".htm"};

constexpr Format kFormats[] = {
    {"pprof", kPprofExtensions, "gzipped pprof, for go tool pprof, Pyroscope, Grafana and Parca",
     true, WriteGzippedPprof},
    {"pprof-raw", kRawPprofExtensions, "pprof without compression", true, WriteRawPprof},
    {"speedscope", kSpeedscopeExtensions, "JSON for speedscope", false, WriteSpeedscopeRow},
    {"folded", kFoldedExtensions, "folded stacks, one line each, for flamegraph.pl", false,
     WriteFoldedRow},
    {"html", kHtmlExtensions, "one self-contained page with a flame graph and tables", false,
     WriteHtmlRow},
};

bool EndsWithIgnoringCase(std::string_view text, std::string_view ending) {
  if (text.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), text.end() - ptrdiff_t(ending.size()),
                    [](unsigned char a, unsigned char b) { return a == std::tolower(b); });
}

}  // namespace

std::span<const Format> Formats() { return kFormats; }

Result<const Format*> FormatByName(std::string_view name) {
  std::string names;
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return Error{ErrorCode::kUsage,
               fmt::format("there is no format '{}': choose one of {}", name, names)};
}

Result<const Format*> FormatByPath(std::string_view path) {
  const Format* best = nullptr;
  size_t best_size = 0;
  std::string extensions;
  for (const Format& format : kFormats) {
    for (const std::string_view extension : format.extensions) {
      extensions += (extensions.empty() ? "" : ", ") + std::string(extension);
      if (extension.size() > best_size && EndsWithIgnoringCase(path, extension)) {
        best = &format;
        best_size = extension.size();
      }
    }
  }
  if (best != nullptr) return best;
  return Error{ErrorCode::kUsage,
               fmt::format("the name '{}' does not tell the format: give --format, or one of the "
                           "endings {}",
                           path, extensions)};
}

}  // namespace clrscope::exporter
