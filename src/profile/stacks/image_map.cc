// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/image_map.h"

#include <algorithm>

namespace clrscope::profile {
namespace {

uint64_t Distance(const Image& image, int64_t time_ns) {
  if (time_ns < image.from_ns)
    return static_cast<uint64_t>(image.from_ns) - static_cast<uint64_t>(time_ns);
  if (time_ns > image.to_ns)
    return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(image.to_ns);
  return 0;
}

}  // namespace

Image* ImageMap::NowAt(uint64_t start) {
  const auto [begin, end] = by_start_.equal_range(start);
  for (auto at = begin; at != end; ++at)
    if (images_[at->second].to_ns == kNever) return &images_[at->second];
  return nullptr;
}

void ImageMap::Restore(const Image& image) {
  by_start_.emplace(image.start, static_cast<uint32_t>(images_.size()));
  images_.push_back(image);
  if (image.end > image.start) longest_ = std::max(longest_, image.end - image.start);
}

std::vector<Image> ImageMap::Look(std::span<const Image> mapped, int64_t now_ns,
                                  uint64_t* left_out) {
  std::vector<bool> there(images_.size());
  std::vector<const Image*> arrived;
  for (const Image& image : mapped) {
    Image* known = NowAt(image.start);
    if (known != nullptr && image.generated() && known->generated()) {
      known->end = std::max(known->end, image.end);
      longest_ = std::max(longest_, known->end - known->start);
    } else if (known == nullptr || !known->Is(image)) {
      arrived.push_back(&image);
      continue;
    }
    there[static_cast<size_t>(known - images_.data())] = true;
  }
  std::vector<Image> gone;
  for (size_t i = 0; i < there.size(); ++i) {
    Image& image = images_[i];
    if (there[i] || image.to_ns != kNever || image.generated()) continue;
    image.to_ns = now_ns;
    gone.push_back(image);
  }
  for (const Image* image : arrived) {
    if (images_.size() >= kMost) {
      ++*left_out;
      continue;
    }
    Image taken = *image;
    taken.from_ns = image->generated() ? kAlways : looked_ns_;
    taken.to_ns = kNever;
    Restore(taken);
  }
  looked_ns_ = now_ns;
  return gone;
}

const Image* ImageMap::Find(uint64_t address, int64_t time_ns, bool* ambiguous) const {
  const Image* best = nullptr;
  uint64_t best_distance = 0;
  bool tied = false;
  for (auto at = by_start_.upper_bound(address); at != by_start_.begin();) {
    --at;
    if (address - at->first >= longest_) break;
    const Image& image = images_[at->second];
    if (address >= image.end) continue;
    const uint64_t distance = Distance(image, time_ns);
    if (best == nullptr || distance < best_distance) {
      best = &image;
      best_distance = distance;
      tied = false;
    } else if (distance == best_distance) {
      tied = true;
      if (image.from_ns > best->from_ns) best = &image;
    }
  }
  if (ambiguous != nullptr && tied) *ambiguous = true;
  return best;
}

}  // namespace clrscope::profile
