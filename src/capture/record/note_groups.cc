// SPDX-License-Identifier: Apache-2.0
#include "capture/record/note_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace clrscope::capture {
namespace {

constexpr size_t kNamed = 5;
constexpr std::string_view kProcess = "process ";

struct NoteParts {
  std::string before, after;
  auto operator<=>(const NoteParts&) const = default;
};

// What is around "process N"; the pid, or 0 where there is none.
pid_t SplitNote(const std::string& note, NoteParts& parts) {
  const size_t at = note.find(kProcess);
  if (at == std::string::npos) return 0;
  pid_t pid = 0;
  const char* const end = note.data() + note.size();
  const char* const rest = std::from_chars(note.data() + at + kProcess.size(), end, pid).ptr;
  if (rest == end || (*rest != ':' && *rest != ',')) return 0;
  parts = {note.substr(0, at), std::string(rest, end)};
  return pid;
}

}  // namespace

std::string NamePids(const std::vector<pid_t>& pids) {
  std::string who = pids.size() == 1 ? "process " : "processes ";
  for (size_t i = 0; i < std::min(pids.size(), kNamed); ++i)
    who += fmt::format("{}{}", i == 0 ? "" : ", ", pids[i]);
  if (pids.size() > kNamed) who += fmt::format(" and {} more", pids.size() - kNamed);
  return who;
}

std::vector<std::string> GroupNotes(std::vector<std::string> notes) {
  struct Group {
    size_t at = 0;
    std::vector<pid_t> pids;
  };
  std::map<NoteParts, Group> groups;
  std::vector<std::string> out;
  for (std::string& note : notes) {
    NoteParts parts;
    const pid_t pid = SplitNote(note, parts);
    if (pid != 0) {
      const auto [it, first] = groups.try_emplace(std::move(parts), Group{out.size(), {}});
      std::vector<pid_t>& pids = it->second.pids;
      if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
      if (!first) continue;
    }
    out.push_back(std::move(note));
  }
  for (const auto& [parts, group] : groups)
    if (group.pids.size() > 1) out[group.at] = parts.before + NamePids(group.pids) + parts.after;
  return out;
}

}  // namespace clrscope::capture
