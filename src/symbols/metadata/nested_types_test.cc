// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/nested_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"
#include "symbols/pe/cli_header.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbols {
namespace {

Metadata Parsed(const std::vector<std::byte>& file) {
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  EXPECT_TRUE(image.ok());
  auto metadata = Metadata::Parse(*MetadataBytes(*image));
  EXPECT_TRUE(metadata.ok());
  return metadata.Take();
}

TEST(NestedTypes, OwnersAreThoseOfTheMetadata) {
  for (const char* name : {"Sample.dll", "FsSample.dll", "VbSample.dll"}) {
    const auto file = ReadSample(name);
    const Metadata metadata = Parsed(file);
    const NestedTypes types = *NestedTypes::Of(metadata);
    size_t nested = 0;
    for (uint32_t row = 1; row <= metadata.RowCount(Table::kTypeDef); ++row) {
      const auto type = FindTypeDef(metadata, TokenOf(Table::kTypeDef, row));
      ASSERT_TRUE(type);
      if (type->owner == 0) {
        EXPECT_EQ(types.OwnerOf(type->token), "") << type->name;
        continue;
      }
      ++nested;
      const std::string whole = RuntimeTypeName(metadata, type->token);
      EXPECT_EQ(types.OwnerOf(type->token) + std::string(type->name), whole);
      EXPECT_EQ(types.NameOf(type->token), type->name);
      const std::vector<Token> found = types.Find(type->name, type->generic_parameters.size());
      EXPECT_NE(std::find(found.begin(), found.end(), type->token), found.end()) << whole;
    }
    EXPECT_GE(nested, 2u) << name;
  }
}

TEST(NestedTypes, AreFoundByNameAndByAllTheirParameters) {
  const auto file = ReadSample("Sample.dll");
  const NestedTypes types = *NestedTypes::Of(Parsed(file));
  const std::vector<Token> deep = types.Find("Deep`2", 3);
  ASSERT_EQ(deep.size(), 1u);
  EXPECT_EQ(types.OwnerOf(deep[0]), "Shop.Box`1+Slot+");
  EXPECT_TRUE(types.Find("Deep`2", 2).empty());
  EXPECT_TRUE(types.Find("Order", 0).empty()) << "it has a namespace";
  EXPECT_EQ(types.Find("<Module>", 0).size(), 1u) << "it has none";
}

TEST(NestedTypes, WhatIsNotThereHasNoName) {
  const auto file = ReadSample("Sample.dll");
  const NestedTypes types = *NestedTypes::Of(Parsed(file));
  for (const Token token : {Token{0}, TokenOf(Table::kTypeDef, 0), TokenOf(Table::kTypeDef, 9999),
                            TokenOf(Table::kTypeRef, 1)}) {
    EXPECT_EQ(types.NameOf(token), "");
    EXPECT_EQ(types.OwnerOf(token), "");
  }
}

TEST(NestedTypes, DamagedMetadataEndsNothing) {
  const auto file = ReadSample("Sample.dll");
  const auto image = PeImage::Parse(file, PeLayout::kFile);
  const Bytes bytes = *MetadataBytes(*image);
  ReadDamaged({bytes.begin(), bytes.end()}, 3, [](Bytes damaged) {
    const auto metadata = Metadata::Parse(damaged);
    if (!metadata.ok()) return;
    const auto types = NestedTypes::Of(*metadata);
    if (!types) return;
    for (uint32_t row = 1; row <= std::min(metadata->RowCount(Table::kTypeDef), 50u); ++row)
      (void)types->OwnerOf(TokenOf(Table::kTypeDef, row));
  });
}

}  // namespace
}  // namespace clrscope::symbols
