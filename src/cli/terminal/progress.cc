// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "report/text/humanize.h"

namespace clrscope::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuietInterval = 10s;
constexpr unsigned kBarFrom = 60;  // columns

unsigned Columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

}  // namespace

std::string FormatProgress(const capture::Progress& p,
                           std::optional<std::chrono::nanoseconds> duration, unsigned columns) {
  const double seconds = std::chrono::duration<double>(p.elapsed).count();
  std::string out = p.stopping ? "Stopping " : "Recording";
  if (duration && !p.stopping) {
    const double total = std::chrono::duration<double>(*duration).count();
    const double share = total > 0 ? std::min(1.0, seconds / total) : 1.0;
    if (columns >= kBarFrom) {
      constexpr int kWidth = 16;
      const int filled = static_cast<int>(share * kWidth);
      out += " [";
      for (int i = 0; i < kWidth; ++i) out += i < filled ? '#' : '.';
      out += "]";
    }
    out += fmt::format(" {:.0f}/{:.0f} s", std::min(seconds, total), total);
  } else {
    out += fmt::format(" {:.0f} s", seconds);
  }
  // Parts that do not fit are left out whole, the least important ones last in the row.
  const auto part = [&out, columns](const std::string& text) {
    if (out.size() + 2 + text.size() <= columns) out += "  " + text;
  };
  const size_t processes = p.recording + p.ended;
  if (processes == 0) part("waiting for a .NET runtime to start");
  if (p.dropped != 0) part(fmt::format("{} events dropped", report::Thousands(p.dropped)));
  const bool allocations = p.samples != 0 || p.happenings == 0;
  if (allocations) part(report::HumanBytes(p.bytes) + " allocated");
  if (p.happenings != 0) part(fmt::format("{} throws and waits", report::Thousands(p.happenings)));
  if (processes > 1) part(fmt::format("{} processes", processes));
  if (allocations) part(report::Thousands(p.samples) + " samples");
  part(fmt::format("{} GCs", p.gcs));
  if (out.size() > columns) out.resize(columns);
  return out;
}

ProgressLine::ProgressLine(bool enabled, std::optional<std::chrono::nanoseconds> duration)
    : enabled_(enabled), terminal_(::isatty(STDERR_FILENO) == 1), duration_(duration) {}

void ProgressLine::Show(const capture::Progress& p) {
  if (!enabled_) return;
  if (terminal_) {
    // Short recordings need none.
    if (p.elapsed < 1s && !shown_) return;
    fmt::print(stderr, "\r\033[K{}", FormatProgress(p, duration_, Columns() - 1));
    std::fflush(stderr);
    shown_ = true;
  } else if (p.elapsed - last_ >= kQuietInterval) {
    if (last_ >= 0ns) fmt::print(stderr, "{}\n", FormatProgress(p, duration_, 200));
    last_ = last_ < 0ns ? 0ns : p.elapsed;
  }
}

void ProgressLine::Clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace clrscope::cli
