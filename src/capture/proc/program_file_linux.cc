// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "capture/proc/program_file.h"

namespace clrscope::capture {
namespace {

constexpr size_t kLongestName = 4096;
constexpr size_t kSearchPiece = size_t{1} << 20;
// A single file has it within its first megabyte, before the assemblies that it bundles.
constexpr uint64_t kMostSearched = uint64_t{32} << 20;

std::string ReadAt(std::ifstream& file, uint64_t at, size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

bool IsElf(std::ifstream& file) { return ReadAt(file, 0, SELFMAG) == ELFMAG; }

bool Contains(std::ifstream& file, const std::string& text) {
  for (uint64_t at = 0; at < kMostSearched; at += kSearchPiece) {
    const std::string piece = ReadAt(file, at, kSearchPiece + text.size() - 1);
    if (piece.find(text) != std::string::npos) return true;
    if (piece.size() < kSearchPiece) break;
  }
  return false;
}

}  // namespace

std::string FindProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const std::string file = folder.empty() ? program : folder + "/" + program;
    struct stat s {};
    if (::stat(file.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(file.c_str(), X_OK) == 0)
      return file;
    at = end + 1;
  }
  return {};
}

std::string LoaderOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header{};
  const std::string head = ReadAt(in, 0, sizeof header);
  if (head.size() < sizeof header || head.compare(0, SELFMAG, ELFMAG) != 0) return {};
  std::memcpy(&header, head.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const std::string bytes = ReadAt(in, header.e_phoff + i * sizeof part, sizeof part);
    if (bytes.size() < sizeof part) return {};
    std::memcpy(&part, bytes.data(), sizeof part);
    if (part.p_type != PT_INTERP) continue;
    const std::string name =
        ReadAt(in, part.p_offset, std::min<size_t>(part.p_filesz, kLongestName));
    return name.substr(0, name.find('\0'));
  }
  return {};
}

std::string InterpreterOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line = ReadAt(in, 0, 256);
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

bool IsDotnetHost(const std::string& program) {
  // In two parts: clrscope is no host, and must not contain the whole name.
  static const std::string function = std::string("hostfxr_main_") + "startupinfo";
  std::string name = program;
  for (int i = 0; i <= kMostInterpreters && !name.empty(); ++i) {
    const std::string path = FindProgram(name);
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
    std::ifstream file(path, std::ios::binary);
    if (IsElf(file)) return Contains(file, function);
    name = InterpreterOf(path);
  }
  return false;
}

bool IsSdkCommand(const std::vector<std::string>& command) {
  const auto is_dotnet = [](const std::string& path) {
    return path.substr(path.rfind('/') + 1) == "dotnet";
  };
  const std::string file = FindProgram(command.front());
  if (!is_dotnet(file)) return is_dotnet(InterpreterOf(file));
  if (command.size() < 2 || command[1].starts_with('-') || command[1] == "exec") return false;
  struct stat s {};
  const bool program = command[1].ends_with(".dll") || command[1].ends_with(".exe");
  return !program || ::stat(command[1].c_str(), &s) != 0 || !S_ISREG(s.st_mode);
}

}  // namespace clrscope::capture
