// SPDX-License-Identifier: Apache-2.0
// Any bytes as a single-file program, and as a manifest alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "symbols/bundle/bundle.h"

namespace {

using namespace clrscope;
using namespace clrscope::symbols;

void ReadFiles(Bytes executable, Bytes manifest) {
  const Result<BundleManifest> bundle = ReadBundleManifest(manifest, executable.size());
  if (!bundle.ok()) return;
  constexpr uint64_t kMostBytes = 1 << 20;
  for (size_t i = 0; i < std::min<size_t>(bundle->files.size(), 20); ++i) {
    const BundledFile& file = bundle->files[i];
    (void)bundle->Find(file.path);
    if (file.size > kMostBytes) continue;
    const Bytes stored = executable.subspan(file.offset, file.stored_size());
    (void)UnpackBundled(file, {stored.begin(), stored.end()});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = AsBytes(data, size);
  ReadFiles(bytes, bytes);
  const std::optional<uint64_t> header = FindBundleHeader(bytes);
  if (header && *header < size) ReadFiles(bytes, bytes.subspan(*header));
  return 0;
}
