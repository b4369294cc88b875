// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/code_rules.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "unwind/call_site.h"
#include "unwind/leaf_rule.h"

namespace clrscope::capture {
namespace {

using unwind::FrameRule;
using unwind::Prologue;
using unwind::RuleState;

constexpr size_t kPrologueBytes = 96, kEpilogueBytes = 48;
constexpr size_t kMostKnown = 200'000, kMostMethods = 2'000'000;

FrameRule NotKnown() {
  FrameRule rule;
  rule.state = RuleState::kSnapshot;
  return rule;
}

}  // namespace

CodeRules::CodeRules(std::unique_ptr<ProcessMemory> memory)
    : memory_(std::move(memory)), images_(memory_.get()) {}

// Not all code whose place is used again was unloaded with an event.
void CodeRules::OnMethod(const Method& method) {
  const std::lock_guard lock(mutex_);
  const auto there = methods_.find(method.start);
  if (there != methods_.end() && there->second.size == method.size && there->second.id == method.id)
    return;
  auto after = methods_.lower_bound(method.start + method.size);
  while (after != methods_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.size <= method.start) break;
    after = Erase(before);
  }
  if (methods_.size() >= kMostMethods) return;
  methods_.emplace(method.start, method);
  versions_.emplace(method.id, method.start);
}

void CodeRules::OnUnload(const Method& method) {
  const std::lock_guard lock(mutex_);
  if (const auto it = methods_.find(method.start); it != methods_.end()) Erase(it);
}

CodeRules::Methods::iterator CodeRules::Erase(Methods::iterator it) {
  const auto [first, end] = versions_.equal_range(it->second.id);
  const auto version =
      std::find_if(first, end, [&](const auto& v) { return v.second == it->first; });
  if (version != end) versions_.erase(version);
  known_.clear();
  return methods_.erase(it);
}

void CodeRules::Forget() {
  const std::lock_guard lock(mutex_);
  images_.Forget();
  methods_.clear();
  versions_.clear();
  known_.clear();
  after_calls_.clear();
}

uint64_t CodeRules::StartOf(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  Body body;
  return FindMethod(address, &body) ? body.start : kUnknown;
}

bool CodeRules::FindMethod(uint64_t at, Body* body) const {
  auto it = methods_.upper_bound(at);
  if (it == methods_.begin()) return false;
  --it;
  if (at - it->first >= it->second.size) return false;
  *body = {it->first, it->first + it->second.size, it->second.id};
  return true;
}

CodeRules::Answer CodeRules::At(uint64_t ip, bool leaf, const CodeRanges& code) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = ip * 2 + (leaf ? 1 : 0);
  if (const auto it = known_.find(key); it != known_.end())
    return {FrameRule::Unpack(it->second.rule), it->second.owner, it->second.returns,
            it->second.restores};
  const Answer answer = Look(ip, leaf, code);
  if (memory_->refused()) blind_ = true;
  // What nobody has told of yet may be told the next time.
  if (answer.owner == CodeOwner::kNone || answer.owner == CodeOwner::kUnknown) return answer;
  if (known_.size() >= kMostKnown) known_.clear();
  known_[key] = {answer.rule.Pack(), answer.owner, answer.returns, answer.restores};
  return answer;
}

CodeOwner CodeRules::OwnerOf(uint64_t at, const CodeRanges& code, Body* body) {
  switch (code.KindOf(at)) {
    case CodeKind::kNone:
      return CodeOwner::kNone;
    case CodeKind::kNative:
      return CodeOwner::kNative;
    case CodeKind::kManaged:
      break;
  }
  if (const uint64_t base = code.ImageOf(at); base != 0) {
    CodeImages::Function function;
    switch (images_.FunctionAt(base, at, &function)) {
      case CodeImages::Found::kFunction:
        *body = {function.start, function.end, 0};
        return CodeOwner::kMethod;
      case CodeImages::Found::kNone:
        return CodeOwner::kStub;
      case CodeImages::Found::kNoTable:
        break;
    }
  }
  return FindMethod(at, body) ? CodeOwner::kMethod : CodeOwner::kUnknown;
}

CodeRules::Answer CodeRules::Look(uint64_t ip, bool leaf, const CodeRanges& code) {
  Answer answer;
  answer.rule = NotKnown();
  const uint64_t at = leaf ? ip : ip - 1;
  Body body;
  answer.owner = OwnerOf(at, code, &body);
  if (answer.owner == CodeOwner::kNone) return answer;
  answer.restores = !leaf && answer.owner == CodeOwner::kNative && Restores(ip);
  answer.returns =
      answer.restores || (!leaf && FollowsCall(ip, answer.owner == CodeOwner::kUnknown));
  if (answer.owner == CodeOwner::kNative) answer.rule = images_.NativeRule(code.ImageOf(at), at);
  if (answer.owner == CodeOwner::kMethod) answer.rule = MethodRule(body, ip, leaf);
  return answer;
}

