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
// DOTNET_`name`, or else COMPlus_`name`; one that is empty counts as absent.
std::optional<std::string> FindClrVariable(const std::vector<std::string>& environ,
                                           std::string_view name);
// The same as a number, which the runtime reads as *hexadecimal*, as strtoul(3) does: what follows
// the digits is ignored; text without any, and what has no room in 32 bits, counts as absent.
std::optional<uint32_t> FindClrNumber(const std::vector<std::string>& environ,
                                      std::string_view name);

// What a runtime has for other tools, each with a variable of its own (.NET 8 and later) beside
// EnableDiagnostics, which stands for all. No runtimeconfig.json can switch them off (.NET 8 to
// 10).
inline constexpr std::string_view kIpc = "IPC";             // its socket, the ports that it dials
inline constexpr std::string_view kProfilers = "Profiler";  // libraries that it loads, as our agent
// The variable that switches `part` off, as "NAME=value"; "" when it is on.
std::string SwitchedOffBy(const std::vector<std::string>& environ, std::string_view part);

// A property of a runtimeconfig.json that is true or false, as text too: AppContext reads both. The
// host allows comments in the file. nullopt when it is not there, or the file is damaged.
std::optional<bool> FindConfigBool(std::string_view json, std::string_view property);

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
