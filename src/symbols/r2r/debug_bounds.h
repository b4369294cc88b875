// SPDX-License-Identifier: Apache-2.0
// The map of a precompiled method, as its image's debug information packs it.
// Source: dotnet/runtime src/coreclr/tools/aot/ILCompiler.Reflection.ReadyToRun/DebugInfo.cs,
// NibbleReader.cs
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "symbols/lines/il_map.h"

namespace clrscope::symbols {

// Major versions of images whose debug information is known: .NET 8 has 9, .NET 9 10, .NET 10 16.
inline constexpr uint16_t kOldestDebugInfo = 9, kNewestDebugInfo = 17;

// `section`: the image's debug information; `offset`: what its array says of the method's main
// function. Native offsets are from that function's begin, and cover its handlers too.
// errors: kRefused for another version; kCorrupt
Result<std::vector<IlMapEntry>> DecodeDebugBounds(Bytes section, uint32_t offset, uint16_t major);

}  // namespace clrscope::symbols
