// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "agent/host/start_environment.h"
#include "base/fd.h"

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
  const Fd fd(::open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t n = -1;
  while (fd.valid() &&
         ((n = ::read(fd.get(), buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)))
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
  if (n == 0) {
    const auto value = VariableOf(text, name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace clrscope::agent
