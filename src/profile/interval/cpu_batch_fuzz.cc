// SPDX-License-Identifier: Apache-2.0
// Any bytes as samples of the agent: an error, or samples that are written and read to the same
// bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/interval/cpu_batch.h"

namespace {

clrscope::Result<std::string> Again(clrscope::Bytes bytes) {
  using namespace clrscope;
  profile::CpuBatchWriter writer;
  const Result<profile::CpuBatchHead> head = profile::DecodeCpuBatch(
      bytes, [&](const profile::CpuBatchSample& sample) { writer.Add(sample); });
  if (!head.ok()) return head.error();
  return writer.Take(*head);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  const Result<std::string> once = Again(AsBytes(data, size));
  if (!once.ok()) {
    if (once.error().offset > size) std::abort();
    return 0;
  }
  const Result<std::string> again = Again(AsBytes(once->data(), once->size()));
  if (!again.ok() || *again != *once) std::abort();
  return 0;
}
