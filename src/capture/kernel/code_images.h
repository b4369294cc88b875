// SPDX-License-Identifier: Apache-2.0
// What a process has mapped of libraries and precompiled assemblies, as far as it takes to walk
// stacks. Their tables are looked into where they lie in the process; nothing of them is kept.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "capture/kernel/process_memory.h"
#include "unwind/eh_frame.h"

namespace clrscope::capture {

class CodeImages {
 public:
  explicit CodeImages(ProcessMemory* memory) : memory_(*memory), pieces_(memory) {}

  // The frame of native code at `at`, in the ELF image that begins at `base`. kSnapshot: not known.
  unwind::FrameRule NativeRule(uint64_t base, uint64_t at);

  // A function or a funclet of a precompiled assembly.
  struct Function {
    uint64_t start = 0, end = 0;
  };
  // The one that holds `at`, in the PE image that begins at `base`.
  enum class Found : uint8_t {
    kFunction,
    kNone,     // a stub of the image, or padding
    kNoTable,  // the image has none, or cannot be read
  };
  Found FunctionAt(uint64_t base, uint64_t at, Function* out);
  // The images may be others.
  void Forget();

 private:
  // Pieces of the tables that one look-up reads.
  class Pieces final : public unwind::ModuleMemory {
   public:
    explicit Pieces(ProcessMemory* memory) : memory_(*memory) {}
    Bytes At(uint64_t address, size_t size) override;
    void Forget() override { used_ = 0; }

   private:
    ProcessMemory& memory_;
    std::vector<std::vector<std::byte>> rooms_;
    size_t used_ = 0;
  };
  // Its RUNTIME_FUNCTIONs. 0 of them: it has none.
  struct PeImage {
    uint64_t table = 0;
    uint32_t count = 0;
  };
  const unwind::NativeModule& ElfAt(uint64_t base);
  const PeImage& PeAt(uint64_t base);
  bool ReadWhole(uint64_t address, std::span<std::byte> to);

  ProcessMemory& memory_;
  Pieces pieces_;
  std::unordered_map<uint64_t, unwind::NativeModule> elf_;  // by base; no header: not known
  std::unordered_map<uint64_t, PeImage> pe_;
};

}  // namespace clrscope::capture
