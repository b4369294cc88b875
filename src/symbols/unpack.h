// SPDX-License-Identifier: Apache-2.0
// Compressed parts of files, whose unpacked size is bounded before memory is taken for it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

// More than any symbol file of a program; less than what would hurt.
inline constexpr size_t kMostUnpacked = size_t{256} << 20;

// A raw deflate stream (RFC 1951) of which it is known that it makes `size` bytes.
// errors: kCorrupt when it is damaged or makes another number, kFailed past kMostUnpacked
Result<std::vector<std::byte>> Inflate(Bytes deflated, size_t size);

// An xz file, of which the size is not known before.
// errors: kCorrupt when it is damaged, kFailed past kMostUnpacked or what xz wants of memory
Result<std::vector<std::byte>> UnpackXz(Bytes packed);

}  // namespace clrscope::symbols
