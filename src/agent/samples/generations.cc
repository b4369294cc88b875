// SPDX-License-Identifier: Apache-2.0
#include "agent/samples/generations.h"

#include <algorithm>

namespace clrscope::agent {
namespace {

constexpr uint32_t kMostRanges = 1u << 20;  // a region is 4 MB or larger
constexpr int8_t kPinned = 4;

}  // namespace

void Generations::Sort(std::vector<GenerationRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const GenerationRange& a, const GenerationRange& b) { return a.start < b.start; });
}

int8_t Generations::LookUp(const std::vector<GenerationRange>& ranges, uintptr_t address) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](uintptr_t a, const GenerationRange& r) { return a < r.start; });
  if (after == ranges.begin()) return -1;
  const GenerationRange& r = *(after - 1);
  if (address - r.start >= std::max(r.length, r.reserved)) return -1;
  return r.generation < 0 || r.generation > kPinned ? int8_t{-1}
                                                    : static_cast<int8_t>(r.generation);
}

bool Generations::Take() {
  const uint64_t epoch = phase_.Quiet();
  if (epoch == 0) return false;
  if (epoch == epoch_) return true;
  epoch_ = 0;
  uint32_t count = 0;
  for (int tries = 0; tries < 3; ++tries) {
    if (!Succeeded(lookup_.AskUnstamped<&ICorProfilerInfo::GetGenerationBounds>(
            static_cast<uint32_t>(ranges_.size()), &count, ranges_.data())) ||
        count == 0 || count > kMostRanges)
      return false;
    if (count <= ranges_.size()) break;
    ranges_.resize(count + count / 4);
  }
  if (count > ranges_.size() || phase_.Quiet() != epoch) return false;
  ranges_.resize(count);
  Sort(ranges_);
  epoch_ = epoch;
  return true;
}

int8_t Generations::Of(ObjectHandle handle, bool* alive) const {
  ObjectId object = 0;
  const HResult hr =
      lookup_.AskUnstamped<&ICorProfilerInfo::GetObjectIDFromHandle>(handle, &object);
  *alive = hr == Lookup::kNotAsked || (Succeeded(hr) && object != 0);
  if (object == 0 || epoch_ == 0 || phase_.Quiet() != epoch_) return -1;
  return LookUp(ranges_, object);
}

}  // namespace clrscope::agent
