// SPDX-License-Identifier: Apache-2.0
#include "capture/streams/stream_decoder.h"

namespace clrscope::capture {

bool StreamDecoder::Pump(int limit) {
  if (finished_) return false;
  bool any = false;
  StreamRing::Item item;
  for (int i = 0; i < limit && ring_->Pop(item); ++i) {
    any = any_since_rest_ = true;
    if (!damage_) {  // else keep draining what can no longer be read
      if (item.skipped_bytes != 0) reader_.SkipDiscarded(item.skipped_bytes, item.skipped_blocks);
      if (Status status = reader_.Feed(item.bytes); !status.ok()) damage_ = status.error();
    }
    if (kept_) kept_->Append(std::move(item), reader_.info().version);
  }
  if (!any && ring_->exhausted()) {
    reader_.Finish();
    finished_ = true;
  }
  return any;
}

}  // namespace clrscope::capture
