// SPDX-License-Identifier: Apache-2.0
#include "agent/async/async_callers.h"

#include <algorithm>
#include <cstring>

#include "agent/async/async_roles.h"
#include "agent/async/box_search.h"

namespace clrscope::agent {
namespace {

constexpr int kMostHops = 256;
constexpr size_t kObjectBytes = 256;  // of an object that is read at once
constexpr uintptr_t kTypeMask = ~uintptr_t{7};

// An object's first bytes.
class Object {
 public:
  bool Load(const OwnReader& memory, uintptr_t at) {
    at_ = at;
    size_ = IsPlausible(at) ? memory.ReadSome(at, bytes_, sizeof bytes_) : 0;
    return size_ >= sizeof(uintptr_t);
  }
  void Take(uintptr_t at, std::span<const std::byte> bytes) {
    at_ = at;
    size_ = std::min(bytes.size(), sizeof bytes_);
    std::memcpy(bytes_, bytes.data(), size_);
  }
  uintptr_t type() const {
    uintptr_t w = 0;
    std::memcpy(&w, bytes_, sizeof w);
    return w & kTypeMask;
  }
  // A field; what lies behind the first bytes is read now.
  template <class T>
  bool Field(const OwnReader& memory, size_t offset, T* out) const {
    if (offset + sizeof *out > size_) return memory.Read(at_ + offset, out);
    std::memcpy(out, bytes_ + offset, sizeof *out);
    return true;
  }

 private:
  uintptr_t at_ = 0;
  size_t size_ = 0;
  std::byte bytes_[kObjectBytes];
};

enum class LedBy : uint8_t { kTask, kAction, kContinuation };

class Chain {
 public:
  Chain(const AsyncTypes& types, std::span<uint32_t> out, AsyncFollowed* followed)
      : types_(types), memory_(types.memory()), out_(out), followed_(followed) {}

  size_t count() const { return count_; }

  AsyncEnd From(const FoundBox& box) {
    const AsyncType& type = *box.type;
    Object o;
    if (!box.bytes.empty()) {
      o.Take(box.box, box.bytes);
    } else if (!o.Load(memory_, box.box)) {
      return AsyncEnd::kUnreadable;
    }
    uintptr_t next = 0;
    AsyncEnd end = AfterBox(o, type, &next);
    // What led to an object decides what it may be.
    LedBy from = LedBy::kTask;
    for (int hops = 0; end == AsyncEnd::kAll && next != 0; ++hops) {
      if (hops == kMostHops) return AsyncEnd::kTooDeep;
      end = Step(&from, &next);
    }
    return end;
  }

 private:
  // Its first fields, in the order of their declaration as the runtime lays references out first.
  // Source: dotnet/runtime, ManualResetValueTaskSourceCore.cs, release/8.0 to 10.0
  struct Source {
    uintptr_t continuation = 0, state = 0;
  };

  const AsyncType* TypeOf(const Object& o, uint32_t* frame, AsyncEnd* end) {
    bool pending = false;
    const AsyncType* type = types_.FindOrAdd(o.type(), frame, &pending);
    if (type != nullptr) return type;
    followed_->new_type = followed_->new_type || pending;
    *end = pending ? AsyncEnd::kNewType : AsyncEnd::kOther;
    return nullptr;
  }

