// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "agent/host/read_file.h"
#include "agent/host/start_environment.h"

namespace clrscope::agent {

std::optional<std::string_view> VariableOf(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view one = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(environment.size(), one.size() + 1));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return one.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<std::string> StartVariable(const char* name) {
  std::string text;
  if (ReadFile("/proc/self/environ", &text)) {
    const auto value = VariableOf(text, name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace clrscope::agent
