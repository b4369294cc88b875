// SPDX-License-Identifier: Apache-2.0
#include "clr/operation_events.h"

#include <gtest/gtest.h>

#include <string>

namespace clrscope::clr {
namespace {

int64_t TimeSpanOf(const std::u16string& text) {
  return ParseTimeSpan({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

TEST(TimeSpan, IsReadAsDotNetWritesIt) {
  EXPECT_EQ(TimeSpanOf(u"00:00:00"), 0);
  EXPECT_EQ(TimeSpanOf(u"00:00:00.0001606"), 160'600);
  EXPECT_EQ(TimeSpanOf(u"00:00:02.5000000"), 2'500'000'000);
  EXPECT_EQ(TimeSpanOf(u"01:02:03"), 3'723'000'000'000);
  EXPECT_EQ(TimeSpanOf(u"2.01:02:03.0000001"), (2 * 86'400 + 3'723) * 1'000'000'000LL + 100);
}

TEST(TimeSpan, AnythingElseIsNone) {
  for (const char16_t* text :
       {u"", u"1", u"00:00", u"-00:00:01", u"00:00:00:00", u"1.2.3", u"a:b:c", u"00:00:00.00.00",
        u"99999999999:00:00", u"99999.00:00:00", u"9999999999:9999999999:9999999999.9999999999"})
    EXPECT_GE(TimeSpanOf(text), 0) << "of any text";
  EXPECT_EQ(TimeSpanOf(u"-00:00:01"), 0);
  EXPECT_EQ(TimeSpanOf(u"00:00"), 0);
  EXPECT_EQ(TimeSpanOf(u"99999.00:00:00"), 0);
}

}  // namespace
}  // namespace clrscope::clr
