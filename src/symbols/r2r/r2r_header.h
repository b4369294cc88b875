// SPDX-License-Identifier: Apache-2.0
// The header of code that was compiled before it ran (ReadyToRun), in an assembly's own image or in
// one image of many assemblies (composite).
// Source: dotnet/runtime docs/design/coreclr/botr/readytorun-format.md,
// src/coreclr/inc/readytorun.h
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/pe/pe_image.h"

namespace clrscope::symbols {

enum class R2rSectionType : uint32_t {
  kRuntimeFunctions = 102,
  kMethodDefEntryPoints = 103,
  kDebugInfo = 105,
  kComponentAssemblies = 115,
  kOwnerCompositeExecutable = 116,
};

struct R2rSection {
  uint32_t type = 0;  // R2rSectionType, or one that nobody here needs
  DataDirectory where;
};

struct R2rHeader {
  uint16_t major = 0, minor = 0;
  uint32_t flags = 0;
  std::vector<R2rSection> sections;

  // An assembly whose code lies in a composite image, that kOwnerCompositeExecutable names.
  bool is_component() const { return (flags & 0x20) != 0; }
  // Both zero where there is none.
  DataDirectory Section(R2rSectionType type) const;
};

// errors: kNotFound when the image has no precompiled code; kCorrupt, kTruncated
Result<R2rHeader> ReadR2rHeader(const PeImage& image);

// The file name of the composite image that has a component's code; "" where there is none.
std::string_view OwnerComposite(const PeImage& image, const R2rHeader& component);

// The parts of a composite image that belong to its assemblies, in their order; each has the
// version of `composite` and the entry points of its methods. errors: kCorrupt, kTruncated
Result<std::vector<R2rHeader>> ReadR2rComponents(const PeImage& image, const R2rHeader& composite);

}  // namespace clrscope::symbols
