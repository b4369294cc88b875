// SPDX-License-Identifier: Apache-2.0
// The vtables that the runtime sees are in the order of its interface definition.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "agent/com/corprof.h"
#include "base/com/metadata.h"
#include "base/testing/source_dir.h"

namespace clrscope::agent {
namespace {

// Itanium C++ ABI: a pointer to a virtual member holds 1 + its offset in the vtable.
template <class Member>
int SlotOf(Member member) {
  static_assert(sizeof member >= sizeof(uintptr_t));
  uintptr_t raw;
  std::memcpy(&raw, &member, sizeof raw);
  return static_cast<int>((raw - 1) / sizeof(void*));
}

const std::map<std::string, int>& Ours() {
  static const std::map<std::string, int> slots = {
#define CLRSCOPE_SLOT(interface, name) {#interface "." #name, SlotOf(&interface::name)},
#include <com_slots.inc>
#undef CLRSCOPE_SLOT
  };
  return slots;
}

TEST(ComSlots, EveryMethodOfTheRuntimesInterfacesIsInItsSlot) {
  std::ifstream file(SourceDir() + "/tests/agent/corprof-slots.txt");
  ASSERT_TRUE(file.good());
  int slot = 0;
  std::string name, interface;
  int checked = 0;
  while (file >> slot >> name >> interface) {
    const std::string key = (interface.starts_with("ICorProfilerCallback") ? "ICorProfilerCallback."
                                                                           : "ICorProfilerInfo.") +
                            name;
    const auto it = Ours().find(key);
    ASSERT_NE(it, Ours().end()) << key;
    EXPECT_EQ(it->second, slot) << key;
    ++checked;
  }
  EXPECT_GE(checked, 205);
}

TEST(ComSlots, MetadataImport) {
  EXPECT_EQ(SlotOf(&IMetaDataImport::GetScopeProps), 10);
  EXPECT_EQ(SlotOf(&IMetaDataImport::GetTypeDefProps), 12);
  EXPECT_EQ(SlotOf(&IMetaDataImport::GetMethodProps), 30);
  EXPECT_EQ(SlotOf(&IMetaDataImport::GetNestedClassProps), 62);
}

}  // namespace
}  // namespace clrscope::agent
