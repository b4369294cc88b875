// SPDX-License-Identifier: Apache-2.0
#include "agent/async/box_search.h"

#include <algorithm>
#include <cstring>

#include "agent/async/async_roles.h"
#include "agent/async/this_home.h"

namespace clrscope::agent {
namespace {

constexpr size_t kMostCandidates = 48;  // different words that may be addresses
constexpr int kMostLooks = 96;          // reads of what turned out to be no box
constexpr uintptr_t kReadPage = 4096;
// A state machine lies behind its box's own fields: at least a method table, Task's seven fields
// and two more; a result type that is a large struct moves it on.
constexpr uintptr_t kLeastBefore = 40, kMostBefore = 256;
constexpr size_t kBuilderWords = 3;  // of which one is the task
constexpr int32_t kRunning = -1;

class Search {
 public:
  Search(const AsyncTypes& types, uint64_t machine, std::byte (&window)[kStackWindow])
      : types_(types), machine_(machine), window_(window) {}

  // `at`: a word of the frame, perhaps `this`.
  void Try(uintptr_t at) {
    if (AsyncRole::IsClass(machine_)) {
      TryClass(at);
    } else {
      TryStruct(at);
    }
  }
  FoundBox Result() const { return found_; }
  // … when nothing was tried after it.
  FoundBox ResultWithBytes() const {
    FoundBox out = found_;
    if (out.box >= begin_ && out.box < begin_ + size_)
      out.bytes = {window_ + (out.box - begin_), size_ - (out.box - begin_)};
    return out;
  }

 private:
  uintptr_t Word(size_t offset) const {
    uintptr_t w = 0;
    std::memcpy(&w, window_ + offset, sizeof w);
    return w;
  }

  // Reads around `at`; what lies before it may be another region of the heap's, which is not there.
  bool Load(uintptr_t at, uintptr_t before) {
    begin_ = at - before;
    size_ = types_.memory().ReadSome(begin_, window_, kStackWindow);
    if (size_ == 0) {
      begin_ = std::max(begin_, at & ~(kReadPage - 1));
      size_ = types_.memory().ReadSome(begin_, window_, kStackWindow);
    }
    size_ -= size_ % sizeof(uintptr_t);
    return begin_ + size_ > at;
  }

  // The builder's reference to the box lies behind `at`, the box before it.
  void TryStruct(uintptr_t at) {
    if (!Load(at, kMostBefore)) return;
    const size_t here = at - begin_;
    uintptr_t last = 0;
    for (size_t o = here; o < size_; o += sizeof(uintptr_t)) {
      const uintptr_t box = Word(o);
      if (box == last || box % 8 != 0 || box < begin_ || box > at - kLeastBefore) continue;
      last = box;
      const AsyncType* type = TypeOf(Word(box - begin_));
      if (type == nullptr || type->machine != machine_ || box + type->machine_at != at) continue;
      Check(box, at, type, here);
    }
  }

  void TryClass(uintptr_t at) {
    if (!Load(at, 0)) return;
    const AsyncType* own = types_.Find(Word(0));
    if (own != nullptr) {
      if (own->kind != AsyncKind::kMachine || own->machine != machine_) return;
      for (size_t i = 0; i < kBuilderWords; ++i) {
        const size_t o = own->builder_at + i * sizeof(uintptr_t);
        if (o + sizeof(uintptr_t) <= size_) TryHolder(Word(o), at, true);
      }
      return;
    }
    for (size_t o = sizeof(uintptr_t); o < std::min<size_t>(size_, kMostBefore); o += 8)
      TryHolder(Word(o), at, false);
  }

  // Whether `box` is one that refers to the state machine at `at`.
  void TryHolder(uintptr_t box, uintptr_t at, bool known) {
    if (!IsPlausible(box) || --looks_ < 0) return;
    uintptr_t words[kMostBefore / sizeof(uintptr_t)];
    const size_t n = types_.memory().ReadSome(box, words, sizeof words) / sizeof(uintptr_t);
    const uintptr_t* end = words + n;
    const uintptr_t* reference = std::find<const uintptr_t*>(words, end, at);
    if (reference == end || !IsPlausible(words[0])) return;
    const AsyncType* type = TypeOf(words[0]);
    if (!known || type == nullptr || type->machine != machine_) return;
    if (type->machine_at / 8 >= n || words[type->machine_at / 8] != at) return;
    Check(box, at, type, 0);
  }

