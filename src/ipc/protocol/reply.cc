// SPDX-License-Identifier: Apache-2.0
// Parsers for everything that a runtime, or whoever pretends to be one, can answer.
#include "ipc/protocol/reply.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "base/utf.h"

namespace clrscope::ipc {
namespace {

constexpr std::string_view kAdvertiseMagic{"ADVR_V1\0", 8};

// u32 count of UTF-16 units with the NUL, then the units; a count of 0 is the null string.
std::string ReadString(ByteReader& reader) {
  const size_t units = reader.U32();
  if (units > reader.remaining() / 2) {
    reader.Fail();
    return {};
  }
  Utf16View text{reader.Take(units * 2).data(), units};
  // The spec has the NUL counted; text without one is taken as it is, and text after one is not.
  for (size_t i = 0; i < text.units; ++i)
    if (text[i] == 0) text.units = i;
  return ToUtf8(text);
}

Guid ReadGuid(ByteReader& reader) {
  Guid guid{};
  const Bytes bytes = reader.Take(guid.size());
  if (reader.ok()) std::memcpy(guid.data(), bytes.data(), guid.size());
  return guid;
}

Error Truncated(std::string_view what, Bytes bytes) {
  return Error::At(ErrorCode::kTruncated, bytes.size(),
                   fmt::format("{} ends too early ({} bytes)", what, bytes.size()));
}

}  // namespace

Result<ProcessInfo> ParseProcessInfo(int version, Bytes payload) {
  ByteReader reader(payload);
  ProcessInfo info;
  info.command_version = version;
  const uint32_t layout = version >= 3 ? reader.U32() : 0;
  info.pid = reader.U64();
  info.cookie = ReadGuid(reader);
  info.command_line = ReadString(reader);
  info.os = ReadString(reader);
  info.arch = ReadString(reader);
  if (version >= 2) {
    info.entry_assembly = ReadString(reader);
    info.clr_version = ReadString(reader);
  }
  if (layout >= 1) info.rid = ReadString(reader);
  if (!reader.ok()) return Truncated("the answer to ProcessInfo", payload);
  return info;
}

Result<uint32_t> ParseEnvironmentSize(Bytes payload) {
  ByteReader reader(payload);
  const uint32_t size = reader.U32();
  if (!reader.ok()) return Truncated("the answer to ProcessEnvironment", payload);
  return size;
}

Result<Environment> ParseEnvironment(Bytes block) {
  ByteReader reader(block);
  const uint32_t count = reader.U32();
  if (count > reader.remaining() / 4)
    return Error::At(
        ErrorCode::kCorrupt, 0,
        fmt::format("an environment of {} bytes claims {} entries", block.size(), count));
  Environment environment;
  environment.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string entry = ReadString(reader);
    if (!reader.ok()) return Truncated("the target's environment", block);
    const size_t equals = entry.find('=');
    environment.emplace_back(entry.substr(0, equals),
                             equals == std::string::npos ? "" : entry.substr(equals + 1));
  }
  if (!reader.ok()) return Truncated("the target's environment", block);
  return environment;
}

Result<uint64_t> ParseSessionId(Bytes payload) {
  ByteReader reader(payload);
  const uint64_t id = reader.U64();
  if (!reader.ok()) return Truncated("the session's id", payload);
  return id;
}

Result<Refusal> ParseRefusal(Bytes payload) {
  ByteReader reader(payload);
  Refusal refusal;
  refusal.hresult = reader.U32();
  if (!reader.ok()) return Truncated("an error message", payload);
  // Only Dump3 adds a text; whatever else follows is not worth an error of its own.
  if (reader.remaining() > 0) refusal.text = ReadString(reader);
  return refusal;
}

uint32_t ParseOutcome(Bytes payload) {
  ByteReader reader(payload);
  return reader.U32();
}

Result<Advertise> ParseAdvertise(Bytes bytes) {
  ByteReader reader(bytes);
  const Bytes magic = reader.Take(kAdvertiseMagic.size());
  Advertise advertise;
  advertise.cookie = ReadGuid(reader);
  advertise.pid = reader.U64();
  reader.Skip(2);
  if (!reader.ok()) return Truncated("a runtime's introduction", bytes);
  if (std::memcmp(magic.data(), kAdvertiseMagic.data(), magic.size()) != 0)
    return Error::At(ErrorCode::kCorrupt, 0,
                     "a connection does not start with ADVR_V1: it is not from a .NET runtime");
  return advertise;
}

}  // namespace clrscope::ipc
