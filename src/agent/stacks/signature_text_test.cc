// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/signature_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace clrscope::agent {
namespace {

class Names : public SignatureNames {
 public:
  std::string TypeName(uint32_t token) override {
    return token == 0x02000003 ? "Shop.Order" : token == 0x01000002 ? "System.Span`1" : "?";
  }
  std::vector<std::byte> TypeSpec(uint32_t token) override {
    if (token != 0x1b000001) return {};
    return {std::byte{0x1d}, std::byte{0x08}};  // int[]
  }
};

std::string Text(const std::vector<uint8_t>& signature) {
  Names names;
  return SignatureText(AsBytes(signature.data(), signature.size()), names);
}

TEST(SignatureText, IsWhatTheRuntimesEventsSay) {
  EXPECT_EQ(Text({0x00, 0x00, 0x01}), "void()");
  EXPECT_EQ(Text({0x20, 0x02, 0x01, 0x0e, 0x10, 0x08}),
            "instance void(class System.String,int32&)");
  EXPECT_EQ(Text({0x30, 0x01, 0x02, 0x1e, 0x00, 0x13, 0x01, 0x1d, 0x1e, 0x00}),
            "instance generic !!0(!1,!!0[])");
  EXPECT_EQ(Text({0x00, 0x01, 0x12, 0x0c, 0x15, 0x11, 0x09, 0x01, 0x05}),
            "class Shop.Order(value class System.Span`1<unsigned int8>)");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x14, 0x08, 0x02, 0x00, 0x02, 0x00, 0x00}), "void(int32[,])");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x0f, 0x0f, 0x03}), "void(wchar**)");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x1f, 0x0c, 0x10, 0x08}),
            "void(required_modifier Shop.Order int32&)");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x12, 0x06}), "void(class int32[])");
  EXPECT_EQ(Text({0x05, 0x02, 0x01, 0x08, 0x41, 0x0e}),
            "vararg void(int32,...,class System.String)");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x21, 0x48, 0x89, 0x97, 0x58, 0x1a, 0x7f, 0, 0}),
            "void(pMT: 0x7f1a58978948)");
}

TEST(SignatureText, AFunctionPointerHidesWhatIsBeforeIt) {
  // Not a wish: so do the runtime's events, and one method is to have one name.
  EXPECT_EQ(Text({0x00, 0x02, 0x01, 0x1b, 0x01, 0x01, 0x08, 0x0e, 0x08}),
            "unmanaged cdecl int32(class System.String),int32)");
}

TEST(SignatureText, DamageIsNoText) {
  EXPECT_EQ(Text({}), "");
  EXPECT_EQ(Text({0x00, 0x01}), "");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x99}), "");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x12, 0x03}), "");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x21, 0x01}), "");
  EXPECT_EQ(Text({0x00, 0x01, 0x01, 0x14, 0x08, 0x02, 0x03}), "");
  std::vector<uint8_t> deep(200, 0x1d);
  deep[0] = 0, deep[1] = 1, deep[2] = 1;
  EXPECT_EQ(Text(deep), "");
}

}  // namespace
}  // namespace clrscope::agent
