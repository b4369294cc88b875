// SPDX-License-Identifier: Apache-2.0
// Finds the box of a running state machine by the frame of its MoveNext.
//
// `this` is a pointer to the state machine, and the handler that every async MoveNext has needs it:
// the compiler keeps it in the frame in optimised code, too. Other words of the frame may be what
// calls before this one left behind. A box passes only if its type is known and has this state
// machine, its state machine begins at the word, the builder in that refers back to the box, and
// the state says that it runs, which boxes that wait or are done do not. Should two pass, none is
// taken. Once many searches found it at one place, only that is looked at, and the box there has to
// pass as well.
#pragma once

#include <span>

#include "agent/async/async_callers.h"

namespace clrscope::agent {

struct FoundBox {
  AsyncEnd end = AsyncEnd::kNoBox;  // kAll: found
  uintptr_t box = 0;
  uintptr_t machine = 0;  // `this`
  const AsyncType* type = nullptr;
  bool new_type = false;
  std::span<const std::byte> bytes{};  // of the box, where the window still has them
};

// `frame`: of a state machine's MoveNext, which holds `words`.
FoundBox FindBox(CodeTable& code, const AsyncTypes& types, uint32_t frame,
                 std::span<const uintptr_t> words, const StackBounds& own,
                 std::byte (&window)[kStackWindow]);

}  // namespace clrscope::agent
