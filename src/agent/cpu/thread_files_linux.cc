// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/cpu/thread_files.h"
#include "base/fd.h"

namespace clrscope::agent {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;

// Linux's own: struct linux_dirent64, getdents64(2).
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];
};

std::string_view ReadInto(const char* path, char* room, size_t size) {
  const Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd.valid() ? ::read(fd.get(), room, size) : 0;
  return {room, n > 0 ? static_cast<size_t>(n) : 0};
}

std::string_view After(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  while (!text.empty() && (text[0] == '\t' || text[0] == ' ')) text.remove_prefix(1);
  return text;
}

template <class Number>
bool ParseNumber(std::string_view text, Number& out, int base = 10) {
  return std::from_chars(text.data(), text.data() + text.size(), out, base).ec == std::errc{};
}

}  // namespace

bool ForEachThread(const std::function<void(pid_t)>& visit) {
  const Fd folder(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return false;
  alignas(8) char room[16 * 1024];
  for (;;) {
    const long n = ::syscall(SYS_getdents64, folder.get(), room, sizeof room);
    if (n < 0) return false;
    if (n == 0) return true;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const Entry*>(room + at);
      pid_t thread = 0;
      const char* name = entry->name;
      if (ParseNumber(std::string_view(name, std::strlen(name)), thread) && thread > 0)
        visit(thread);
      at += entry->length;
    }
  }
}

uint64_t BlockedSignals(pid_t thread) {
  char room[4096];
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/status";
  uint64_t mask = 0;
  (void)ParseNumber(After(ReadInto(path.c_str(), room, sizeof room), "\nSigBlk:"), mask, 16);
  return mask;
}

int64_t LastThread() {
  char room[256];
  const std::string_view text = ReadInto("/proc/loadavg", room, sizeof room);
  const size_t last = text.rfind(' ');
  int64_t number = -1;
  if (last == std::string_view::npos || !ParseNumber(text.substr(last + 1), number)) return -1;
  return number;
}

int64_t SignalsLeft() {
  char room[4096];
  // "SigQ:	3/31432": queued by this user, and the limit.
  const std::string_view text = After(ReadInto("/proc/self/status", room, sizeof room), "\nSigQ:");
  int64_t queued = 0, limit = 0;
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !ParseNumber(text, queued) ||
      !ParseNumber(text.substr(slash + 1), limit) || limit < 0)
    return kNoLimit;
  return limit > queued ? limit - queued : 0;
}

}  // namespace clrscope::agent
