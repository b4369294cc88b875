// SPDX-License-Identifier: Apache-2.0
// What the runtime's refusals mean, in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clrscope::ipc {

constexpr uint32_t kBadEncoding = 0x80131384;
constexpr uint32_t kUnknownCommand = 0x80131385;
constexpr uint32_t kUnknownMagic = 0x80131386;
constexpr uint32_t kNotYetAvailable = 0x8013135b;
constexpr uint32_t kInvalidArgument = 0x80070057;
constexpr uint32_t kProfilerAlreadyActive = 0x8013136a;

inline bool IsFailure(uint32_t hresult) { return (hresult & 0x80000000u) != 0; }

// "0x80131385 (unknown command)"; an HRESULT that is not in the table gives its number alone.
std::string NameHresult(uint32_t hresult);

}  // namespace clrscope::ipc
