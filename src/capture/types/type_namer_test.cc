// SPDX-License-Identifier: Apache-2.0
// Owners of types on the way from events to names, with real assemblies and memory that is not
// there.
#include "capture/types/type_namer.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/source_dir.h"
#include "capture/testing/fake_memory.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::capture {
namespace {

using clr::EventTag;
using Modules = TypeNamer::Modules;
using namespace nettrace::testing;  // NOLINT(google-build-using-namespace)

constexpr uint64_t kSampleModule = 0x7f0000001000, kOtherModule = 0x7f0000002000;
constexpr int64_t kSecond = 1'000'000'000;
const std::string kSample = SourceDir() + "/tests/golden/symbols/Sample.dll";

class TypeNamerTest : public ::testing::Test {
 protected:
  TypeNamerTest() { Begin(); }

  void Begin() {
    tables_ = std::make_unique<profile::ProcessTables>();
    fold_ = std::make_unique<analysis::ProcessFold>(&strings_, tables_.get(), 0, &sink_,
                                                    analysis::FoldOptions());
    auto memory = std::make_unique<FakeMemory>();
    memory_ = memory.get();
    namer_ = std::make_unique<TypeNamer>(std::make_unique<OwnerFinder>(
        symbol_files::ModuleFiles::Own(), cache_, std::move(memory), /*clr_major=*/10));
  }

  void Event(EventTag tag, uint32_t version, const std::string& payload) {
    clr::EventKind kind;
    kind.tag = tag;
    kind.version = version;
    clr::RawEvent e;
    e.kind = &kind;
    e.thread = 1;
    e.time_ns = ++event_ns_;
    e.payload = AsBytes(payload.data(), payload.size());
    fold_->OnEvent(e);
  }
  void Load(uint64_t module, const std::string& path) {
    Event(EventTag::kModuleLoad, 1, ModulePayload(1, module, path));
  }
  void Allocate(uint64_t id, const std::string& name) {
    SampledFields f;
    f.type_id = id;
    f.type = name;
    Event(EventTag::kAllocationSampled, 0, AllocationSampledPayload(f));
  }
  void Describe(const TypeFields& type) { Event(EventTag::kBulkType, 0, BulkTypePayload({type})); }
  // The runtime's table of a type that Sample.dll defines.
  void PutTable(uint64_t id, uint64_t module, uint32_t token) {
    memory_->PutWords(id, {0, uint64_t{token & 0xffffff} << 8, 0, module, 0, 0, 0});
  }
  void PutArrayTable(uint64_t id, uint64_t element) {
    memory_->PutWords(id, {0xa0000, 0, 0, 0x1234, 0, 0, element});
  }
  // A job that was asked for is done at once, and taken with the next call.
  void Work(int64_t now_ns, Modules modules = Modules::kAll) {
    for (int i = 0; i < 2; ++i) namer_->Work(*fold_, strings_, modules, now_ns, workers_);
  }
  // The last one, of those without an id.
  std::string NameOf(uint64_t id) {
    std::string name = "?";
    for (const profile::RuntimeType& type : tables_->types)
      if (type.id == id) name = strings_.Get(type.raw_name);
    return name;
  }
  static uint32_t TokenOf(const char* name, size_t parameters) {
    static symbol_files::ModuleTypesCache cache;
    const auto types = cache.Of(*symbol_files::ModuleFiles::Own().Find(kSample));
    const auto found = types->types.Find(name, parameters);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? 0 : found[0];
  }

