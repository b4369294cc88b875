// SPDX-License-Identifier: Apache-2.0
// What recordings took their programs, and who sampled: round trips, earlier files, damaged ones.
#include <gtest/gtest.h>

#include <string>

#include "store/capture_reader.h"
#include "store/capture_writer.h"
#include "store/testing/captures.h"

namespace clrscope::store {
namespace {

using profile::OverheadPart;
using testing::TempFile;

profile::Overhead Some() {
  profile::Overhead o;
  o.limit = 0.0125;
  o.cpu_ns = 5'000'000'000;
  o.of(OverheadPart::kAllocations) = 40'000'000;
  o.windows_of(OverheadPart::kAllocations) = {7, 651'000'000, 20'000'000'000};
  o.of(OverheadPart::kClrscope) = 12'345'678;
  return o;
}

// Of a file after `attack`: "" or the error.
std::string Damaged(const char* attack, profile::Overhead* read) {
  TempFile file;
  profile::Recording recording;
  recording.processes.push_back(testing::MakeProcess(recording.strings, 1, 1));
  recording.processes.push_back(testing::MakeProcess(recording.strings, 2, 1));
  recording.processes[0]->info.overhead = Some();
  {
    auto writer = CaptureWriter::Create(file.str(), &recording);
    EXPECT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
  }
  {
    auto db = Database::Open(file.str(), Database::Mode::kCreate);
    EXPECT_TRUE(db->Execute(attack).ok()) << attack;
  }
  auto reader = CaptureReader::Open(file.str());
  if (!reader.ok()) return reader.error().message;
  *read = (*reader)->recording().processes[0]->info.overhead;
  EXPECT_FALSE((*reader)->recording().processes[1]->info.overhead.known());
  return {};
}

TEST(CaptureOverhead, ComesBackAsItWas) {
  profile::Overhead read;
  ASSERT_EQ(Damaged("select 1", &read), "");
  const profile::Overhead want = Some();
  EXPECT_DOUBLE_EQ(read.limit, want.limit);
  EXPECT_EQ(read.cpu_ns, want.cpu_ns);
  EXPECT_EQ(read.cost_ns, want.cost_ns);
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    EXPECT_EQ(read.windows[i].windows, want.windows[i].windows);
    EXPECT_EQ(read.windows[i].ns, want.windows[i].ns);
    EXPECT_EQ(read.windows[i].of_ns, want.windows[i].of_ns);
  }
}

TEST(CaptureOverhead, AFileWithoutItReads) {
  profile::Overhead read;
  ASSERT_EQ(Damaged("drop table overhead", &read), "");
  EXPECT_FALSE(read.known());
}

TEST(CaptureOverhead, DamagedOnesAreRefused) {
  profile::Overhead read;
  for (const char* attack :
       {"update overhead set ns=-1", "update overhead set windows=-1 where part='allocations'",
        "update overhead set process=9"})
    EXPECT_NE(Damaged(attack, &read).find("what the recording took"), std::string::npos) << attack;
}

// What sampled CPU time by signals is gone; its captures are not.
TEST(CaptureSampler, EachIsReadThatWasEverWritten) {
  for (uint8_t i = 1; i < profile::kCpuSamplers; ++i) {
    TempFile file;
    profile::Recording recording;
    recording.processes.push_back(testing::MakeProcess(recording.strings, 1, 1));
    recording.processes[0]->info.sampler = static_cast<profile::CpuSampler>(i);
    recording.processes[0]->info.sampler_hz = 99;
    const auto samples = [](auto& r, profile::Source source) -> auto& {
      return r.processes[0]->source_samples[static_cast<size_t>(source)];
    };
    samples(recording, profile::Source::kThreadWall) = 38'410;
    samples(recording, profile::Source::kThreadCpu) = i;
    {
      auto writer = CaptureWriter::Create(file.str(), &recording);
      ASSERT_TRUE(writer.ok() && (*writer)->Finish(true).ok());
    }
    auto reader = CaptureReader::Open(file.str());
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    const auto& info = (*reader)->recording().processes[0]->info;
    EXPECT_EQ(info.sampler, static_cast<profile::CpuSampler>(i));
    EXPECT_EQ(info.sampler_hz, 99u);
    const profile::Recording& read = (*reader)->recording();
    EXPECT_EQ(samples(read, profile::Source::kThreadWall), 38'410u);
    EXPECT_EQ(samples(read, profile::Source::kThreadCpu), i);
  }
  EXPECT_EQ(profile::SamplerName(static_cast<profile::CpuSampler>(2)), "agent");
}

}  // namespace
}  // namespace clrscope::store
