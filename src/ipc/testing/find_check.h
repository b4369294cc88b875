// SPDX-License-Identifier: Apache-2.0
// A check of a diagnosis by its name; null: it was not made.
#pragma once

#include <string_view>

#include "ipc/diagnosis/diagnosis.h"

namespace clrscope::ipc::testing {

inline const Check* Find(const Diagnosis& diagnosis, std::string_view name) {
  for (const Check& check : diagnosis.checks)
    if (check.name == name) return &check;
  return nullptr;
}

}  // namespace clrscope::ipc::testing
