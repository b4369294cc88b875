// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/code_resolver.h"

#include <algorithm>
#include <array>

#include "agent/stacks/il_body.h"
#include "unwind/prologue.h"

namespace clrscope::agent {
namespace {

constexpr uint32_t kMaxVersions = 64;  // of one method's code
constexpr uint32_t kMaxRanges = 8;
constexpr size_t kPrologueBytes = 96;

struct Body {
  uintptr_t start = 0;
  unwind::Prologue prologue;
  bool holds = false;  // the address
};

}  // namespace

unwind::FrameRule CodeResolver::ManagedRule(FunctionId function, ReJitId rejit,
                                            uintptr_t ip) const {
  unwind::FrameRule rule;
  rule.managed = true;
  rule.state = unwind::RuleState::kSnapshot;
  std::array<uintptr_t, kMaxVersions> starts{};
  uint32_t count = 0;
  if (!Succeeded(
          info_->GetNativeCodeStartAddresses(function, rejit, kMaxVersions, &count, starts.data())))
    return rule;
  Body own;
  unwind::Prologue tier0;
  bool ambiguous = false;
  for (uint32_t i = 0; i < std::min(count, kMaxVersions); ++i) {
    std::array<CodeRange, kMaxRanges> ranges{};
    uint32_t range_count = 0;
    if (!Succeeded(info_->GetCodeInfo4(starts[i], kMaxRanges, &range_count, ranges.data())) ||
        range_count == 0)
      continue;
    Body body;
    body.start = ranges[0].start;
    const auto* code = reinterpret_cast<const std::byte*>(body.start);  // NOLINT
    body.prologue = unwind::DecodePrologue({code, std::min(ranges[0].size, kPrologueBytes)});
    for (uint32_t r = 0; r < std::min(range_count, kMaxRanges); ++r)
      body.holds = body.holds || (ip > ranges[r].start && ip - ranges[r].start <= ranges[r].size);
    if (body.holds) own = body;
    const unwind::Prologue& p = body.prologue;
    if (!p.osr && p.known && p.sets_rbp) {
      ambiguous = ambiguous || (tier0.known && tier0.frame_bytes != p.frame_bytes);
      tier0 = p;
    }
  }
  if (!own.holds) return rule;
  if (own.prologue.osr && ambiguous) return rule;
  return RuleOf(own.prologue, tier0);
}

bool CodeResolver::MayFilter(FunctionId function) const {
  ModuleId module = 0;
  ClassId owner = 0;
  uint32_t token = 0, arguments = 0, size = 0;
  const uint8_t* body = nullptr;
  return !Succeeded(info_->GetFunctionInfo2(function, 0, &owner, &module, &token, 0, &arguments,
                                            nullptr)) ||
         !Succeeded(info_->GetILFunctionBody(module, token, &body, &size)) || body == nullptr ||
         HasFilter(AsBytes(body, size));
}

bool CodeResolver::ResolveNative(uintptr_t ip, const NativeMap* native, unwind::FrameRule* rule,
                                 bool* unloadable) {
  *unloadable = false;
  if (native != nullptr) {
    if (const unwind::NativeModule* module = native->Find(ip - 1)) {
      OwnMemory memory;
      *rule = unwind::RuleAt(*module, ip - 1, memory);
      return true;
    }
  }
  *unloadable = true;
  return NativeMap::RuleOfLoaded(ip, rule);
}

CodeResolver::Answer CodeResolver::Resolve(uintptr_t ip) const {
  Answer out;
  out.rule.state = unwind::RuleState::kSnapshot;
  const auto* at = reinterpret_cast<const uint8_t*>(ip - 1);  // NOLINT
  ReJitId rejit = 0;
  if (!Succeeded(info_->GetFunctionFromIP3(at, &out.function, &rejit)) || out.function == 0)
    return out;
  int32_t dynamic = 0;
  out.dynamic = Succeeded(info_->IsFunctionDynamic(out.function, &dynamic)) && dynamic != 0;
  out.rule = ManagedRule(out.function, rejit, ip);
  out.rule.exact = out.rule.frame_bytes != 0 && (out.dynamic || MayFilter(out.function));
  return out;
}

}  // namespace clrscope::agent
