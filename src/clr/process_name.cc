// SPDX-License-Identifier: Apache-2.0
// Reads the command line of the `dotnet` host.
// Source: dotnet/runtime docs/design/features/host-component-dependencies-resolution.md, `dotnet
// -h`
#include "clr/process_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clrscope::clr {
namespace {

// Options of the host that take a value in the next argument.
constexpr std::array<std::string_view, 7> kWithValue = {"--additionalprobingpath",
                                                        "--depsfile",
                                                        "--runtimeconfig",
                                                        "--fx-version",
                                                        "--roll-forward",
                                                        "--additional-deps",
                                                        "--roll-forward-on-no-candidate-fx"};

bool IsHost(const std::vector<std::string>& argv) {
  return !argv.empty() && BaseName(argv[0]) == "dotnet";
}

bool IsAssembly(std::string_view arg) { return arg.ends_with(".dll") || arg.ends_with(".exe"); }

// Index of the first argument that the host does not keep for itself; argv.size() if there is none.
size_t FirstOwnArgument(const std::vector<std::string>& argv) {
  size_t i = 1;
  while (i < argv.size()) {
    if (std::find(kWithValue.begin(), kWithValue.end(), argv[i]) != kWithValue.end()) {
      i += 2;
    } else if (argv[i] == "exec" || argv[i].starts_with("-")) {
      i += 1;
    } else {
      break;
    }
  }
  return std::min(i, argv.size());
}

}  // namespace

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view Stem(std::string_view path) {
  const std::string_view name = BaseName(path);
  const size_t dot = name.rfind('.');
  return dot == 0 ? name : name.substr(0, dot);
}

std::string EntryAssemblyArgument(const std::vector<std::string>& argv) {
  if (!IsHost(argv)) return {};
  const size_t i = FirstOwnArgument(argv);
  return i < argv.size() && IsAssembly(argv[i]) ? argv[i] : std::string();
}

std::string ProcessName(const std::vector<std::string>& argv, std::string_view entry_assembly,
                        std::string_view fallback) {
  // `dotnet build` runs the assembly dotnet.dll; what it was told to do says more.
  if (!entry_assembly.empty() && entry_assembly != "dotnet") return std::string(entry_assembly);
  if (argv.empty() || argv[0].empty()) return std::string(fallback);
  if (!IsHost(argv)) return std::string(BaseName(argv[0]));
  const size_t i = FirstOwnArgument(argv);
  if (i == argv.size()) return "dotnet";
  if (!IsAssembly(argv[i])) return fmt::format("dotnet {}", argv[i]);
  return std::string(Stem(argv[i]));
}

std::string ProcessNameOf(std::string_view command_line) {
  std::vector<std::string> argv;
  while (!command_line.empty()) {
    const size_t space = std::min(command_line.find(' '), command_line.size());
    if (space != 0) argv.emplace_back(command_line.substr(0, space));
    command_line.remove_prefix(std::min(space + 1, command_line.size()));
  }
  return ProcessName(argv, {}, {});
}

bool NameMatches(std::string_view wanted, std::string_view name, std::string_view entry_assembly) {
  if (wanted.empty()) return false;
  if (wanted == name || wanted == entry_assembly) return true;
  return wanted.ends_with(".dll") && (Stem(wanted) == name || Stem(wanted) == entry_assembly);
}

}  // namespace clrscope::clr
