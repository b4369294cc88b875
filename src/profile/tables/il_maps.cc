// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/il_maps.h"

#include <limits>

#include "base/byte_reader.h"

namespace clrscope::profile {
namespace {

int64_t SignedFrom(ByteReader& in) {
  const uint64_t v = in.VarU64();
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

}  // namespace

void IlMaps::NoteVersion(uint64_t start, uint64_t method_id, uint64_t version) {
  const Key key{start, method_id};
  if (version == 0) {
    versions_.erase(key);
    return;
  }
  if (versions_.size() < kMost || versions_.contains(key)) versions_[key] = version;
}

bool IlMaps::Add(uint64_t method_id, uint64_t version, const std::vector<IlMapPoint>& points) {
  const Key key{version, method_id};
  if (places_.contains(key)) return true;
  if (places_.size() >= kMost || bytes_.bytes().size() > std::numeric_limits<uint32_t>::max() / 2)
    return false;
  places_.emplace(key, static_cast<uint32_t>(bytes_.bytes().size()));
  bytes_.Unsigned(points.size());
  IlMapPoint last;
  for (const IlMapPoint& p : points) {
    bytes_.Signed(int64_t{p.native_offset} - int64_t{last.native_offset});
    bytes_.Signed(int64_t{p.il_offset} - int64_t{last.il_offset});
    last = p;
  }
  return true;
}

std::optional<std::vector<IlMapPoint>> IlMaps::Find(uint64_t start, uint64_t method_id) const {
  const auto version = versions_.find({start, method_id});
  const auto place = places_.find({version == versions_.end() ? 0 : version->second, method_id});
  if (place == places_.end()) return std::nullopt;
  const std::string_view bytes = bytes_.bytes();
  ByteReader in(AsBytes(bytes.data(), bytes.size()).subspan(place->second));
  std::vector<IlMapPoint> points(in.VarU64());
  IlMapPoint last;
  for (IlMapPoint& p : points) {
    last.native_offset += static_cast<uint32_t>(SignedFrom(in));
    last.il_offset += static_cast<int32_t>(SignedFrom(in));
    p = last;
  }
  return points;
}

}  // namespace clrscope::profile
