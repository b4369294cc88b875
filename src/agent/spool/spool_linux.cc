// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "agent/host/agent_fd.h"
#include "agent/host/errno_text.h"
#include "agent/spool/spool.h"
#include "base/fd.h"

namespace clrscope::agent {
namespace {

void MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    (void)::mkdir(path.substr(0, slash).c_str(), 0777);
}

// "20261127T143000Z". Not by strftime(), which reads the environment and the files of time zones.
std::string UtcText(int64_t unix_s) {
  const std::chrono::sys_seconds at{std::chrono::seconds(unix_s)};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day day(midnight);
  const std::chrono::hh_mm_ss time(at - midnight);
  char text[32];
  const int n = std::snprintf(
      text, sizeof text, "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(day.year()),
      static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return {text, static_cast<size_t>(n)};
}

std::string Stem(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  if (path.ends_with(".dll") || path.ends_with(".exe")) path.remove_suffix(4);
  return std::string(path);
}

}  // namespace

std::string ExpandName(std::string_view pattern, std::string_view name, uint32_t pid,
                       int64_t unix_ns) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'n':
        for (const char c : name) out += c == '/' ? '_' : c;
        break;
      case 'p':
        out += std::to_string(pid);
        break;
      case 't': {
        out += UtcText(unix_ns / 1'000'000'000);
        break;
      }
      case '%':
        out += '%';
        break;
      default:
        out += '%';
        out += pattern[i];
    }
  }
  return out;
}

std::string BeforeExtension(const std::string& path, std::string_view suffix) {
  const size_t dot = path.rfind('.');
  const size_t base = path.rfind('/') + 1;
  std::string out = path;
  return out.insert(dot == std::string::npos || dot < base ? path.size() : dot, suffix);
}

std::string SpoolNames::Next(std::string_view pattern, std::string_view name, uint32_t pid,
                             int64_t unix_ns) {
  std::string path = ExpandName(pattern, name, pid, unix_ns);
  const bool tells_time = path != ExpandName(pattern, name, pid, 0);
  of_last_ = tells_time && path == last_ ? of_last_ + 1 : 1;
  last_ = path;
  return of_last_ == 1 ? path : BeforeExtension(path, "-" + std::to_string(of_last_));
}

Status WriteAtomically(const std::string& path, std::string_view bytes) {
  MakeFolders(path);
  const std::string temporary = path + ".part";
  const auto fail = [&] {
    Error error{ErrorCode::kIo, "cannot write " + path + ": " + ErrnoText(errno)};
    (void)::unlink(temporary.c_str());
    return error;
  };
  const AgentFd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return fail();
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail();
  return OkStatus();
}

std::string ProgramName() {
  char buffer[4096];
  Fd fd(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd.valid() ? ::read(fd.get(), buffer, sizeof buffer) : 0;
  std::string_view text(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  std::string first;
  while (!text.empty()) {
    const std::string_view argument = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), argument.size() + 1));
    if (first.empty()) {
      first = Stem(argument);
      if (first != "dotnet") return first;
    } else if (argument.ends_with(".dll") || argument.ends_with(".exe")) {
      return Stem(argument);
    }
  }
  return first.empty() ? "dotnet" : first;
}

}  // namespace clrscope::agent
