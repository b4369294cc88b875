// SPDX-License-Identifier: Apache-2.0
#include "analysis/framework_rule.h"

#include <algorithm>
#include <iterator>

#include "base/file_name.h"

namespace clrscope::analysis {
namespace {

bool WildcardMatch(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool FrameworkRule::Matches(std::string_view name, std::string_view path) const {
  if (!patterns_.empty()) {
    std::string_view rest = patterns_;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      if (WildcardMatch(rest.substr(0, comma), name)) return true;
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    return false;
  }
  // A shared framework lies in …/shared/Microsoft.NETCore.App/10.0.0/; what lies elsewhere of a
  // framework-dependent program is its own, whatever it is called.
  if (path.find("/shared/Microsoft.") != std::string_view::npos) return true;
  static constexpr std::string_view kNames[] = {"mscorlib",    "netstandard",      "System",
                                                "WindowsBase", "Microsoft.CSharp", "FSharp.Core"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  static constexpr std::string_view kPrefixes[] = {"System.",
                                                   "Microsoft.Extensions.",
                                                   "Microsoft.AspNetCore.",
                                                   "Microsoft.Win32.",
                                                   "Microsoft.VisualBasic",
                                                   "Microsoft.JSInterop",
                                                   "Microsoft.Net.",
                                                   "Anonymously Hosted DynamicMethods"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [name](std::string_view p) { return name.starts_with(p); });
}

bool IsOfFramework(std::string_view path) {
  return FrameworkRule().Matches(ModuleName(path), path);
}

bool IsRuntimeLibrary(std::string_view file_name) {
  constexpr std::string_view kNames[] = {"libcoreclr",       "libclrjit",     "libclrgc",
                                         "libhostfxr",       "libhostpolicy", "libmscordaccore",
                                         "libclrinterpreter"};
  if (file_name == "dotnet" ||
      (file_name.starts_with("libSystem.") && file_name.find(".Native") != file_name.npos))
    return true;
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [file_name](std::string_view name) { return file_name.starts_with(name); });
}

bool IsAgentFile(std::string_view path) {
  const std::string_view name = ModuleName(path);
  return name.starts_with("clrscope-agent-") && name.ends_with(".so");
}

std::string_view ModuleName(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";  // proc(5)
  std::string_view name = FileNameOf(path);
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  for (const std::string_view extension : {".dll", ".exe", ".ni.dll"})
    if (name.ends_with(extension)) return name.substr(0, name.size() - extension.size());
  return name.substr(0, name.find(','));  // "Assembly, Version=…" of dynamic modules
}

}  // namespace clrscope::analysis
