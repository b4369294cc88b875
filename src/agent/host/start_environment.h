// SPDX-License-Identifier: Apache-2.0
// The environment that the process was started with. The agent comes into a program that runs, and
// getenv() may not be called there: it walks an array that a setenv() on another thread moves and
// frees. Source: glibc stdlib/setenv.c, before 2.41
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace clrscope::agent {

// nullopt: it was not set. Where the kernel does not show it (a program that has capabilities or
// another user by its file, or whose main thread has ended), getenv() is called all the same.
std::optional<std::string> StartVariable(const char* name);

// Of an environment as the kernel writes it: "NAME=value", each with a 0 behind it.
std::optional<std::string_view> VariableOf(std::string_view environment, std::string_view name);

}  // namespace clrscope::agent
