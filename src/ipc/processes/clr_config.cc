// SPDX-License-Identifier: Apache-2.0
// Small readers for the places where a runtime takes its configuration from.
#include "ipc/processes/clr_config.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace clrscope::ipc {
namespace {

// Cuts what is before the next `separator` off `text`.
std::string_view NextPart(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool SameText(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::optional<std::string> FindVariable(const std::vector<std::string>& environ,
                                        std::string_view name) {
  for (const std::string& entry : environ)
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

std::optional<std::string> FindClrVariable(const std::vector<std::string>& environ,
                                           std::string_view name) {
  for (const std::string_view prefix : {"DOTNET_", "COMPlus_"})
    if (auto value = FindVariable(environ, fmt::format("{}{}", prefix, name));
        value && !value->empty())
      return value;
  return std::nullopt;
}

std::optional<uint32_t> FindClrNumber(const std::vector<std::string>& environ,
                                      std::string_view name) {
  const std::optional<std::string> value = FindClrVariable(environ, name);
  if (!value) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(value->c_str(), &end, 16);
  // A negative number is one that begins anew at the other end: "-0" is 0.
  if (end == value->c_str() || errno == ERANGE || number > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(number);
}

std::string SwitchedOffBy(const std::vector<std::string>& environ, std::string_view part) {
  for (const std::string& name :
       {std::string("EnableDiagnostics"), fmt::format("EnableDiagnostics_{}", part)}) {
    if (FindClrNumber(environ, name) != 0u) continue;
    for (const std::string_view prefix : {"DOTNET_", "COMPlus_"})
      if (const auto value = FindVariable(environ, fmt::format("{}{}", prefix, name));
          value && !value->empty())
        return fmt::format("{}{}={}", prefix, name, *value);
  }
  return {};
}

std::optional<bool> FindConfigBool(std::string_view json, std::string_view property) {
  const auto config = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false,
                                            /*ignore_comments=*/true);
  const auto* at = &config;
  for (const std::string_view name :
       {std::string_view("runtimeOptions"), std::string_view("configProperties"), property}) {
    if (!at->is_object()) return std::nullopt;
    const auto found = at->find(name);
    if (found == at->end()) return std::nullopt;
    at = &*found;
  }
  if (at->is_boolean()) return at->get<bool>();
  if (!at->is_string()) return std::nullopt;
  const auto& text = at->get_ref<const std::string&>();
  if (SameText(text, "true")) return true;
  if (SameText(text, "false")) return false;
  return std::nullopt;
}

std::vector<DiagnosticPort> ParsePorts(std::string_view value) {
  std::vector<DiagnosticPort> ports;
  while (!value.empty()) {
    std::string_view entry = NextPart(value, ';');
    DiagnosticPort port;
    bool tagged = false;
    while (!entry.empty()) {
      const std::string_view part = NextPart(entry, ',');
      if (part.empty()) continue;  // the runtime splits with strtok
      if (port.path.empty()) {
        port.path = part;  // the first part is the path, whatever it says
      } else if (SameText(part, "listen")) {
        port.listen = true;
      } else if (!tagged && (SameText(part, "suspend") || SameText(part, "nosuspend"))) {
        port.suspend = SameText(part, "suspend");  // of several, the first counts
        tagged = true;
      }
    }
    if (!port.path.empty()) ports.push_back(std::move(port));
  }
  return ports;
}

std::string FormatPorts(const std::vector<DiagnosticPort>& ports) {
  std::string out;
  for (const DiagnosticPort& port : ports)
    out += fmt::format("{}{},{}{}", out.empty() ? "" : ";", port.path,
                       port.suspend ? "suspend" : "nosuspend", port.listen ? ",listen" : "");
  return out;
}

std::string WithPort(std::string_view value, std::string_view path, bool suspend) {
  std::vector<DiagnosticPort> ports = ParsePorts(value);
  const auto same = std::find_if(ports.begin(), ports.end(),
                                 [&](const DiagnosticPort& p) { return p.path == path; });
  if (same != ports.end())
    same->suspend = suspend;
  else
    ports.push_back({std::string(path), suspend, false});
  return FormatPorts(ports);
}

}  // namespace clrscope::ipc
