// SPDX-License-Identifier: Apache-2.0
// How a runtime was configured, read from outside: environment variables, runtimeconfig.json,
// ports. Source: dotnet/runtime src/coreclr/inc/clrconfignames.h,
// src/coreclr/utilcode/clrconfig.cpp; dotnet/diagnostics ipc-protocol.md § Diagnostic Ports
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clrscope::ipc {

// `environ` holds "NAME=value" entries. nullopt when the variable is not there.
std::optional<std::string> FindVariable(const std::vector<std::string>& environ,
                                        std::string_view name);
// DOTNET_`name`, or else COMPlus_`name`.
std::optional<std::string> FindClrVariable(const std::vector<std::string>& environ,
                                           std::string_view name);
// The same as a number, which the runtime reads as *hexadecimal*; text that is none counts as
// absent.
std::optional<uint32_t> FindClrNumber(const std::vector<std::string>& environ,
                                      std::string_view name);

// "key": true|false in a runtimeconfig.json, wherever it stands.
std::optional<bool> FindJsonBool(std::string_view json, std::string_view key);

// One entry of DOTNET_DiagnosticPorts: path[,connect|listen][,suspend|nosuspend].
struct DiagnosticPort {
  std::string path;
  bool suspend = true;  // the runtime's default
  bool listen = false;  // ignored by the runtime, which only dials
};
std::vector<DiagnosticPort> ParsePorts(std::string_view value);
std::string FormatPorts(const std::vector<DiagnosticPort>& ports);
// `value` with the port at `path` set to suspend or not, and added when it is not there yet.
std::string WithPort(std::string_view value, std::string_view path, bool suspend);

}  // namespace clrscope::ipc
