// SPDX-License-Identifier: Apache-2.0
#include "import/other_kind.h"

#include <fmt/format.h>

#include <string_view>

namespace clrscope::import {
namespace {

struct Kind {
  size_t offset;
  std::string_view magic;
  std::string_view is;      // the rest of a sentence
  std::string_view advice;  // of the file itself
  std::string_view gzipped;
};

using namespace std::string_view_literals;

constexpr std::string_view kUnread = ", which clrscope does not read",
                           kGunzip = "; decompress it first with `gzip -dc {} > FILE`",
                           kByItself = "; give it by itself";

constexpr Kind kKinds[] = {
    {0, "\x28\xb5\x2f\xfd"sv, "compressed with zstd",
     "; decompress it first with `zstd -dc {} > FILE`", kGunzip},
    {0, "\xfd\x37zXZ\0"sv, "compressed with xz", "; decompress it first with `xz -dc {} > FILE`",
     kGunzip},
    {0, "BZh"sv, "compressed with bzip2", "; decompress it first with `bzip2 -dc {} > FILE`",
     kGunzip},
    {0, "\x04\x22\x4d\x18"sv, "compressed with lz4",
     "; decompress it first with `lz4 -dc {} > FILE`", kGunzip},
    {0, "\x1f\x8b"sv, "gzipped", kGunzip, kGunzip},
    {0, "PK\x03\x04"sv, "a zip archive", "; unpack it first with `unzip {}`", kGunzip},
    {257, "ustar"sv, "a tar archive", "; unpack it first with `tar -xf {}`",
     "; unpack it first with `tar -xf {}`"},
    {0, "Nettrace"sv, "a nettrace", kByItself, kByItself},  // in a folder of profiles
    {0, "SQLite format 3\0"sv, "a clrscope capture or another SQLite database",
     ", which is not read from a pipe", kGunzip},
    {4, "!FastSerialization.1"sv, "a .gcdump, .netperf or .etlx file", kUnread, kUnread},
    {0, "PERFILE2"sv, "a file of perf", kUnread, kUnread},
    {0, "\x7f\x45LF"sv, "an ELF file (a program or a core dump)", kUnread, kUnread},
    {0, "<!doctype html"sv, "an HTML page", kUnread, kUnread},
    {0, "<!DOCTYPE html"sv, "an HTML page", kUnread, kUnread},
    {0, "<html"sv, "an HTML page", kUnread, kUnread},
    {0, "{"sv, "JSON", kUnread, kUnread},
};

const Kind* KindOf(Bytes head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Kind& kind : kKinds)
    if (text.size() >= kind.offset && text.substr(kind.offset).starts_with(kind.magic))
      return &kind;
  return nullptr;
}

}  // namespace

Error OtherKind(const std::string& path, Bytes head, bool gzipped, Error otherwise) {
  const Kind* kind = KindOf(head);
  if (kind == nullptr) return otherwise;
  return {ErrorCode::kFailed,
          fmt::format("{} is {}{}{}", path == "-" ? "standard input" : path,
                      gzipped ? "gzipped, and what it holds is " : "", kind->is,
                      fmt::format(fmt::runtime(gzipped ? kind->gzipped : kind->advice), path))};
}

}  // namespace clrscope::import
