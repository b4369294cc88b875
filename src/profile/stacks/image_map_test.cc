// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/image_map.h"

#include <gtest/gtest.h>

#include "profile/stacks/code_at.h"

namespace clrscope::profile {
namespace {

constexpr StringId kLibA{1}, kLibB{2}, kBuild1{11}, kBuild2{12};

Image Mapped(uint64_t start, uint64_t end, StringId path, StringId build = {}) {
  Image image;
  image.start = start;
  image.end = end;
  image.path = path;
  image.build_id = build;
  return image;
}

class ImageMapTest : public ::testing::Test {
 protected:
  std::vector<Image> Look(const std::vector<Image>& mapped, int64_t now_ns) {
    return map_.Look(mapped, now_ns, &left_out_);
  }
  StringId At(uint64_t address, int64_t time_ns) {
    ambiguous_ = false;
    const Image* image = map_.Find(address, time_ns, &ambiguous_);
    return image == nullptr ? StringId{99} : image->path;
  }
  ImageMap map_;
  uint64_t left_out_ = 0;
  bool ambiguous_ = false;
};

TEST_F(ImageMapTest, WhatIsThereAtTheFirstLookWasAlwaysThere) {
  EXPECT_TRUE(Look({Mapped(0x1000, 0x3000, kLibA)}, 500).empty());
  EXPECT_EQ(At(0x2fff, 1), kLibA);
  EXPECT_EQ(At(0x3000, 1), StringId{99});
  EXPECT_EQ(At(0xfff, 1), StringId{99});
}

TEST_F(ImageMapTest, ALibraryInThePlaceOfAnotherIsFoundAtItsTime) {
  Look({Mapped(0x1000, 0x3000, kLibA)}, 100);
  const std::vector<Image> gone = Look({Mapped(0x2000, 0x5000, kLibB)}, 200);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].path, kLibA);
  EXPECT_EQ(At(0x2800, 50), kLibA);
  EXPECT_FALSE(ambiguous_);
  EXPECT_EQ(At(0x2800, 150), kLibB);  // it came between the looks
  EXPECT_TRUE(ambiguous_);
  EXPECT_EQ(At(0x2800, 300), kLibB);
  EXPECT_FALSE(ambiguous_);
  EXPECT_EQ(At(0x1800, 300), kLibA) << "nothing else was ever there";
}

TEST_F(ImageMapTest, TheSamePlaceWithAnotherBuildIsAnother) {
  Look({Mapped(0x1000, 0x3000, kLibA, kBuild1)}, 100);
  EXPECT_EQ(Look({Mapped(0x1000, 0x3000, kLibA, kBuild2)}, 200).size(), 1u);
  EXPECT_EQ(map_.Find(0x1000, 50)->build_id, kBuild1);
  EXPECT_EQ(map_.Find(0x1000, 250)->build_id, kBuild2);
  EXPECT_TRUE(Look({Mapped(0x1000, 0x3000, kLibA, kBuild2)}, 300).empty());
  EXPECT_EQ(map_.images().size(), 2u);
}

TEST_F(ImageMapTest, ALibraryThatComesBackIsThereTwice) {
  Look({Mapped(0x1000, 0x3000, kLibA)}, 100);
  Look({}, 200);
  Look({Mapped(0x1000, 0x3000, kLibA)}, 300);
  ASSERT_EQ(map_.images().size(), 2u);
  EXPECT_EQ(map_.images()[0].to_ns, 200);
  EXPECT_EQ(map_.images()[1].from_ns, 200);
  EXPECT_EQ(map_.images()[1].to_ns, kNever);
}

TEST_F(ImageMapTest, GeneratedCodeGrowsAndDoesNotEnd) {
  Look({Mapped(0x1000, 0x2000, {})}, 100);
  Look({Mapped(0x1000, 0x8000, {})}, 200);
  EXPECT_TRUE(Look({}, 300).empty());
  ASSERT_EQ(map_.images().size(), 1u);
  EXPECT_EQ(map_.images()[0].end, 0x8000u);
  EXPECT_EQ(At(0x7000, 10), StringId{});
}

TEST_F(ImageMapTest, PastTheBoundImagesAreLeftOutAndCounted) {
  std::vector<Image> many;
  for (uint64_t i = 0; i < ImageMap::kMost + 7; ++i)
    many.push_back(Mapped(i << 12, (i + 1) << 12, kLibA));
  Look(many, 100);
  EXPECT_EQ(map_.images().size(), ImageMap::kMost);
  EXPECT_EQ(left_out_, 7u);
}

TEST(WhatIsAtTest, MethodsGoBeforeImagesAndStubsAreWhatHasNoFile) {
  CodeMap methods;
  MethodCode method;
  method.start = 0x1100;
  method.size = 0x100;
  method.method_id = 7;
  methods.Add(method);
  ImageMap images;
  uint64_t left_out = 0;
  images.Look({{Mapped(0x1000, 0x2000, kLibA), Mapped(0x8000, 0x9000, {})}}, 1, &left_out);
  EXPECT_EQ(WhatIsAt(methods, images, 0x1180, 5).kind, CodeAt::Kind::kMethod);
  EXPECT_EQ(WhatIsAt(methods, images, 0x1300, 5).kind, CodeAt::Kind::kImage);
  EXPECT_EQ(WhatIsAt(methods, images, 0x8010, 5).kind, CodeAt::Kind::kStub);
  EXPECT_EQ(WhatIsAt(methods, images, 0xf000, 5).kind, CodeAt::Kind::kUnknown);
}

}  // namespace
}  // namespace clrscope::profile
