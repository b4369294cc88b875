// SPDX-License-Identifier: Apache-2.0
// What belongs to the framework, and what a module is called.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace clrscope::analysis {

// Which modules are the framework's: frames of them are stepped over to find a site.
class FrameworkRule {
 public:
  // By default: modules of a shared framework by their folder, else by the names that the .NET
  // libraries use. A pattern replaces the rule: a list of module names with '*', comma separated.
  FrameworkRule() = default;
  explicit FrameworkRule(std::string patterns) : patterns_(std::move(patterns)) {}
  bool Matches(std::string_view module_name, std::string_view path) const;

 private:
  std::string patterns_;
};

// By the default rule, of a module's path.
bool IsOfFramework(std::string_view path);

// Libraries that are a part of the runtime, or that it runs on: libcoreclr.so, System.Native.
bool IsRuntimeLibrary(std::string_view file_name);

// The file that the agent is loaded from, by a name that it has unless a user chose another.
bool IsAgentFile(std::string_view path);

// "System.Private.CoreLib" of a path or assembly name. Of a mapped file that was removed or
// replaced, too.
std::string_view ModuleName(std::string_view path);

}  // namespace clrscope::analysis