  // The state machine lies at `here` of the window.
  void Check(uintptr_t box, uintptr_t machine, const AsyncType* type, size_t here) {
    int32_t state = 0;
    if (here + type->state_at + sizeof state > size_) return;
    std::memcpy(&state, window_ + here + type->state_at, sizeof state);
    if (state != kRunning) return;
    bool refers = false;
    for (size_t i = 0; i < kBuilderWords; ++i) {
      const size_t o = here + type->builder_at + i * sizeof(uintptr_t);
      refers = refers || (o + sizeof(uintptr_t) <= size_ && Word(o) == box);
    }
    if (!refers || (found_.end == AsyncEnd::kAll && found_.box == box)) return;
    if (found_.end == AsyncEnd::kAll || found_.end == AsyncEnd::kAmbiguous) {
      found_.end = AsyncEnd::kAmbiguous;
      return;
    }
    found_.end = AsyncEnd::kAll;
    found_.box = box;
    found_.machine = machine;
    found_.type = type;
  }

  // What is taken for an object's first word was found on the stack: a new one is noted only if it
  // has the shape of a type.
  const AsyncType* TypeOf(uintptr_t word) {
    if (!IsPlausible(word)) return nullptr;
    if (const AsyncType* known = types_.Find(word)) return known->machine != 0 ? known : nullptr;
    if (--looks_ < 0 || !types_.IsOfCoreLib(word)) return nullptr;
    uint32_t frame = 0;
    bool pending = false;
    (void)types_.FindOrAdd(word, &frame, &pending);
    found_.new_type = found_.new_type || pending;
    return nullptr;
  }

  const AsyncTypes& types_;
  const uint64_t machine_;
  std::byte (&window_)[kStackWindow];
  uintptr_t begin_ = 0;
  size_t size_ = 0;
  int looks_ = kMostLooks;
  FoundBox found_;
};

}  // namespace

FoundBox FindBox(CodeTable& code, const AsyncTypes& types, uint32_t frame,
                 std::span<const uintptr_t> words, const StackBounds& own,
                 std::byte (&window)[kStackWindow]) {
  const uint64_t machine = code.role(frame);
  const uint64_t learned = code.home(frame);
  ThisHome home(learned);
  const auto load = [&](size_t slot) { return words[words.size() - slot]; };  // from its end
  if (home.known() && home.slot() <= words.size()) {
    const uintptr_t word = load(home.slot());
    Search search(types, machine, window);
    if (IsPlausible(word) && !own.Holds(word)) search.Try(word);
    if (search.Result().end == AsyncEnd::kAll) return search.ResultWithBytes();
  }
  Search search(types, machine, window);
  uintptr_t seen[kMostCandidates];
  size_t count = 0;
  for (size_t slot = 1; slot <= words.size(); ++slot) {
    const uintptr_t word = load(slot);
    if (!IsPlausible(word) || own.Holds(word)) continue;
    if (std::find(seen, seen + count, word) != seen + count) continue;
    if (count == kMostCandidates) return {};
    seen[count++] = word;
    search.Try(word);
  }
  FoundBox out = search.Result();
  if (out.end == AsyncEnd::kNoBox && out.new_type) out.end = AsyncEnd::kNewType;
  if (out.end != AsyncEnd::kAll) return out;
  uint64_t equal = 0;
  for (size_t slot = 1; slot <= std::min<size_t>(words.size(), ThisHome::kMostSlots); ++slot)
    equal |= uint64_t{load(slot) == out.machine} << (slot - 1);
  home.Learn(equal);
  if (home.bits() != learned) code.SetHome(frame, learned, home.bits());
  return out;
}

}  // namespace clrscope::agent