Bytes CodeRules::Read(uint64_t address, uint64_t end, std::span<std::byte> room) {
  const size_t size = std::min<uint64_t>(end - address, room.size());
  return {room.data(), memory_->Read(address, room.first(size))};
}

FrameRule CodeRules::MethodRule(const Body& body, uint64_t ip, bool leaf) {
  std::array<std::byte, kPrologueBytes> start_room;
  std::array<std::byte, kEpilogueBytes> at_room;
  unwind::LeafCode code;
  code.start = Read(body.start, body.end, start_room);
  if (code.start.empty()) return NotKnown();
  const Prologue prologue = unwind::DecodePrologue(code.start);
  Prologue first;
  if (prologue.known && prologue.osr) {
    if (!FirstVersion(body, prologue, &first)) return NotKnown();
  }
  if (!leaf) {
    const FrameRule rule = unwind::RuleOf(prologue, first);
    if (rule.state == RuleState::kKnown) return rule;
  } else {
    code.offset = ip - body.start;
    code.at = Read(ip, body.end, at_room);
    const FrameRule rule = unwind::LeafRule(code, prologue, first);
    if (rule.state == RuleState::kKnown) return rule;
    if (prologue.known && code.offset < prologue.length) return rule;
  }
  const std::vector<FrameRule> epilogues = EpiloguesFrom(body, ip, 1);
  return epilogues.empty() ? NotKnown() : epilogues.front();
}

// An epilogue of the replacement gives both frames back at once.
bool CodeRules::FirstVersion(const Body& body, const Prologue& replacement, Prologue* out) {
  constexpr size_t kMostEpilogues = 64;
  std::vector<Prologue> versions;
  const auto [begin, end] = versions_.equal_range(body.method_id);
  for (auto v = begin; body.method_id != 0 && v != end; ++v) {
    std::array<std::byte, kPrologueBytes> room;
    const Prologue p = unwind::DecodePrologue(Read(v->second, v->second + room.size(), room));
    if (!p.known || p.osr || !p.sets_rbp) continue;
    const bool same = std::any_of(versions.begin(), versions.end(), [&](const Prologue& other) {
      return other.frame_bytes == p.frame_bytes;
    });
    if (!same) versions.push_back(p);
  }
  if (versions.size() == 1) {
    *out = versions.front();
    return true;
  }
  const uint32_t own = replacement.frame_bytes + 16;
  for (const FrameRule& epilogue : EpiloguesFrom(body, body.start, kMostEpilogues)) {
    if (epilogue.from_rbp || epilogue.rbp_slot == 0 || epilogue.cfa_offset < own + 8) continue;
    const uint32_t frame_bytes = epilogue.cfa_offset - own;
    const auto match = std::find_if(versions.begin(), versions.end(), [&](const Prologue& p) {
      return p.frame_bytes == frame_bytes;
    });
    if (match == versions.end() && !versions.empty()) continue;
    if (match != versions.end()) {
      *out = *match;
      return true;
    }
    out->known = out->sets_rbp = true;
    out->frame_bytes = frame_bytes;
    out->rbp_slot = epilogue.rbp_slot;
    return true;
  }
  return false;
}

std::vector<FrameRule> CodeRules::EpiloguesFrom(const Body& body, uint64_t at, size_t most) {
  constexpr uint64_t kFarthest = 64 << 10;
  std::vector<std::byte> room(std::min(body.end - at, kFarthest));
  return unwind::EpiloguesIn(Read(at, body.end, room), most);
}

// mov rax, SYS_rt_sigreturn; syscall. Source: rt_sigreturn(2); glibc and musl write the same.
bool CodeRules::Restores(uint64_t ip) {
  constexpr uint8_t kRestorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  std::array<std::byte, sizeof kRestorer> room;
  const Bytes code = Read(ip, ip + room.size(), room);
  return code.size() == room.size() && std::memcmp(code.data(), kRestorer, sizeof kRestorer) == 0;
}

bool CodeRules::FollowsCall(uint64_t ip, bool keep) {
  std::array<std::byte, unwind::kLongestCall> room;
  if (ip < room.size()) return false;
  const Bytes code = Read(ip - room.size(), ip, room);
  if (code.size() != room.size()) return after_calls_.contains(ip);
  if (!unwind::EndsWithCall(code)) return false;
  if (keep) {
    if (after_calls_.size() >= kMostKnown) after_calls_.clear();
    after_calls_.insert(ip);
  }
  return true;
}

}  // namespace clrscope::capture
