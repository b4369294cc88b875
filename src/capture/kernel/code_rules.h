// SPDX-License-Identifier: Apache-2.0
// How to get from a frame to its caller's, for every address in a process's code: native code by
// its unwind tables, methods by their first instructions, which are read from the process's memory.
// Used by several threads at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/families/code/code_listener.h"
#include "capture/kernel/chain_repair.h"
#include "capture/kernel/code_images.h"
#include "capture/kernel/code_ranges.h"
#include "capture/kernel/process_memory.h"
#include "unwind/frame_rule.h"
#include "unwind/prologue.h"

namespace clrscope::capture {

enum class CodeOwner : uint8_t {
  kNone,     // no code
  kNative,   //
  kMethod,   //
  kStub,     // the runtime's, without a frame: jumps, and helpers that call nothing
  kUnknown,  // a stub, or a method that the runtime has not told of yet
};

class CodeRules final : public MethodStarts, public analysis::CodeListener {
 public:
  explicit CodeRules(std::unique_ptr<ProcessMemory> memory);

  void OnMethod(const Method& method) override;
  void OnUnload(const Method& method) override;
  // Another program runs.
  void Forget();

  struct Answer {
    unwind::FrameRule rule;  // kSnapshot: not known
    CodeOwner owner = CodeOwner::kNone;
    bool returns = false;  // a call comes right before the address, or it restores
    // What a signal's handler returns to: the registers lie on the stack, as the kernel put them.
    bool restores = false;
  };
  // `leaf`: `ip` is the instruction that runs, not what a call returns to.
  Answer At(uint64_t ip, bool leaf, const CodeRanges& code);
  // The process's memory cannot be read.
  bool blind() const { return blind_; }

  uint64_t StartOf(uint64_t address) const override;

 private:
  struct Body {
    uint64_t start = 0, end = 0, method_id = 0;
  };
  using Methods = std::map<uint64_t, Method>;
  // Returns the one after it.
  Methods::iterator Erase(Methods::iterator it);
  Answer Look(uint64_t ip, bool leaf, const CodeRanges& code);
  CodeOwner OwnerOf(uint64_t at, const CodeRanges& code, Body* body);
  bool FindMethod(uint64_t at, Body* body) const;
  unwind::FrameRule MethodRule(const Body& body, uint64_t ip, bool leaf);
  // The method's first version, on whose frame `replacement` runs. Returns false: not known.
  bool FirstVersion(const Body& body, const unwind::Prologue& replacement, unwind::Prologue* out);
  std::vector<unwind::FrameRule> EpiloguesFrom(const Body& body, uint64_t at, size_t most);
  // `keep`: for when the process has ended, and its code cannot be read any more.
  bool FollowsCall(uint64_t ip, bool keep);
  bool Restores(uint64_t ip);
  Bytes Read(uint64_t address, uint64_t end, std::span<std::byte> room);

  mutable std::mutex mutex_;
  // Everything below is guarded by it.
  std::unique_ptr<ProcessMemory> memory_;
  CodeImages images_;
  Methods methods_;                                       // by start, apart
  std::unordered_multimap<uint64_t, uint64_t> versions_;  // starts by method
  struct Known {
    uint64_t rule;  // packed
    CodeOwner owner;
    bool returns, restores;
  };
  std::unordered_map<uint64_t, Known> known_;  // by address and whether it is a leaf
  std::unordered_set<uint64_t> after_calls_;   // in code that nobody had told of
  std::atomic<bool> blind_{false};
};

}  // namespace clrscope::capture