  struct NoSlices final : profile::SliceSink {
    void OnSlice(profile::Slice&&) override {}
  };
  StringPool strings_;
  NoSlices sink_;
  WorkerPool workers_{0};
  std::shared_ptr<symbol_files::ModuleTypesCache> cache_ =
      std::make_shared<symbol_files::ModuleTypesCache>();
  std::unique_ptr<profile::ProcessTables> tables_;
  std::unique_ptr<analysis::ProcessFold> fold_;
  std::unique_ptr<TypeNamer> namer_;
  FakeMemory* memory_ = nullptr;
  int64_t event_ns_ = 0;
};

TEST_F(TypeNamerTest, BulkTypeTellsOwnersOfTypesAndOfArrays) {
  Load(kSampleModule, kSample);
  Describe({0x10, "Slot[System.Int32]", {1}, kSampleModule, TokenOf("Slot", 1), 0});
  Describe({0x20, "Slot[System.Int32][]", {0x10}, kSampleModule, 0x02000000, clr::kArrayType});
  Describe({0x30, "Slot[System.Int32][][]", {0x20}, kSampleModule, 0x02000000, clr::kArrayType});
  Describe({0x40,
            "Deep`2[System.Int32,System.String,System.Byte]",
            {1, 2, 3},
            kSampleModule,
            TokenOf("Deep`2", 3),
            0});
  memory_->refuses = true;
  Work(kSecond);
  EXPECT_EQ(NameOf(0x10), "Shop.Box`1+Slot[System.Int32]");
  EXPECT_EQ(NameOf(0x20), "Shop.Box`1+Slot[System.Int32][]");
  EXPECT_EQ(NameOf(0x30), "Shop.Box`1+Slot[System.Int32][][]");
  EXPECT_EQ(NameOf(0x40), "Shop.Box`1+Slot+Deep`2[System.Int32,System.String,System.Byte]");
  EXPECT_TRUE(fold_->types().bare().empty());
}

TEST_F(TypeNamerTest, TheRuntimesMemoryTellsOwnersOfSampledTypes) {
  Load(kSampleModule, kSample);
  Load(kOtherModule, "/none.dll");  // any name might be of a type of this one
  Allocate(0x1000, "Slot[System.Int32]");
  Allocate(0x2000, "Slot[System.Int32][]");
  PutTable(0x1000, kSampleModule, TokenOf("Slot", 1));
  PutArrayTable(0x2000, 0x1000);
  Work(kSecond, Modules::kComing);
  EXPECT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
  EXPECT_EQ(NameOf(0x2000), "Shop.Box`1+Slot[System.Int32][]");
}

TEST_F(TypeNamerTest, MemoryThatSaysSomethingElseIsNotBelieved) {
  Load(kSampleModule, kSample);
  Load(kOtherModule, "/none.dll");
  Allocate(0x1000, "Kind[System.Int32]");
  Allocate(0x2000, "Slot[System.Int32]");
  PutTable(0x1000, kSampleModule, TokenOf("Slot", 1));  // another type
  PutTable(0x2000, 0x9999, TokenOf("Slot", 1));         // of a module that nobody knows
  Work(kSecond);
  Work(3 * kSecond);
  EXPECT_EQ(NameOf(0x1000), "Kind[System.Int32]");
  EXPECT_EQ(NameOf(0x2000), "Slot[System.Int32]");
  EXPECT_TRUE(fold_->types().bare().empty()) << "they are not asked for ever";
}

TEST_F(TypeNamerTest, ANameThatOneTypeHasIsEnoughOnceAllModulesAreTold) {
  memory_->refuses = true;
  Allocate(0x1000, "Slot[System.Int32]");
  Load(kSampleModule, kSample);
  Work(1 * kSecond, Modules::kComing);
  EXPECT_EQ(NameOf(0x1000), "Slot[System.Int32]");
  Work(3 * kSecond, Modules::kComing);
  EXPECT_EQ(NameOf(0x1000), "Slot[System.Int32]");
  Work(4 * kSecond, Modules::kAll);
  EXPECT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
}

TEST_F(TypeNamerTest, AModuleThatIsToldALittleLaterCounts) {
  memory_->refuses = true;
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  Work(1 * kSecond);
  EXPECT_EQ(NameOf(0x1000), "Slot[System.Int32]") << "its module may be told by another session";
  Load(kOtherModule, "/none.dll");
  Work(3 * kSecond);
  EXPECT_EQ(NameOf(0x1000), "Slot[System.Int32]") << "it may be of that one";
}

TEST_F(TypeNamerTest, WhereModulesAreMissingANameIsNotEnough) {
  memory_->refuses = true;
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  Work(1 * kSecond, Modules::kSome);
  Work(3 * kSecond, Modules::kSome);
  EXPECT_EQ(NameOf(0x1000), "Slot[System.Int32]");
  EXPECT_TRUE(fold_->types().bare().empty());
}

TEST_F(TypeNamerTest, AtTheEndNothingIsWaitedFor) {
  memory_->refuses = true;
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  Allocate(0x2000, "Nobody");
  namer_->Finish(*fold_, strings_, Modules::kAll);
  EXPECT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
  EXPECT_EQ(NameOf(0x2000), "Nobody");
}

TEST_F(TypeNamerTest, ModulesOfAJobThatHasNotBegunAreKnown) {
  WorkerPool busy(1);
  std::promise<void> go;
  busy.Post([&go] { go.get_future().wait(); });
  memory_->refuses = true;
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  namer_->Work(*fold_, strings_, Modules::kAll, kSecond, busy);
  namer_->Finish(*fold_, strings_, Modules::kAll);
  EXPECT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
  go.set_value();
}

TEST_F(TypeNamerTest, ATypeThatGoesByAnotherNameStaysOneType) {
  memory_->refuses = true;
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  const size_t types = tables_->types.size();
  Work(1 * kSecond);
  Work(3 * kSecond);
  Allocate(0x1000, "Slot[System.Int32]");
  EXPECT_EQ(tables_->types.size(), types);
  EXPECT_EQ(tables_->series.keys().size(), 1u);
  const std::vector<RenamedType> renamed = namer_->TakeRenamed();
  ASSERT_EQ(renamed.size(), 1u);
  EXPECT_EQ(renamed[0].from, "Slot<int>");
  EXPECT_EQ(renamed[0].to, "Shop.Box<int>.Slot");
  EXPECT_TRUE(renamed[0].alone);
}

TEST_F(TypeNamerTest, TypesOfOneNameAreToldApart) {
  Load(kSampleModule, kSample);
  Load(kOtherModule, "/none.dll");
  Allocate(0x1000, "Slot[System.Int32]");
  Allocate(0x2000, "Slot[System.Int32]");
  PutTable(0x1000, kSampleModule, TokenOf("Slot", 1));
  Work(kSecond);
  EXPECT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
  EXPECT_EQ(NameOf(0x2000), "Slot[System.Int32]");
  const std::vector<RenamedType> renamed = namer_->TakeRenamed();
  ASSERT_EQ(renamed.size(), 1u);
  EXPECT_FALSE(renamed[0].alone);
}

TEST_F(TypeNamerTest, NamesGoOnInAnotherRecording) {
  Load(kSampleModule, kSample);
  Allocate(0x1000, "Slot[System.Int32]");
  Allocate(0x2000, "Slot[System.String]");
  PutTable(0x1000, kSampleModule, TokenOf("Slot", 1));
  Work(kSecond, Modules::kComing);
  ASSERT_EQ(NameOf(0x1000), "Shop.Box`1+Slot[System.Int32]");
  Allocate(0x3000, "Slot[System.Byte]");
  PutTable(0x3000, kSampleModule, TokenOf("Slot", 1));
  namer_->EndTables(*fold_, strings_, Modules::kComing, 2 * kSecond);
  EXPECT_EQ(NameOf(0x3000), "Shop.Box`1+Slot[System.Byte]") << "as far as it can be told";
  const auto old = std::move(tables_);
  StringPool strings;
  tables_ = std::make_unique<profile::ProcessTables>();
  tables_->code.AddModule({kSampleModule, strings.Intern(kSample), {}, {}});
  fold_->MoveTo(*old, strings_, &strings, tables_.get(), 1, &sink_);
  EXPECT_EQ(fold_->types().bare().size(), 1u) << "one is known, one is still asked for";
  PutTable(0x2000, kSampleModule, TokenOf("Slot", 1));
  for (int i = 0; i < 2; ++i) namer_->Work(*fold_, strings, Modules::kComing, kSecond, workers_);
  std::vector<std::string> names;
  for (const profile::RuntimeType& type : tables_->types)
    if (type.id != 0) names.emplace_back(strings.Get(type.raw_name));
  EXPECT_EQ(names, (std::vector<std::string>{"Shop.Box`1+Slot[System.Int32]",
                                             "Shop.Box`1+Slot[System.String]",
                                             "Shop.Box`1+Slot[System.Byte]"}));
}

TEST_F(TypeNamerTest, ATypeWithoutANamespaceKeepsItsName) {
  Load(kSampleModule, kSample);
  Allocate(0x1000, "<Module>");
  PutTable(0x1000, kSampleModule, TokenOf("<Module>", 0));
  Work(kSecond, Modules::kComing);
  EXPECT_EQ(NameOf(0x1000), "<Module>");
  EXPECT_TRUE(fold_->types().bare().empty()) << "that is known";
  EXPECT_TRUE(namer_->TakeRenamed().empty());
}

TEST_F(TypeNamerTest, ExceptionsAreNamedToo) {
  Load(kSampleModule, kSample);
  std::string payload;
  for (const std::string_view text : {std::string_view("Slot"), std::string_view("message")}) {
    for (const char c : text) payload += {c, '\0'};
    payload.append(2, '\0');
  }
  payload.append(8 + 4 + 2 + 2, '\0');
  Event(EventTag::kException, 1, payload);
  EXPECT_EQ(fold_->types().bare().size(), 1u);
  Work(kSecond);
  Work(3 * kSecond);
  EXPECT_EQ(NameOf(0), "Slot") << "none without parameters has that name";
}

}  // namespace
}  // namespace clrscope::capture
