// SPDX-License-Identifier: Apache-2.0
// Header and strings of the diagnostics protocol.
#include "ipc/protocol/message.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/utf.h"

namespace clrscope::ipc {
namespace {

constexpr std::string_view kMagic{"DOTNET_IPC_V1\0", 14};
constexpr size_t kSizeOffset = kMagic.size();

}  // namespace

Result<Header> ParseHeader(Bytes bytes) {
  ByteReader reader(bytes);
  const Bytes magic = reader.Take(kMagic.size());
  Header header;
  header.size = reader.U16();
  const unsigned set = reader.U8();
  const unsigned id = reader.U8();
  reader.Skip(2);
  if (!reader.ok())
    return Error::At(ErrorCode::kTruncated, bytes.size(), "a diagnostics header ends too early");
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    return Error::At(ErrorCode::kCorrupt, 0,
                     "the reply does not start with DOTNET_IPC_V1: no .NET runtime speaks there");
  if (header.size < kHeaderSize)
    return Error::At(ErrorCode::kCorrupt, kSizeOffset,
                     fmt::format("a diagnostics message claims {} bytes, fewer than its header has",
                                 header.size));
  header.command = static_cast<Command>(set << 8 | id);
  return header;
}

MessageWriter::MessageWriter(Command command) {
  Raw(AsBytes(kMagic.data(), kMagic.size()));
  U8(0).U8(0);  // the size, see Finish()
  const auto code = static_cast<uint16_t>(command);
  U8(static_cast<uint8_t>(code >> 8)).U8(static_cast<uint8_t>(code & 0xff));
  U8(0).U8(0);  // reserved
}

MessageWriter& MessageWriter::Raw(Bytes bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

MessageWriter& MessageWriter::String(std::string_view utf8) {
  const std::u16string text = ToUtf16(utf8);
  U32(static_cast<uint32_t>(text.size() + 1));
  return Raw(AsBytes(text.c_str(), (text.size() + 1) * sizeof(char16_t)));
}

MessageWriter& MessageWriter::StringOrNull(std::string_view utf8) {
  return utf8.empty() ? U32(0) : String(utf8);
}

Result<std::vector<std::byte>> MessageWriter::Finish() {
  if (bytes_.size() > kMaxMessageSize)
    return Error{ErrorCode::kUsage,
                 fmt::format("a request of {} bytes is more than the {} that the "
                             "diagnostics protocol can carry",
                             bytes_.size(), kMaxMessageSize)};
  const auto size = static_cast<uint16_t>(bytes_.size());
  std::memcpy(bytes_.data() + kSizeOffset, &size, sizeof size);
  return std::move(bytes_);
}

}  // namespace clrscope::ipc
