// SPDX-License-Identifier: Apache-2.0
#include "report/input/gc_input.h"

#include "analysis/bind.h"
#include "import/trace_file.h"
#include "profile/tables/slice.h"
#include "profile/views/filter.h"
#include "report/input/damage.h"
#include "report/input/input.h"
#include "store/capture_reader.h"

namespace clrscope::report {

Result<GcInput> LoadGcs(const std::string& path, const std::string& process, bool marks) {
  GcInput input;
  if (path != "-" && store::LooksLikeCapture(path)) {
    auto opened = store::CaptureReader::Open(path);
    if (!opened.ok()) return Unreadable(opened.error());
    const auto reader = opened.Take();
    if (!reader->recording().complete)
      input.damage = UnfinishedCapture(path, reader->recording().end_ns);
    input.profile = analysis::BindAndTake(reader->mutable_recording(),
                                          analysis::Aggregate(&reader->recording()), {});
  } else {
    profile::Recording recording;
    profile::NoSlices no_slices;
    analysis::FoldOptions options;
    options.gc_marks = marks;
    auto read = import::ReadTrace(path, &recording, &no_slices, options);
    if (!read.ok()) return Unreadable(read.error());
    input.damage = DamageOf(*read, path, recording.complete);
    input.profile = analysis::BindAndTake(recording, analysis::Aggregate(&recording), {});
  }
  profile::Filter filter;
  filter.process = process;
  RETURN_IF_ERROR(profile::Apply(filter, input.profile));
  return input;
}

}  // namespace clrscope::report
