// SPDX-License-Identifier: Apache-2.0
#include "capture/record/capture_output.h"

#include <gtest/gtest.h>

#include "analysis/families/windows/window_fold.h"

namespace clrscope::capture {
namespace {

constexpr int64_t kOutputSecond = 1'000'000'000;

struct ToOutput final : profile::SliceSink {
  CaptureOutput* output;
  explicit ToOutput(CaptureOutput* to) : output(to) {}
  void OnSlice(profile::Slice&& slice) override { output->OnSlice(slice); }
};

// What a recording in windows says of what is allocated while it goes on. `told`: the runtime's
// counter tells. 100 MB a second by the counter, and by windows of a tenth of each second twice as
// much.
double AllocatedSoFar(profile::Source source, bool told) {
  profile::Recording recording;
  recording.processes.push_back(std::make_unique<profile::ProcessTables>());
  recording.processes[0]->types.push_back({0, recording.strings.Intern("Type")});
  auto output = CaptureOutput::Create(std::string(CaptureOutput::kStandardOutput), &recording);
  if (!output.ok()) return -1;
  ToOutput sink(output->get());
  analysis::WindowFold fold({recording.processes[0].get(), &sink, 0, kOutputSecond}, source,
                            Loss::kAllocationsUncounted);
  fold.BeginWindows();
  fold.NoteWholeEnded(0);
  for (int64_t s = 0; s < 10; ++s) {
    profile::Sums sums{200, 200 * 1'000, 20'000'000};
    if (source == profile::Source::kSampled) sums.stands_for = 200 * analysis::WindowFold::kUnit;
    fold.OnWindowed(
        {profile::SeriesKey::Make(profile::StackTree::kNoStack, 1, profile::HeapKind::kSoh, source,
                                  profile::SizeClass(1'000)),
         1'000, 1, sums, 20e6});
    fold.EndWindow(1 + static_cast<uint64_t>(s), s * kOutputSecond,
                   s * kOutputSecond + kOutputSecond / 10, kOutputSecond);
    if (told) fold.OnCounted({s * kOutputSecond, (s + 1) * kOutputSecond, 100e6});
    fold.Advance((s + 1) * kOutputSecond);
  }
  fold.Finish(10 * kOutputSecond);
  return (*output)->bytes();
}

TEST(CaptureOutput, OfWindowsTheCounterSaysHowMuchIsAllocatedSoFar) {
  for (const profile::Source source : {profile::Source::kSampled, profile::Source::kTick})
    EXPECT_NEAR(AllocatedSoFar(source, true), 1e9, 1);
}

TEST(CaptureOutput, OrTheWindowsWhereItDoesNotTell) {
  for (const profile::Source source : {profile::Source::kSampled, profile::Source::kTick})
    EXPECT_NEAR(AllocatedSoFar(source, false), 2e9, 0.1e9) << "sizes are classes";
}

}  // namespace
}  // namespace clrscope::capture
