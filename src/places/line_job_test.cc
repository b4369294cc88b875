// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/source_dir.h"
#include "places/make_line_job.h"
#include "places/run_line_job.h"

namespace clrscope::places {
namespace {

using profile::Place;

// One process that runs a method of the sample assembly at 0x1000, compiled while it ran.
class LineJobTest : public testing::Test {
 protected:
  LineJobTest() {
    const std::string folder = SourceDir() + "/tests/golden/symbols/";
    t_.code.AddModule({5, strings_.Intern(folder + "Sample.dll"), {}, {}});
    profile::MethodCode m;
    m.start = 0x1000;
    m.size = 0x100;
    m.method_id = 7;
    m.module_id = 5;
    m.token = 0x06000002;
    m.flags = 8;  // jitted
    m.name = strings_.Intern("Method");
    t_.code.Add(m);
    t_.il_maps = std::make_shared<profile::IlMaps>();
  }
  uint32_t Fold(std::vector<uint64_t> ips) {
    return t_.stacks.Fold(reinterpret_cast<const std::byte*>(ips.data()),
                          static_cast<uint32_t>(ips.size()), 8, 1, 0);
  }
  LineAnswers Run(bool last) {
    std::vector<uint32_t> all(t_.stacks.addresses().size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const LineJob job =
        MakeLineJob(t_, strings_, all, last, [](std::string_view) { return false; });
    const symbol_files::ModuleFiles files = symbol_files::ModuleFiles::Own();
    LineAnswers answers = RunLineJob(job, files, symbol_files::PdbFinder(&files, {}));
    TakeLineAnswers(answers, strings_, t_);
    return answers;
  }

  StringPool strings_;
  profile::ProcessTables t_;
};

TEST_F(LineJobTest, ByTheMapOfItsCode) {
  (void)Fold({0x1020});
  ASSERT_TRUE(t_.il_maps->Add(7, 0, {{0, 0}}));
  Run(false);
  const Place* const place = t_.places.At(0);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->il_offset, 0);
  EXPECT_GT(place->line, 0u);
  EXPECT_NE(strings_.Get(t_.places.files()[place->file].path).find(".cs"), std::string_view::npos);
  EXPECT_TRUE(strings_.Get(t_.places.files()[place->file].hash).starts_with("sha256:"));
}

TEST_F(LineJobTest, WithoutAMapTheFirstLineAtTheEndOnly) {
  (void)Fold({0x1020});
  Run(false);
  EXPECT_EQ(t_.places.At(0), nullptr);
  Run(true);
  ASSERT_NE(t_.places.At(0), nullptr);
  EXPECT_EQ(t_.places.At(0)->sure, Place::Sure::kApproximate);
  EXPECT_GT(t_.places.At(0)->line, 0u);
  // A map that is told later makes it exact.
  ASSERT_TRUE(t_.il_maps->Add(7, 0, {{0, 0}}));
  Run(true);
  EXPECT_EQ(t_.places.At(0)->sure, Place::Sure::kExact);
}

TEST_F(LineJobTest, AnotherBuildsPdbIsNotUsed) {
  (void)Fold({0x1020});
  profile::ModuleImage other = t_.code.modules().front();
  other.mvid = strings_.Intern("00112233445566778899aabbccddeeff");
  t_.code.AddModule(other);
  ASSERT_TRUE(t_.il_maps->Add(7, 0, {{0, 0}}));
  const LineAnswers answers = Run(true);
  ASSERT_NE(t_.places.At(0), nullptr);
  EXPECT_EQ(t_.places.At(0)->line, 0u);
  EXPECT_EQ(t_.places.At(0)->il_offset, 0);  // a folder with the right one may tell the line later
  ASSERT_EQ(answers.without.size(), 1u);
  EXPECT_NE(answers.without.front().find("Sample.dll"), std::string::npos);
}

TEST_F(LineJobTest, LeavesOfSamplesOfCpuTimeAreInstructions) {
  const uint32_t ran = Fold({0x1010, 0x1020}), allocated = Fold({0x1030, 0x1020});
  const auto add = [this](uint32_t node, profile::Source source) {
    bool capped = false;
    t_.series.Find(profile::SeriesKey::Make(node, 0, profile::HeapKind::kSoh, source, 0), 0,
                   profile::StackTree::kOther, &capped);
  };
  add(ran, profile::Source::kCpuClock);
  add(allocated, profile::Source::kSampled);
  const std::vector<bool> instructions = InstructionAddresses(t_);
  ASSERT_EQ(instructions.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(instructions[i], t_.stacks.addresses()[i].address == 0x1010) << i;
}

}  // namespace
}  // namespace clrscope::places
