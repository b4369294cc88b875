// SPDX-License-Identifier: Apache-2.0
#include "profile/interval/interval_codec.h"

#include <algorithm>

#include "profile/estimate/source.h"
#include "profile/interval/interval_sections.h"

namespace clrscope::profile {
namespace {

using interval::In;
using interval::Out;

enum Tag : uint32_t {
  kHead = 1,
  kMethods = 2,
  kTypes = 3,
  kNodes = 4,
  kFlows = 5,
  kLives = 6,
  kTurnover = 7,
  kGcs = 8,
  kCpu = 9,
  kMeter = 10,
  kLosses = 11,
  kTrouble = 12,
  kParts = 14,
  kEvents = 13,
  kRequests = 15,
  kLimit = 16,
  kPlaces = 17,
};

struct Codec {
  Tag tag;
  void (*encode)(const IntervalFrame&, Out&);
  void (*decode)(In&, IntervalFrame&);
};
// In the order in which they are written: ids are checked against what came before.
constexpr Codec kSections[] = {
    {kHead, interval::Head, interval::Head},
    {kMethods, interval::Methods, interval::Methods},
    {kTypes, interval::Types, interval::Types},
    {kNodes, interval::Nodes, interval::Nodes},
    {kPlaces, interval::Places, interval::Places},
    {kFlows, interval::Flows, interval::Flows},
    {kLives, interval::Lives, interval::Lives},
    {kCpu, interval::Cpu, interval::Cpu},
    {kTurnover, interval::Turnover, interval::Turnover},
    {kGcs, interval::Gcs, interval::Gcs},
    {kMeter, interval::Meter, interval::Meter},
    {kLosses, interval::Losses, interval::Losses},
    {kTrouble, interval::Trouble, interval::Trouble},
    {kLimit, interval::Limit, interval::Limit},
    {kParts, interval::Parts, interval::Parts},
    {kEvents, interval::Events, interval::Events},
    {kRequests, interval::Requests, interval::Requests},
};

bool TellsEvents(const IntervalFrame& f) {
  return !f.events.empty() ||
         std::any_of(kSourceSpecs.begin(), kSourceSpecs.end(), [&f](const SourceSpec& s) {
           return IsEvent(s.id) && (f.measures >> static_cast<uint32_t>(s.measure) & 1) != 0;
         });
}

// Also where nothing is new: what earlier frames told stays.
bool TellsPlaces(const IntervalFrame& f) {
  return f.first_place > 1 || !f.places.empty() ||
         std::any_of(f.nodes.begin(), f.nodes.end(),
                     [](const IntervalNode& n) { return n.place != 0; });
}

}  // namespace

std::string EncodeInterval(const IntervalFrame& frame) {
  Out out;
  out.Fixed(kIntervalMagic);
  const bool events = TellsEvents(frame);
  out.Fixed(events ? kIntervalFrameVersion : uint16_t{1});
  out.Fixed(uint16_t{0});
  for (const Codec& codec : kSections) {
    if (codec.tag == kParts && frame.parts.empty()) continue;
    if (codec.tag == kEvents && !events) continue;
    if (codec.tag == kRequests && !frame.requests) continue;
    if (codec.tag == kLimit && frame.overhead.limit <= 0) continue;
    if (codec.tag == kPlaces && !TellsPlaces(frame)) continue;
    Out body;
    codec.encode(frame, body);
    out.Section(codec.tag, body);
  }
  return out.Take();
}

Result<IntervalFrame> DecodeInterval(Bytes bytes) {
  ByteReader reader(bytes);
  const uint32_t magic = reader.U32();
  const uint16_t version = reader.U16();
  reader.Skip(2);
  if (!reader.ok())
    return Error::At(ErrorCode::kTruncated, bytes.size(), "the agent's frame has no head");
  if (magic != kIntervalMagic)
    return Error::At(ErrorCode::kCorrupt, 0, "these bytes are not a frame of the agent");
  if (version == 0 || version > kIntervalFrameVersion)
    return Error::At(ErrorCode::kFailed, 4,
                     "the agent's frames are of version " + std::to_string(version) +
                         ", this clrscope reads " + std::to_string(kIntervalFrameVersion) +
                         ": use the clrscope that loaded it");
  IntervalFrame frame;
  uint32_t seen = 0;
  while (reader.remaining() > 0) {
    const size_t at = reader.position();
    const uint64_t tag = reader.VarU64();
    const uint64_t length = reader.VarU64();
    if (!reader.ok() || length > reader.remaining())
      return Error::At(ErrorCode::kTruncated, at, "the agent's frame ends within a section");
    const size_t start = reader.position();
    const Bytes body = reader.Take(static_cast<size_t>(length));
    for (const Codec& codec : kSections) {
      if (codec.tag != tag) continue;
      // Each at most once; all others rest on the head.
      const uint32_t bit = 1u << tag;
      const bool ordered = tag == kHead ? seen == 0 : (seen & 1u << kHead) != 0;
      if ((seen & bit) != 0 || !ordered)
        return Error::At(ErrorCode::kCorrupt, at, "the agent's frame has its sections in disorder");
      seen |= bit;
      In in(body);
      codec.decode(in, frame);
      if (!in.ok())
        return Error::At(ErrorCode::kCorrupt, start + in.position(),
                         "section " + std::to_string(tag) + " of the agent's frame is damaged");
    }
  }
  if ((seen & 1u << kHead) == 0)
    return Error::At(ErrorCode::kTruncated, bytes.size(), "the agent's frame has no head");
  return frame;
}

}  // namespace clrscope::profile
