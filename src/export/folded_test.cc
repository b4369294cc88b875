// SPDX-License-Identifier: Apache-2.0
// Folded stacks as flamegraph.pl reads them.
#include "export/folded.h"

#include <gtest/gtest.h>

#include "export/testing/events.h"
#include "export/testing/profile_builder.h"

namespace clrscope::exporter {
namespace {

using testing::ProfileBuilder;

std::string Fold(const profile::Profile& p, const FoldedOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(WriteFolded(p, options, sink).ok());
  return sink.text();
}

TEST(FoldedTest, StacksAreRootFirstWithTheTypeAsLeafAndSumToTheTotal) {
  EXPECT_EQ(Fold(testing::ShopProfile()),
            "Acme.Shop.Program.Main;Acme.Shop.Repo<System.String>.Load;byte[] 700001\n"
            "Acme.Shop.Program.Main;Acme.Shop.Outer.Inner<int, string>.Make<T>;"
            "System.Collections.Generic.Dictionary<string, int> 100000\n"
            "Acme.Shop.Program.Main;Acme.Shop.Program.Main.λ0;"
            "System.Collections.Generic.List<string>.Add;string 100000\n"
            "Acme.Shop.Cart.AddAsync [async];System.Collections.Generic.List<string>.Add;string "
            "80000\n"
            "[unresolved];byte[] 20000\n");
}

TEST(FoldedTest, MachineryAndOtherWeightsAreOptions) {
  const std::string samples =
      Fold(testing::ShopProfile(), {.keep_machinery = true, .weight = FoldedWeight::kSamples});
  EXPECT_NE(samples.find("System.Threading.Tasks.Task.Start;Acme.Shop.Program.Main;"
                         "Acme.Shop.Repo<System.String>.Load;byte[] 40\n"),
            std::string::npos);
  const std::string objects = Fold(testing::ShopProfile(), {.weight = FoldedWeight::kCount});
  EXPECT_NE(objects.find("Repo<System.String>.Load;byte[] 503\n"), std::string::npos);
}

TEST(FoldedTest, SeparatorsWithinNamesAreReplaced) {
  ProfileBuilder b;
  b.Process(1, "a");
  b.Cell(b.Stack({b.Frame("m", "odd;name\nhere", "")}), b.Type("T;", ""), 10, 1);
  EXPECT_EQ(Fold(b.Build()), "odd,name here;T, 10\n");
}

TEST(FoldedTest, SeveralProcessesComeFirstInTheirStacks) {
  ProfileBuilder b;
  b.Process(1, "a");
  b.Process(2, "b");
  const uint32_t frame = b.Frame("m", "F", ""), type = b.Type("T", "T");
  b.Cell(b.Stack({frame}), type, 10, 1, 1, profile::HeapKind::kSoh, 1);
  b.Cell(b.Stack({frame}), type, 20, 1, 1, profile::HeapKind::kSoh, 0);
  EXPECT_EQ(Fold(b.Build()), "a (1);F;T 20\nb (2);F;T 10\n");
}

TEST(FoldedTest, TheFigureThatIsShownByItsFirstQuantity) {
  ProfileBuilder b;
  b.Process(1, "a");
  const uint32_t frame = b.Frame("m", "F", ""), type = b.Type("Error", "Error");
  const uint32_t pool = b.Frame("m", "Pool", "", 0, profile::kMachinery);
  const uint32_t node = b.Stack({frame}), folded = b.Stack({pool});
  profile::Profile p = b.Build();
  testing::AddEvents(p, profile::Measure::kExceptions, node, type, 12, 3, 1);
  testing::AddEvents(p, profile::Measure::kExceptions, node, type, 1, 0, 2);
  testing::AddEvents(p, profile::Measure::kLocks, node, type, 2, 5'000);
  testing::AddEvents(p, profile::Measure::kLocks, folded, type, 1, 70);
  p.shown_index = 1;
  EXPECT_EQ(Fold(p), "F;Error 13\n");
  EXPECT_EQ(Fold(p, {.weight = FoldedWeight::kAmount}), "F;Error 3\n");
  p.shown_index = 2;
  EXPECT_EQ(Fold(p), "[plumbing] 70\nF 5000\n") << "no type, and a stack of plumbing alone";
  EXPECT_EQ(Fold(p, {.weight = FoldedWeight::kCount}), "[plumbing] 1\nF 2\n");
  EXPECT_EQ(Fold(p, {.keep_machinery = true}), "F 5000\nPool 70\n");
}

TEST(FoldedTest, UnknownObjectsAreRefusedRatherThanZero) {
  profile::Profile p = testing::ShopProfile();
  p.shown().counts_known = false;
  StringSink sink;
  const Status status = WriteFolded(p, {.weight = FoldedWeight::kCount}, sink);
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(sink.text().empty());
}

}  // namespace
}  // namespace clrscope::exporter
