// SPDX-License-Identifier: Apache-2.0
// The frame of the diagnostics protocol: a 20-byte header and a payload of at most 65,515 bytes.
// Source: dotnet/diagnostics documentation/design-docs/ipc-protocol.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::ipc {

constexpr size_t kHeaderSize = 20;
constexpr size_t kMaxMessageSize = 0xffff;

// A message's address: command set in the high byte, command id in the low one.
enum class Command : uint16_t {
  kDump1 = 0x0101,
  kDump2 = 0x0102,  // .NET 6: flags instead of a bool
  kDump3 = 0x0103,  // .NET 7: an error comes with a text
  kStopTracing = 0x0201,
  kCollectTracing1 = 0x0202,  // versions 2 to 6 follow
  kAttachProfiler = 0x0301,
  kStartupProfiler = 0x0302,
  kProcessInfo1 = 0x0400,
  kResumeRuntime = 0x0401,
  kProcessEnvironment = 0x0402,
  kSetEnvironmentVariable = 0x0403,
  kProcessInfo2 = 0x0404,
  kEnablePerfMap = 0x0405,
  kDisablePerfMap = 0x0406,
  kApplyStartupHook = 0x0407,
  kProcessInfo3 = 0x0408,
  kOk = 0xff00,
  kError = 0xffff,
};

// 16 bytes as they lie on the wire (a GUID's first three fields are little-endian). Also a
// runtime's cookie, by which one start of one runtime is told from all others.
using Guid = std::array<uint8_t, 16>;

struct Header {
  uint16_t size = 0;  // of the whole message, bytes; at least kHeaderSize
  Command command{};

  size_t payload_size() const { return size - kHeaderSize; }
};

// Reads the first kHeaderSize bytes of `bytes`. errors: kTruncated, kCorrupt (other magic, or a
// size that is smaller than the header)
Result<Header> ParseHeader(Bytes bytes);

// Builds one request.
class MessageWriter {
 public:
  explicit MessageWriter(Command command);

  MessageWriter& U8(uint8_t v) { return Raw(AsBytes(&v, sizeof v)); }
  MessageWriter& Bool(bool v) { return U8(v ? 1 : 0); }
  MessageWriter& U32(uint32_t v) { return Raw(AsBytes(&v, sizeof v)); }
  MessageWriter& U64(uint64_t v) { return Raw(AsBytes(&v, sizeof v)); }
  MessageWriter& Raw(Bytes bytes);
  // UTF-16 with its NUL, after a u32 that counts both; "" is a count of 1.
  MessageWriter& String(std::string_view utf8);
  // The same, but "" is the null string: a count of 0.
  MessageWriter& StringOrNull(std::string_view utf8);

  // The message with its size filled in. errors: kUsage (longer than the u16 size can say)
  Result<std::vector<std::byte>> Finish();

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace clrscope::ipc
