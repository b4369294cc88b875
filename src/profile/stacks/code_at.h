// SPDX-License-Identifier: Apache-2.0
// What was at an address at a time: a method that the runtime told of, a place in a mapped file, or
// code that the runtime wrote for itself (stubs).
#pragma once

#include <cstdint>

#include "profile/stacks/code_map.h"
#include "profile/stacks/image_map.h"

namespace clrscope::profile {

struct CodeAt {
  enum class Kind : uint8_t { kUnknown, kMethod, kImage, kStub };
  Kind kind = Kind::kUnknown;
  MethodMatch method;            // kMethod
  const Image* image = nullptr;  // kImage and kStub
  bool ambiguous = false;        // it may have been something else then
};

// Valid until one of the maps changes.
inline CodeAt WhatIsAt(const CodeMap& methods, const ImageMap& images, uint64_t address,
                       int64_t time_ns) {
  CodeAt at;
  at.method = methods.Find(address, time_ns);
  if (at.method.method) {
    at.kind = CodeAt::Kind::kMethod;
    at.ambiguous = at.method.ambiguous;
    return at;
  }
  at.image = images.Find(address, time_ns, &at.ambiguous);
  if (at.image != nullptr)
    at.kind = at.image->generated() ? CodeAt::Kind::kStub : CodeAt::Kind::kImage;
  return at;
}

}  // namespace clrscope::profile