  // One object on: `next` is what waits, 0 at the end.
  AsyncEnd Step(LedBy* from, uintptr_t* next) {
    Object o;
    if (!o.Load(memory_, *next)) return AsyncEnd::kUnreadable;
    uint32_t frame = 0;
    AsyncEnd end = AsyncEnd::kAll;
    const AsyncType* type = TypeOf(o, &frame, &end);
    if (type == nullptr) return end;
    switch (type->kind) {
      case AsyncKind::kBox:
      case AsyncKind::kPooledBox: {
        int32_t state = 0;
        if (!StateOf(o, *type, &state)) return AsyncEnd::kUnreadable;
        if (state < 0) return AsyncEnd::kOther;  // it does not wait
        if (count_ == out_.size()) return AsyncEnd::kTooDeep;
        out_[count_++] = frame;
        *from = LedBy::kTask;
        return AfterBox(o, *type, next);
      }
      case AsyncKind::kTask:
        // An action that has a task as its target does with it what it likes.
        if (*from == LedBy::kAction) return AsyncEnd::kOther;
        *from = LedBy::kTask;
        return Follow(o, type->next, next);
      case AsyncKind::kAction:
        if (*from == LedBy::kAction) return AsyncEnd::kOther;
        *from = LedBy::kAction;
        return Follow(o, type->next, next);
      case AsyncKind::kWrapper:
        *from = LedBy::kContinuation;
        return Follow(o, type->next, next);
      case AsyncKind::kAwait:
      case AsyncKind::kContinueWith:
        if (*from != LedBy::kTask) return AsyncEnd::kOther;
        *from = LedBy::kContinuation;
        return Follow(o, type->next, next);
      case AsyncKind::kList:
        return *from == LedBy::kTask ? FirstOf(o, *type, next) : AsyncEnd::kOther;
      case AsyncKind::kBlocked:
      case AsyncKind::kCompleted:
        if (*from != LedBy::kTask) return AsyncEnd::kOther;
        *next = 0;
        return AsyncEnd::kAll;
      default:
        return AsyncEnd::kOther;
    }
  }

  AsyncEnd Follow(const Object& o, size_t offset, uintptr_t* next) {
    return o.Field(memory_, offset, next) ? AsyncEnd::kAll : AsyncEnd::kUnreadable;
  }

  bool StateOf(const Object& o, const AsyncType& type, int32_t* state) {
    if (!type.machine_is_class) return o.Field(memory_, type.machine_at + type.state_at, state);
    uintptr_t machine = 0;
    return o.Field(memory_, type.machine_at, &machine) && IsPlausible(machine) &&
           memory_.Read(machine + type.state_at, state);
  }

  AsyncEnd AfterBox(const Object& o, const AsyncType& type, uintptr_t* next) {
    if (type.promise_at != 0) {
      uintptr_t machine = 0;
      if (!o.Field(memory_, type.machine_at, &machine) || !IsPlausible(machine))
        return AsyncEnd::kUnreadable;
      Source core;
      return memory_.Read(machine + type.promise_at, &core) ? AfterSource(core, next)
                                                            : AsyncEnd::kUnreadable;
    }
    if (type.kind == AsyncKind::kPooledBox) {
      Source core;
      return o.Field(memory_, type.next, &core) ? AfterSource(core, next) : AsyncEnd::kUnreadable;
    }
    return Follow(o, type.next, next);
  }

  // ManualResetValueTaskSourceCore: its continuation, and the object that that is called with. Only
  // the runtime's own continuations are known to resume that object.
  AsyncEnd AfterSource(const Source& core, uintptr_t* next) {
    *next = 0;
    if (core.continuation == 0 || core.state == 0) return AsyncEnd::kAll;  // nobody, or it is done
    AsyncEnd end = AsyncEnd::kAll;
    uint32_t frame = 0;
    Object o;
    if (!o.Load(memory_, core.continuation)) return AsyncEnd::kUnreadable;
    const AsyncType* type = TypeOf(o, &frame, &end);
    if (type == nullptr) return end;
    uintptr_t target = 0;
    if (type->kind != AsyncKind::kObjectAction || !o.Field(memory_, type->next, &target))
      return AsyncEnd::kOther;
    if (!o.Load(memory_, target)) return AsyncEnd::kUnreadable;
    type = TypeOf(o, &frame, &end);
    if (type == nullptr) return end;
    if (type->kind != AsyncKind::kInvoker) return AsyncEnd::kOther;
    *next = core.state;
    return AsyncEnd::kAll;
  }

