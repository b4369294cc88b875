// SPDX-License-Identifier: Apache-2.0
// What people call a .NET process: its program, not `dotnet`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clrscope::clr {

// The assembly that `dotnet` was told to run, as it stands on the command line ("bin/App.dll"); ""
// for an apphost, whose assembly lies beside the executable, and for SDK commands (`dotnet build`).
std::string EntryAssemblyArgument(const std::vector<std::string>& argv);

// "App" for `dotnet bin/App.dll` and for `bin/App`; "dotnet build" for an SDK command.
//   entry_assembly: as the runtime tells it, or ""
//   fallback: when there is no command line (kernel's name of the process)
std::string ProcessName(const std::vector<std::string>& argv, std::string_view entry_assembly,
                        std::string_view fallback);

// The same for a command line that was joined by blanks, as traces carry it.
std::string ProcessNameOf(std::string_view command_line);

// Whether `wanted` names the process: its name or its entry assembly, with or without ".dll".
bool NameMatches(std::string_view wanted, std::string_view name, std::string_view entry_assembly);

// The part of a path after its last slash, and a file name without its last extension.
std::string_view BaseName(std::string_view path);
std::string_view Stem(std::string_view path);

}  // namespace clrscope::clr
