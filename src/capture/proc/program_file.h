// SPDX-License-Identifier: Apache-2.0
// The file of a program that is yet to be started: where it is, and what runs it.
#pragma once

#include <string>
#include <vector>

namespace clrscope::capture {

// What the kernel follows of scripts that are run by scripts. Source: Linux fs/exec.c, exec_binprm
inline constexpr int kMostInterpreters = 4;

// The file that execvp(3) runs for `program`; "" when there is none.
std::string FindProgram(const std::string& program);

// The loader that an ELF file names; "" when it names none or is no ELF file.
std::string LoaderOf(const std::string& file);

// "#!/bin/sh -e" → "/bin/sh"; "#!/usr/bin/env dotnet" → "dotnet"; "" when it is no script.
std::string InterpreterOf(const std::string& file);

// Whether the process that `program` is started as becomes a .NET runtime before it starts any
// other: `dotnet`, a program's own executable (apphost), one that is a single file, or a script
// that one of these interprets. They all call hostfxr_main_startupinfo; a program that hosts a
// runtime beside what else it does calls other functions.
// Source: dotnet/runtime src/native/corehost/hostfxr_resolver.cpp, nethost/nethost.h
bool IsDotnetHost(const std::string& program);

// Whether `command` has `dotnet` run the SDK, as `dotnet run` and `dotnet test` do, or a file of
// C#: the SDK starts the programs, with an environment of its own. Source: dotnet/runtime
// src/native/corehost/fxr/fx_muxer.cpp, fx_muxer_t::handle_exec_host_command
bool IsSdkCommand(const std::vector<std::string>& command);

}  // namespace clrscope::capture