  AsyncEnd FirstOf(const Object& list, const AsyncType& type, uintptr_t* next) {
    uintptr_t items = 0;
    int32_t size = 0;
    if (!list.Field(memory_, type.next, &items) || !list.Field(memory_, type.count, &size))
      return AsyncEnd::kUnreadable;
    Object array;
    if (!array.Load(memory_, items)) return AsyncEnd::kUnreadable;
    AsyncEnd end = AsyncEnd::kAll;
    uint32_t frame = 0;
    const AsyncType* array_type = TypeOf(array, &frame, &end);
    if (array_type == nullptr) return end;
    if (array_type->kind != AsyncKind::kArray) return AsyncEnd::kOther;
    // An array: its method table, its length, its elements.
    constexpr size_t kLength = 8, kElements = 16;
    constexpr int32_t kMostItems = 64;
    uint32_t length = 0;
    if (!array.Field(memory_, kLength, &length)) return AsyncEnd::kUnreadable;
    if (size < 0 || static_cast<uint32_t>(size) > length) return AsyncEnd::kUnreadable;
    uintptr_t first = 0;
    int waiting = 0;
    for (int32_t i = 0; i < size && i < kMostItems && waiting < 2; ++i) {
      uintptr_t item = 0;
      if (!array.Field(memory_, kElements + static_cast<size_t>(i) * 8, &item))
        return AsyncEnd::kUnreadable;
      if (item == 0) continue;  // taken out again
      if (waiting++ == 0) first = item;
    }
    if (waiting > 1) followed_->several = true;
    *next = first;
    return AsyncEnd::kAll;
  }

  const AsyncTypes& types_;
  const OwnReader& memory_;
  std::span<uint32_t> out_;
  AsyncFollowed* followed_;
  size_t count_ = 0;
};

// What a frame holds. Empty: `end` says why.
std::span<const uintptr_t> WordsOf(const OwnReader& memory, const FrameSpan& frame,
                                   const StackBounds& own, uintptr_t* room, AsyncEnd* end) {
  *end = AsyncEnd::kNoBox;
  const size_t count = (frame.high - frame.low) / sizeof(uintptr_t);
  if (frame.high <= frame.low || count > kFrameWords) return {};
  if (own.Holds(frame.low) && frame.high <= own.high)
    return {reinterpret_cast<const uintptr_t*>(frame.low), count};  // NOLINT
  *end = AsyncEnd::kUnreadable;
  const size_t size = count * sizeof(uintptr_t);
  if (room == nullptr || memory.ReadSome(frame.low, room, size) != size) return {};
  return {room, count};
}

}  // namespace

AsyncFollowed FollowAsyncCallers(CodeTable& code, const AsyncTypes& types, const StackBounds& own,
                                 WalkRoom room, size_t* count) {
  AsyncFollowed out;
  size_t at = 0;
  for (uint64_t role = *count == 0 ? 0 : code.role(room.frames[0]); at + 1 < *count; ++at) {
    const uint64_t next = code.role(room.frames[at + 1]);
    if (AsyncRole::IsMachine(role) && next == AsyncRole::kResumes) break;
    role = next;
  }
  if (at + 1 >= *count) return out;
  const std::span<const uintptr_t> words =
      WordsOf(types.memory(), room.spans[at], own, room.words, &out.end);
  if (words.empty()) return out;
  const FoundBox found = FindBox(code, types, room.frames[at], words, own, room.window);
  out.new_type = found.new_type;
  out.end = found.end;
  if (found.end != AsyncEnd::kAll) return out;
  uint32_t callers[kMostAsyncCallers];
  Chain chain(types, callers, &out);
  out.end = chain.From(found);
  size_t n = at + 1;
  if (chain.count() == 0) return out;
  const size_t fit = std::min(chain.count(), kMaxDepth - 1 - n);
  for (size_t i = 0; i < fit; ++i) room.frames[n++] = callers[i];
  if (fit < chain.count() || IsUnknown(out.end)) room.frames[n++] = kTruncatedFrame;
  *count = n;
  return out;
}

}  // namespace clrscope::agent
