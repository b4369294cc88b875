// SPDX-License-Identifier: Apache-2.0
// A library that the machine's own tools make, and what they say of it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "symbols/testing/sample.h"

namespace clrscope::symbols {

// What a command prints; "" when it fails.
inline std::string OutputOf(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen((command + " 2>/dev/null").c_str(), "re"), &::pclose);
  std::string out;
  char chunk[4096];
  for (size_t n; pipe && (n = std::fread(chunk, 1, sizeof(chunk), pipe.get())) > 0;)
    out.append(chunk, n);
  return out;
}

inline bool Run(const std::string& command) {
  return std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0;  // NOLINT(cert-env33-c)
}

inline bool HaveTools() {
  return Run("c++ --version && objcopy --version && nm --version && xz -V");
}

// A library, whole, stripped, its separate symbols, and stripped with packed ones.
class CompiledLibrary {
 public:
  CompiledLibrary() {
    std::string pattern = (std::filesystem::temp_directory_path() / "clrscope-elf-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return;
    folder_ = pattern;
    std::ofstream(folder_ / "a.cc") << R"(
      namespace shop {
      template <class T> struct Box {
        struct Slot { T value; };
        __attribute__((noinline)) T Get(const Slot& s, const Slot* p) { return s.value + p->value; }
      };
      template struct Box<int>;
      static __attribute__((noinline, used)) int Hidden(int x) { return x * 3; }
      __attribute__((visibility("default"))) int Public(int x) { return Hidden(x) + 1; }
      }
      extern "C" __attribute__((visibility("default"))) int plain(int x) { return x + 1; }
      extern "C" __attribute__((weak, alias("plain"))) int __plain_alias(int);
      asm(".text\n.globl handmade\nhandmade:\n nop\n nop\n.Lx: inside_handmade:\n ret\n");
    )";
    const std::string in = "cd '" + folder_.string() + "' && ";
    made_ = Run(in + "c++ -O1 -g -shared -fPIC -Wl,--build-id a.cc -o whole.so") &&
            Run(in + "objcopy --only-keep-debug whole.so whole.debug") &&
            Run(in + "objcopy --strip-all --add-gnu-debuglink=whole.debug whole.so stripped.so") &&
            Run(in +
                "objcopy -g whole.so mini && xz -k mini && objcopy --strip-all "
                "--add-section .gnu_debugdata=mini.xz whole.so packed.so");
  }
  ~CompiledLibrary() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }
  bool made() const { return made_; }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::byte> Read(const std::string& name) const { return ReadFileBytes(Path(name)); }

 private:
  std::filesystem::path folder_;
  bool made_ = false;
};

// Functions by address, as nm lists them.
inline std::map<uint64_t, std::set<std::string>> NmFunctions(const std::string& options,
                                                             const std::string& path) {
  std::map<uint64_t, std::set<std::string>> out;
  std::istringstream lines(OutputOf("nm " + options + " --defined-only '" + path + "'"));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 20 || std::string("TtWwi").find(line[17]) == std::string::npos) continue;
    std::string name = line.substr(19);
    // A version stands behind names of the dynamic table.
    if (options.find("-D") != std::string::npos) name = name.substr(0, name.find('@'));
    out[std::strtoull(line.c_str(), nullptr, 16)].insert(name);
  }
  return out;
}

}  // namespace clrscope::symbols
