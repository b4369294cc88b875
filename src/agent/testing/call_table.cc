// SPDX-License-Identifier: Apache-2.0
#include "agent/testing/call_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/testing/source_dir.h"

namespace clrscope::agent {
namespace {

constexpr std::string_view kHeading = "### Of the runtime";

std::vector<std::string> Split(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find(between)) != std::string_view::npos;) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + between.size());
  }
  parts.emplace_back(text);
  return parts;
}

using CallTable = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// "| `One`, `Two` | `host/file.cc` | agent's; sessions' | …"
CallTable ReadTable() {
  CallTable table;
  std::ifstream file(SourceDir() + "/docs/agent.md");
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) inside = line == kHeading;
    if (!inside || !line.starts_with("| `")) continue;
    const std::vector<std::string> cells = Split(std::string_view(line).substr(2), " | ");
    const std::vector<std::string> names = Split(cells.at(0), "`");
    for (size_t i = 1; i < names.size(); i += 2)
      for (const std::string& where : Split(cells.at(2), "; ")) table[names[i]].insert(where);
  }
  return table;
}

}  // namespace

void ExpectInCallTable(std::string_view method, std::string_view where) {
  static const CallTable table = ReadTable();
  static std::mutex mutex;
  static std::set<std::string> told;
  const auto row = table.find(method);
  if (row != table.end() && row->second.contains(where)) return;
  const std::lock_guard lock(mutex);
  if (!told.insert(std::string(method) + std::string(where)).second) return;
  ADD_FAILURE() << "docs/agent.md, \"Of the runtime\", does not list this call: " << method << ", "
                << where;
}

}  // namespace clrscope::agent
