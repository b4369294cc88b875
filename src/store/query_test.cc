// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "profile/series.h"
#include "store/explode.h"
#include "store/query_tables.h"

namespace clrscope::store {
namespace {

using profile::HeapKind;
using profile::SeriesKey;
using profile::Source;

// Two slices of one process: 3 + 2 Sampled events of `A`, and 7 Tick events of the same.
std::unique_ptr<Catalog> SmallCatalog() {
  auto recording = std::make_unique<profile::Recording>();
  auto tables = std::make_unique<profile::ProcessTables>();
  tables->info.pid = 42;
  tables->info.name = recording->strings.Intern("orders");
  tables->types.push_back({0x7f01, recording->strings.Intern("Orders.A")});
  bool capped = false;
  const uint32_t node = profile::StackTree::kNoStack;
  const uint16_t size = profile::SizeClass(100);
  const uint32_t sampled = tables->series.Find(
      SeriesKey::Make(node, 1, HeapKind::kSoh, Source::kSampled, size), 100, 3, &capped);
  const uint32_t tick = tables->series.Find(
      SeriesKey::Make(node, 1, HeapKind::kSoh, Source::kTick, size), 100, 3, &capped);
  recording->processes.push_back(std::move(tables));
  constexpr int64_t kSecond = 1'000'000'000;
  recording->end_ns = 2 * kSecond;
  profile::Slice first, second;
  first.start_ns = 0;
  first.end_ns = second.start_ns = kSecond;
  second.end_ns = 2 * kSecond;
  first.rows = {{sampled, {3, 300, 0}}, {tick, {7, 700, 700000}}};
  second.rows = {{sampled, {2, 200, 0}}};
  return Catalog::Of(std::move(recording), {first, second});
}

std::string One(Query& query, const std::string& sql) {
  auto statement = query.Prepare(sql);
  if (!statement.ok()) return statement.error().message;
  auto row = statement->Step();
  if (!row.ok()) return row.error().message;
  return *row ? std::string(statement->Text(0)) : "(no row)";
}

std::unique_ptr<Query> OpenSmall() { return Query::Open(SmallCatalog()).Take(); }

TEST(QueryTest, SamplesAreOfOneEventOnly) {
  const auto query = OpenSmall();
  EXPECT_EQ(One(*query, "select sum(samples) from samples"), "5");
  EXPECT_EQ(One(*query, "select sum(samples) from all_samples"), "12");
  EXPECT_EQ(One(*query, "select count(*) from samples where type='Orders.A' and start_s>=1"), "1");
  EXPECT_EQ(One(*query, "select event from recording"), "AllocationSampled");
}

TEST(QueryTest, EveryTableAnswers) {
  const auto query = OpenSmall();
  for (const QueryTable& table : QueryTables()) {
    auto statement = query->Prepare("select * from " + std::string(table.name));
    ASSERT_TRUE(statement.ok()) << table.name << ": " << statement.error().message;
    for (;;) {
      auto row = statement->Step();
      ASSERT_TRUE(row.ok()) << table.name << ": " << row.error().message;
      if (!*row) break;
    }
  }
}

TEST(QueryTest, TableFunctionTakesOneStack) {
  const auto query = OpenSmall();
  const std::string id = One(*query, "select stack_id from samples limit 1");
  EXPECT_EQ(One(*query, "select method from frames(" + id + ")"), "[no stack]");
  EXPECT_EQ(One(*query, "select method from frames(999999)"), "(no row)");
  EXPECT_EQ(One(*query, "select f.method from samples s join frames f on f.id=s.stack_id limit 1"),
            "[no stack]");
}

TEST(QueryTest, OnlyReadsAreAllowed) {
  const auto query = OpenSmall();
  for (const char* sql :
       {"create table t(a)", "delete from samples", "attach '/tmp/x' as x",
        "pragma journal_mode=off", "vacuum into '/tmp/x'", "begin", "select load_extension('x')",
        "drop table samples", "insert into samples(pid) values(1)", "pragma writable_schema=1",
        "detach main"}) {
    auto statement = query->Prepare(sql);
    ASSERT_FALSE(statement.ok()) << sql;
    EXPECT_EQ(statement.error().code, ErrorCode::kUsage);
  }
}

TEST(QueryTest, MistakesTellTheirPosition) {
  const auto query = OpenSmall();
  EXPECT_NE(One(*query, "select 1 fro x y").find("character"), std::string::npos);
  EXPECT_NE(One(*query, "select * from nowhere").find("lists tables"), std::string::npos);
  EXPECT_NE(One(*query, "select 1; select 2").find("one statement"), std::string::npos);
  EXPECT_NE(One(*query, " ").find("empty"), std::string::npos);
}

TEST(ExplodeTest, PlainRowsAddUp) {
  const std::string path = "/tmp/clrscope_explode_test." + std::to_string(::getpid()) + ".sqlite";
  (void)::unlink(path.c_str());
  const auto catalog = SmallCatalog();
  ASSERT_TRUE(Explode(*catalog, path).ok());
  auto db = Database::Open(path, Database::Mode::kReadOnly);
  ASSERT_TRUE(db.ok());
  const auto one = [&](const char* sql) {
    auto statement = db->Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.error().message;
    EXPECT_TRUE(statement->Step().ok());
    return statement->Int(0);
  };
  EXPECT_EQ(one("select sum(samples) from sample"), 12);
  EXPECT_EQ(one("select sum(samples) from samples"), 5);
  EXPECT_EQ(one("select samples from sites where type='Orders.A'"), 5);
  EXPECT_EQ(one("select count(*) from frames where method='[no stack]'"), 1);
  EXPECT_EQ(one("select count(*) from process"), 1);
  (void)::unlink(path.c_str());
}

}  // namespace
}  // namespace clrscope::store
