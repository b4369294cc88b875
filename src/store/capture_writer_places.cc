// SPDX-License-Identifier: Apache-2.0
// Source lines and functions of native code.
#include "store/capture_writer.h"

namespace clrscope::store {

Status CaptureWriter::WritePlaces(uint32_t index) {
  const profile::Places& places = recording_->processes[index]->places;
  const auto text = [this](StringId id) { return recording_->strings.Get(id); };
  Progress& done = progress_[index];
  for (; done.source_files < places.files().size(); ++done.source_files) {
    const profile::SourceFile& file = places.files()[done.source_files];
    insert_source_file_.Bind(0, int64_t{index})
        .Bind(1, int64_t{done.source_files})
        .Bind(2, text(file.path))
        .Bind(3, text(file.hash))
        .Bind(4, text(file.url))
        .Bind(5, text(file.text));
    RETURN_IF_ERROR(insert_source_file_.Run());
  }
  for (; done.places < places.changed().size(); ++done.places) {
    const uint32_t address = places.changed()[done.places];
    const profile::Place* const place = places.At(address);
    if (place == nullptr) continue;
    insert_place_.Bind(0, int64_t{index})
        .Bind(1, int64_t{address})
        .Bind(2, text(place->symbol))
        .Bind(3, int64_t{place->il_offset});
    insert_place_.Bind(4, int64_t{place->il_next})
        .Bind(5, int64_t{place->file})
        .Bind(6, int64_t{place->line})
        .Bind(7, static_cast<int64_t>(place->sure));
    RETURN_IF_ERROR(insert_place_.Run());
  }
  return OkStatus();
}

}  // namespace clrscope::store
