// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/code_resolver.h"

#include <algorithm>
#include <array>

#include "agent/stacks/il_body.h"
#include "agent/stacks/own_reader.h"
#include "unwind/prologue.h"

namespace clrscope::agent {
namespace {

constexpr size_t kMaxStarts = 64;  // of one function's code
constexpr uint32_t kMaxReJits = 8;
constexpr uintptr_t kLongestBody = size_t{1} << 16;
constexpr size_t kPrologueBytes = 96, kLongestInstruction = 15, kPage = 4096;

}  // namespace

// Nobody says how long the code is: its memory may end with it. The page on which it begins is
// there; what lies on the next is read through the kernel.
unwind::Prologue CodeResolver::PrologueAt(uintptr_t start) const {
  std::array<std::byte, kPrologueBytes> copy{};
  const size_t size = lookup_.Look([&] {
    const auto* code = reinterpret_cast<const std::byte*>(start);  // NOLINT
    const size_t here = std::min(kPrologueBytes, kPage - start % kPage);
    std::copy_n(code, here, copy.begin());
    if (here == copy.size()) return here;
    return here + OwnReader::OfThisProcess().ReadSome(start + here, copy.data() + here,
                                                      copy.size() - here);
  });
  const unwind::Prologue p = unwind::DecodePrologue({copy.data(), size});
  // It may go on where nothing was read.
  return size < copy.size() && p.length + kLongestInstruction > size ? unwind::Prologue{} : p;
}

std::span<const uintptr_t> CodeResolver::StartsOf(FunctionId function,
                                                  std::span<uintptr_t> room) const {
  size_t total = 0;
  const auto add = [&](ReJitId rejit) {
    const std::span<uintptr_t> rest = room.subspan(total);
    const auto capacity = static_cast<uint32_t>(rest.size());
    uint32_t count = 0;
    const HResult hr = lookup_.Ask<&ICorProfilerInfo::GetNativeCodeStartAddresses>(
        function, rejit, capacity, &count, rest.data());
    if (!Succeeded(hr) || count >= capacity) return false;
    total += count;
    return true;
  };
  if (!add(0)) return {};  // of the function as it is in its module
  std::array<ReJitId, kMaxReJits> rejits{};
  uint32_t count = 0;
  if (!Succeeded(
          lookup_.Ask<&ICorProfilerInfo::GetReJITIDs>(function, kMaxReJits, &count, rejits.data())))
    count = 0;
  if (count > kMaxReJits) return {};
  for (const ReJitId rejit : std::span(rejits).first(count))
    if (rejit != 0 && !add(rejit)) return {};
  return room.first(total);
}

unwind::FrameRule CodeResolver::ManagedRule(FunctionId function, uintptr_t ip) const {
  unwind::FrameRule rule;
  rule.managed = true;
  rule.state = unwind::RuleState::kSnapshot;
  std::array<uintptr_t, kMaxStarts> room{};
  const std::span<const uintptr_t> starts = StartsOf(function, room);
  uintptr_t own = 0;
  for (const uintptr_t start : starts)
    if (start < ip) own = std::max(own, start);
  // Farther away it is code that is not among them: of before a hot reload, or split off.
  if (own == 0 || ip - own > kLongestBody) return rule;
  const unwind::Prologue prologue = PrologueAt(own);
  unwind::Prologue tier0;
  if (prologue.osr) {
    for (const uintptr_t start : starts) {
      const unwind::Prologue p = start == 0 ? unwind::Prologue{} : PrologueAt(start);
      if (p.osr || !p.known || !p.sets_rbp) continue;
      if (tier0.known && tier0.frame_bytes != p.frame_bytes) return rule;  // which one is it?
      tier0 = p;
    }
  }
  return RuleOf(prologue, tier0);
}

bool CodeResolver::MayFilter(FunctionId function) const {
  ModuleId module = 0;
  ClassId owner = 0;
  uint32_t token = 0, arguments = 0, size = 0;
  const uint8_t* body = nullptr;
  return !Succeeded(lookup_.Ask<&ICorProfilerInfo::GetFunctionInfo2>(
             function, 0u, &owner, &module, &token, 0u, &arguments, nullptr)) ||
         !Succeeded(
             lookup_.Ask<&ICorProfilerInfo::GetILFunctionBody>(module, token, &body, &size)) ||
         body == nullptr || lookup_.Look([&] { return HasFilter(AsBytes(body, size)); });
}

bool CodeResolver::ResolveNative(uintptr_t ip, const NativeMap* native, unwind::FrameRule* rule,
                                 bool* unloadable) {
  *unloadable = false;
  if (native != nullptr) {
    if (const unwind::NativeModule* module = native->Find(ip - 1)) {
      OwnMemory memory;
      *rule = unwind::RuleOfReturn(*module, ip, memory);
      return true;
    }
  }
  *unloadable = true;
  return NativeMap::RuleOfLoaded(ip, rule);
}

CodeResolver::Answer CodeResolver::Resolve(FunctionId function, uintptr_t ip) const {
  Answer out;
  int32_t dynamic = 0;
  out.dynamic = Succeeded(lookup_.Ask<&ICorProfilerInfo::IsFunctionDynamic>(function, &dynamic)) &&
                dynamic != 0;
  out.rule = ManagedRule(function, ip);
  out.rule.exact = out.rule.frame_bytes != 0 && (out.dynamic || MayFilter(function));
  return out;
}

}  // namespace clrscope::agent
