// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "capture/agents/agent_libc.h"

namespace clrscope::capture {
namespace {

constexpr int kMostInterpreters = 4;  // as the kernel has it, BINPRM_MAX_RECURSION
constexpr size_t kLongestName = 4096;
constexpr const char* kMuslLoader = "/lib/ld-musl-x86_64.so.1";
constexpr const char* kGlibcLoader = "/lib64/ld-linux-x86-64.so.2";

// As execvp() finds it; "" when it does not.
std::string FindProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const std::string file = folder.empty() ? program : folder + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return {};
}

std::string ReadAt(std::ifstream& file, uint64_t at, size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

// The loader that an ELF file names; "" when it names none.
std::string LoaderOf(std::ifstream& file) {
  Elf64_Ehdr header{};
  const std::string head = ReadAt(file, 0, sizeof header);
  if (head.size() < sizeof header || head.compare(0, SELFMAG, ELFMAG) != 0) return {};
  std::memcpy(&header, head.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const std::string bytes = ReadAt(file, header.e_phoff + i * sizeof part, sizeof part);
    if (bytes.size() < sizeof part) return {};
    std::memcpy(&part, bytes.data(), sizeof part);
    if (part.p_type != PT_INTERP) continue;
    const std::string name =
        ReadAt(file, part.p_offset, std::min<size_t>(part.p_filesz, kLongestName));
    return name.substr(0, name.find('\0'));
  }
  return {};
}

// "#!/bin/sh -e" → "/bin/sh"; "#!/usr/bin/env dotnet" → "dotnet"; "" when it is no script.
std::string InterpreterOf(std::ifstream& file) {
  std::string line = ReadAt(file, 0, 256);
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.find('\n') == std::string::npos ? line.size() : line.find('\n') - 2);
  const auto next = [&line] {
    const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    std::string word = line.substr(begin, end - begin);
    line.erase(0, end);
    return word;
  };
  std::string interpreter = next();
  if (!interpreter.ends_with("/env")) return interpreter;
  std::string program = next();
  return program.empty() || program[0] == '-' ? interpreter : program;
}

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
    std::ifstream file(FindProgram(name), std::ios::binary);
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
