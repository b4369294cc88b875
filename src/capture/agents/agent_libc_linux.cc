// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "capture/agents/agent_libc.h"
#include "capture/proc/program_file.h"

namespace clrscope::capture {
namespace {

constexpr const char* kMuslLoader = "/lib/ld-musl-x86_64.so.1";
constexpr const char* kGlibcLoader = "/lib64/ld-linux-x86-64.so.2";

}  // namespace

Libc LibcOf(std::string_view rid, bool maps_musl) {
  if (rid.find("-musl") != std::string_view::npos || rid.starts_with("alpine")) return Libc::kMusl;
  if (rid.starts_with("linux-")) return Libc::kGlibc;
  return maps_musl ? Libc::kMusl : Libc::kGlibc;
}

Libc LibcOf(const ipc::DotnetProcess& process, const ipc::ProcessFacts& facts) {
  return LibcOf(process.rid, facts.musl);
}

Libc LibcOfProgram(const std::string& program) {
  std::string name = program;
  for (int i = 0; i < kMostInterpreters && !name.empty(); ++i) {
    const std::string file = FindProgram(name);
    const std::string loader = LoaderOf(file);
    if (!loader.empty())
      return loader.find("/ld-musl-") != std::string::npos ? Libc::kMusl : Libc::kGlibc;
    name = InterpreterOf(file);
  }
  return LibcOfMachine();
}

Libc LibcOfMachine() {
  return ::access(kMuslLoader, F_OK) == 0 && ::access(kGlibcLoader, F_OK) != 0 ? Libc::kMusl
                                                                               : Libc::kGlibc;
}

}  // namespace clrscope::capture
