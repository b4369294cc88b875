// SPDX-License-Identifier: Apache-2.0
// Parsers for what the kernel and the runtime's sockets say about a process.
#include "ipc/processes/proc_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/proc_stat.h"

namespace clrscope::ipc {
namespace {

constexpr std::string_view kSocketPrefix = "dotnet-diagnostic-";
constexpr std::string_view kSocketSuffix = "-socket";

// Cuts the next word off `text`.
std::string_view NextWord(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return text = {};
  size_t end = text.find_first_of(" \t\n", begin);
  if (end == std::string_view::npos) end = text.size();
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// The whole of `text` as a decimal number.
template <class T>
bool ToNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<ProcStat> ParseProcStat(std::string_view text) {
  StatFields fields;
  if (!ParseStat(text, &fields) || fields.start_ticks < 0)
    return Error{ErrorCode::kCorrupt, "/proc/PID/stat has another form than expected"};
  ProcStat stat;
  stat.comm = fields.name;
  stat.state = fields.state;
  stat.start_ticks = static_cast<uint64_t>(fields.start_ticks);
  return stat;
}

namespace {

// nullptr: another line.
int64_t* MemoryField(std::string_view key, ProcMemory& memory) {
  return key == "VmRSS:"      ? &memory.rss_bytes
         : key == "RssAnon:"  ? &memory.private_bytes
         : key == "RssFile:"  ? &memory.file_bytes
         : key == "RssShmem:" ? &memory.shared_bytes
         : key == "VmSwap:"   ? &memory.swap_bytes
                              : nullptr;
}

}  // namespace

ProcStatus ParseProcStatus(std::string_view text) {
  constexpr int64_t kMostKib = int64_t{1} << 50;
  ProcStatus status;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view key = NextWord(line);
    if (key == "Uid:") {
      NextWord(line);  // the real one
      ToNumber(NextWord(line), status.uid);
    } else if (key == "Gid:") {
      NextWord(line);
      ToNumber(NextWord(line), status.gid);
    } else if (key == "PPid:") {
      ToNumber(NextWord(line), status.parent);
    } else if (key == "TracerPid:") {
      ToNumber(NextWord(line), status.tracer_pid);
    } else if (key == "CapEff:") {  // "0000003fffffffff"
      const std::string_view word = NextWord(line);
      (void)std::from_chars(word.data(), word.data() + word.size(), status.capabilities, 16);
    } else if (key == "voluntary_ctxt_switches:") {
      uint64_t switches = 0;
      if (ToNumber(NextWord(line), switches)) status.voluntary_switches = switches;
    } else if (int64_t* const bytes = MemoryField(key, status.memory)) {
      int64_t kib = 0;
      if (ToNumber(NextWord(line), kib) && kib >= 0 && kib < kMostKib) *bytes = kib * 1024;
    } else if (key == "Threads:") {
      ToNumber(NextWord(line), status.threads);
    } else if (key == "NSpid:") {
      int count = 0;
      for (std::string_view word = NextWord(line); !word.empty(); word = NextWord(line), ++count)
        ToNumber(word, status.inner_pid);
      status.nested = count > 1;
    }
  }
  return status;
}

std::vector<std::string> SplitNul(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string FindMapping(std::string_view maps, std::string_view file_name) {
  const std::string needle = fmt::format("/{}", file_name);
  for (size_t at = maps.find(needle); at != std::string_view::npos;
       at = maps.find(needle, at + 1)) {
    std::string_view tail = maps.substr(at + needle.size());
    constexpr std::string_view kDeleted = " (deleted)";
    if (tail.substr(0, kDeleted.size()) == kDeleted) tail.remove_prefix(kDeleted.size());
    if (!tail.empty() && tail.front() != '\n') continue;  // a longer name, or a folder
    const size_t line = maps.rfind('\n', at) + 1;         // npos + 1 == 0
    const size_t path = maps.find('/', line);             // nothing before the path has a slash
    return std::string(maps.substr(path, at + needle.size() - path));
  }
  return {};
}

bool MapsMusl(std::string_view maps) {
  if (maps.find("/ld-musl-") != std::string_view::npos) return true;
  // glibc has no library of that name but a text for linkers.
  return !FindMapping(maps, "libc.so").empty() && FindMapping(maps, "libc.so.6").empty();
}

bool ListensAt(std::string_view net_unix, std::string_view path) {
  // Num RefCount Protocol Flags Type St Inode Path; flag 10000 is a listening socket.
  while (!net_unix.empty()) {
    const size_t end = std::min(net_unix.find('\n'), net_unix.size());
    const std::string_view line = net_unix.substr(0, end);
    net_unix.remove_prefix(std::min(end + 1, net_unix.size()));
    if (line.size() > path.size() && line.ends_with(path) &&
        line[line.size() - path.size() - 1] == ' ' && line.find(" 00010000 ") != line.npos)
      return true;
  }
  return false;
}

size_t ConnectionsTo(std::string_view net_unix, std::string_view file_name) {
  // An accepted socket has its listener's path; type 1 is a stream, state 3 connected.
  const std::string needle = fmt::format("/{}", file_name);
  size_t count = 0;
  while (!net_unix.empty()) {
    const size_t end = std::min(net_unix.find('\n'), net_unix.size());
    const std::string_view line = net_unix.substr(0, end);
    net_unix.remove_prefix(std::min(end + 1, net_unix.size()));
    if (line.ends_with(needle) && line.find(" 00000000 0001 03 ") != line.npos) ++count;
  }
  return count;
}

std::optional<SocketName> ParseSocketName(std::string_view file_name) {
  if (!file_name.starts_with(kSocketPrefix) || !file_name.ends_with(kSocketSuffix)) return {};
  file_name.remove_prefix(kSocketPrefix.size());
  if (file_name.size() < kSocketSuffix.size()) return {};
  file_name.remove_suffix(kSocketSuffix.size());
  const size_t dash = file_name.find('-');
  if (dash == std::string_view::npos) return {};
  SocketName name;
  if (!ToNumber(file_name.substr(0, dash), name.pid) || name.pid <= 0) return {};
  if (!ToNumber(file_name.substr(dash + 1), name.key)) return {};
  return name;
}

std::string FormatSocketName(SocketName name) {
  return fmt::format("{}{}-{}{}", kSocketPrefix, name.pid, name.key, kSocketSuffix);
}

}  // namespace clrscope::ipc
