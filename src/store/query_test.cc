// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "analysis/testing/simulated_agent.h"
#include "base/units.h"
#include "profile/estimate/duration_scale.h"
#include "profile/tables/series.h"
#include "store/capture_writer.h"
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

// In two slices, of one stack: `App.Lost` was thrown 3 times and once again, of which 2 in the
// first slice, by thread 7; 2 ms were waited for a lock of thread 8, and 5 ms for something.
// `Orders.A` was allocated.
std::unique_ptr<Catalog> EventCatalog() {
  auto recording = std::make_unique<profile::Recording>();
  auto tables = std::make_unique<profile::ProcessTables>();
  profile::ProcessTables& t = *tables;
  t.info.pid = 42;
  t.info.name = recording->strings.Intern("orders");
  t.types.push_back({0x7f01, recording->strings.Intern("Orders.A")});
  t.types.push_back({0, recording->strings.Intern("App.Lost")});
  profile::MethodCode m;
  m.start = 0x1000;
  m.size = 0x100;
  m.owner = recording->strings.Intern("App.Worker");
  m.name = recording->strings.Intern("Run");
  m.signature = recording->strings.Intern("void  ()");
  t.code.Add(m);
  const uint64_t ip = 0x1010;
  const uint32_t node = t.stacks.Fold(reinterpret_cast<const std::byte*>(&ip), 1, 8, 1, 0);
  const profile::LabelSet thread = profile::LabelSet{}.With(profile::LabelKey::kThread, 7);
  const uint16_t by = t.labels.Find(thread);
  const uint16_t held = t.labels.Find(
      thread.With(profile::LabelKey::kOwner, 8).With(profile::LabelKey::kHolding, node));
  const uint16_t open = t.labels.Find(thread.With(profile::LabelKey::kUnfinished, 1));
  bool capped = false;
  const auto series = [&](uint32_t type, Source source, uint16_t labels) {
    return t.series.Find(SeriesKey::Make(node, type, HeapKind::kUnknown, source, 0, labels), 0, 3,
                         &capped);
  };
  const uint32_t allocated = series(1, Source::kSampled, 0);
  const uint32_t thrown = series(2, Source::kException, by);
  const uint32_t lock = series(0, Source::kContention, held);
  const uint32_t wait = series(0, Source::kWait, open);
  recording->processes.push_back(std::move(tables));
  recording->end_ns = 2 * kSecond;
  profile::Slice first, second;
  first.end_ns = second.start_ns = kSecond;
  second.end_ns = 2 * kSecond;
  first.rows = {{allocated, {1, 100, 0}}, {thrown, {2, 0, 2}}, {lock, {1, 2'000'000, 1}}};
  second.rows = {{thrown, {2, 1, 1}}, {wait, {1, 5'000'000, 1}}};
  return Catalog::Of(std::move(recording), {first, second});
}

TEST(QueryTest, EventsHaveTablesOfTheirOwn) {
  const auto query = Query::Open(EventCatalog()).Take();
  EXPECT_EQ(One(*query, "select sum(count) from exceptions"), "3");
  EXPECT_EQ(One(*query, "select sum(rethrows) from exceptions"), "1");
  EXPECT_EQ(One(*query, "select count from exceptions where start_s = 0 and end_s = 1"), "2");
  EXPECT_EQ(One(*query, "select process||pid||type||method||leaf_method||thread from exceptions"),
            "orders42App.LostApp.Worker.RunApp.Worker.Run7");
  EXPECT_EQ(One(*query, "select thread||' '||owner||' '||holding||' '||wait_ns from locks"),
            "7 8 App.Worker.Run 2000000");
  EXPECT_EQ(One(*query, "select unfinished from locks"), "0");
  EXPECT_EQ(One(*query, "select thread||' '||unfinished||' '||count||' '||wait_ns from waits"),
            "7 1 1 5000000");
  EXPECT_EQ(One(*query, "select count(*) from exceptions e join frames f on f.id = e.stack_id"),
            "2");
  EXPECT_EQ(One(*query,
                "select count(*) from waits where stack_id not in (select stack_id from "
                "stacks)"),
            "0");
}

// `App.Run` at 0x1000 is called by itself and by `App.Main` at 0x2000; samples of CPU time end in
// both.
TEST(QueryTest, AddressesHaveNamesAndSamples) {
  auto recording = std::make_unique<profile::Recording>();
  auto tables = std::make_unique<profile::ProcessTables>();
  for (const auto& [start, name] : {std::pair{0x1000, "Run"}, std::pair{0x2000, "Main"}}) {
    profile::MethodCode code;
    code.start = static_cast<uint64_t>(start);
    code.size = 0x100;
    code.method_id = code.start;
    code.owner = recording->strings.Intern("App");
    code.name = recording->strings.Intern(name);
    tables->code.Add(code);
  }
  const auto fold = [&](std::vector<uint64_t> stack) {
    return tables->stacks.Fold(reinterpret_cast<const std::byte*>(stack.data()),
                               static_cast<uint32_t>(stack.size()), 8, 1, 0);
  };
  bool capped = false;
  const auto series = [&](uint32_t node) {
    return tables->series.Find(SeriesKey::Make(node, 0, HeapKind::kUnknown, Source::kCpuClock, 0),
                               0, 1, &capped);
  };
  const uint32_t run = series(fold({0x1010, 0x1020, 0x1020, 0x2030}));
  const uint32_t main = series(fold({0x2030}));
  recording->processes.push_back(std::move(tables));
  recording->end_ns = kSecond;
  profile::Slice slice;
  slice.end_ns = kSecond;
  slice.rows = {{run, {3, 30, 3}}, {main, {2, 20, 2}}};
  const auto query = Query::Open(Catalog::Of(std::move(recording), {slice})).Take();
  EXPECT_EQ(One(*query, "select count(*) from addresses"), "3");
  EXPECT_EQ(One(*query,
                "select group_concat(method || ' ' || leaf_samples || ' ' || samples) from (select "
                "* from addresses order by address)"),
            "App.Run 3 3,App.Run 0 3,App.Main 2 5");
}

TEST(QueryTest, WhatIsAllocatedKnowsNothingOfEvents) {
  const auto query = Query::Open(EventCatalog()).Take();
  EXPECT_EQ(One(*query, "select sum(samples) from all_samples"), "1");
  EXPECT_EQ(One(*query, "select group_concat(type) from types"), "Orders.A");
  EXPECT_EQ(One(*query,
                "select raw from types(1) where type_key = (select type_key from "
                "exceptions)"),
            "App.Lost");
  EXPECT_EQ(One(*query, "select sum(samples) from stacks"), "1");
  EXPECT_EQ(One(*query, "select sum(self_samples) from methods"), "1");
  EXPECT_EQ(One(*query, "select count(*) from sites"), "1");
}

// In one slice, of one stack: `GET /items/{id}` was asked for twice, 10 ms each, and once more
// after the recording's end; 100 samples are its own and 50 nobody's; it threw twice and waited 3
// ms for a lock.
std::unique_ptr<Catalog> RequestCatalog() {
  using profile::LabelKey;
  auto recording = std::make_unique<profile::Recording>();
  auto tables = std::make_unique<profile::ProcessTables>();
  profile::ProcessTables& t = *tables;
  t.info.pid = 42;
  t.info.name = recording->strings.Intern("shop");
  t.types.push_back({0x7f01, recording->strings.Intern("Shop.Item")});
  t.requests.routes.push_back({profile::RouteKind::kTemplate, recording->strings.Intern("GET"),
                               recording->strings.Intern("/items/{id}"), 11'000'000});
  profile::SlowRequest slow;
  slow.start_ns = kSecond / 2;
  slow.duration_ns = 11'000'000;
  slow.path = "/items/7";
  slow.bytes = 4096;
  t.requests.slowest.push_back(slow);
  const profile::LabelSet request =
      profile::LabelSet()
          .With(LabelKey::kRequest, 1)
          .With(LabelKey::kDuration, profile::DurationScale::StepOf(10'000'000));
  const auto part = [&](profile::RequestPart of) {
    return t.labels.Find(request.With(LabelKey::kRequestPart, static_cast<uint64_t>(of)));
  };
  bool capped = false;
  const auto series = [&](uint32_t type, Source source, uint16_t labels) {
    const HeapKind kind =
        type != 0 && source == Source::kSampled ? HeapKind::kSoh : HeapKind::kUnknown;
    const bool allocated = source == Source::kSampled;
    return t.series.Find(SeriesKey::Make(profile::StackTree::kNoStack, type, kind, source,
                                         allocated ? profile::SizeClass(100) : uint16_t{0}, labels),
                         allocated ? 100 : 0, 3, &capped);
  };
  const uint16_t own = t.labels.Find(request);
  const uint32_t others = series(1, Source::kSampled, 0), ours = series(1, Source::kSampled, own);
  const uint32_t thrown = series(1, Source::kException, own);
  const uint32_t lock = series(0, Source::kContention, own);
  const uint32_t ended = series(0, Source::kRequest, part(profile::RequestPart::kEnded));
  const uint32_t unended = series(0, Source::kRequest, part(profile::RequestPart::kUnended));
  recording->processes.push_back(std::move(tables));
  recording->end_ns = kSecond;
  profile::Slice slice;
  slice.end_ns = kSecond;
  slice.rows = {{others, {50, 5'000, 0}},  {ours, {100, 10'000, 0}},    {thrown, {2, 0, 2}},
                {lock, {1, 3'000'000, 1}}, {ended, {2, 20'000'000, 2}}, {unended, {1, 0, 1}}};
  return Catalog::Of(std::move(recording), {slice});
}

TEST(QueryTest, EveryRowTellsItsRequest) {
  const auto query = Query::Open(RequestCatalog()).Take();
  EXPECT_EQ(One(*query, "select sum(samples) from samples where request = 'GET /items/{id}'"),
            "100");
  EXPECT_EQ(One(*query, "select sum(samples) from samples where request is null"), "50");
  EXPECT_EQ(One(*query, "select sum(count) from exceptions where request like 'GET %'"), "2");
  EXPECT_EQ(One(*query, "select request||wait_ns from locks"), "GET /items/{id}3000000");
  const auto without = Query::Open(EventCatalog()).Take();
  for (const char* table : {"samples", "exceptions", "locks", "waits"})
    EXPECT_EQ(One(*without, std::string("select count(request) from ") + table), "0") << table;
  EXPECT_EQ(One(*without, "select count(*) from request_costs"), "0");
}

TEST(QueryTest, EachRouteHasItsCosts) {
  const auto query = Query::Open(RequestCatalog()).Take();
  EXPECT_EQ(One(*query, "select count(*) from request_costs"), "2");
  const std::string of = " from request_costs where request = 'GET /items/{id}'";
  EXPECT_EQ(One(*query, "select process||pid||count||unfinished||exceptions||lock_wait_ns" + of),
            "shop422123000000");
  EXPECT_EQ(One(*query, "select samples||mean_ns" + of), "10010000000");
  EXPECT_EQ(One(*query, "select bytes_low < bytes and bytes < bytes_high" + of), "1");
  EXPECT_EQ(
      One(*query, "select bytes = (select sum(bytes) from samples where request is not null)" + of),
      "1");
  EXPECT_EQ(One(*query, "select errors is null" + of), "1") << "the runtime counted none";
  EXPECT_EQ(One(*query, "select samples from request_costs where count is null"), "50");
  EXPECT_EQ(One(*query, "select request||path||duration_ns||bytes from requests"),
            "GET /items/{id}/items/7110000004096.0");
  EXPECT_EQ(One(*query, "select sum(samples) from sites"), "150");
}

// A minute of a program whose `Orders.Order` objects leak and whose strings are refreshed each 15
// s, told by an agent, with 12 samples of the first in each of the six intervals.
class AgentQueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace simulated = analysis::testing;
    (void)::unlink(path_.c_str());
    simulated::SimulatedProgram program;
    program.seconds = 60;
    program.streams = {{"Orders.Order", "Orders.History.Add", 6'400, [](double) { return 200.0; },
                        [](double, double) { return simulated::kNeverDies; }},
                       {"string", "Orders.Prices.Load", 5'000, [](double) { return 200.0; },
                        [](double t, double) { return 15 - std::fmod(t, 15) + 0.1; }}};
    profile::Recording recording;
    recording.processes.push_back(std::make_unique<profile::ProcessTables>());
    recording.processes[0]->info.pid = 42;
    recording.processes[0]->info.name = recording.strings.Intern("orders");
    auto writer = CaptureWriter::Create(path_, &recording);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    std::vector<profile::IntervalFrame> frames = simulated::SimulatedAgent(program, 3).Run();
    recording.start_unix_ns = frames[0].start_unix_ns;
    analysis::IntervalFold fold(&recording, 0, writer->get(), true);
    for (profile::IntervalFrame& f : frames) {
      f.flows = {{1, 1, HeapKind::kSoh, profile::EstimateSampled(12, 6'400)}};
      f.cpu = {8'000'000'000, 1'500'000'000, 500'000'000, -1};
      f.meter.samples = 12;
      recording.end_ns = recording.processes[0]->info.end_ns = f.end_ns;
      ASSERT_TRUE(fold.OnFrame(std::move(f)).ok());
    }
    ASSERT_TRUE((*writer)->Finish(true).ok());
  }
  void TearDown() override { (void)::unlink(path_.c_str()); }

  std::unique_ptr<Query> OpenIt() { return Query::Open(Catalog::Open(path_).Take()).Take(); }
  static double Number(Query& query, const std::string& sql) {
    return std::stod("0" + One(query, sql));
  }

  const std::string path_ =
      "/tmp/clrscope_agent_query_test." + std::to_string(::getpid()) + ".clrscope";
};

TEST_F(AgentQueryTest, WhatLivesHasTypesSitesAndAges) {
  const auto query = OpenIt();
  // 1.28 MB a second for a minute, of which some 750 objects are followed.
  EXPECT_NEAR(Number(*query, "select sum(bytes) from live where type='Orders.Order'"), 76.8e6,
              12e6);
  EXPECT_EQ(One(*query, "select distinct method from live where type='Orders.Order'"),
            "Orders.History.Add");
  EXPECT_EQ(One(*query, "select count(*) from live where type='string' and age_from_s >= 20"), "0");
  EXPECT_NE(One(*query, "select count(*) from live where type='Orders.Order' and age_from_s >= 20"),
            "0");
  EXPECT_EQ(One(*query, "select count(*) from live where not bytes_low < bytes"), "0");
  EXPECT_EQ(One(*query, "select max(at_s) from live"), "60.0");
  // The last moment of the ages is what lives.
  EXPECT_NEAR(Number(*query, "select sum(bytes) from live_ages where at_s=60"),
              Number(*query, "select sum(bytes) from live"), 1);
  EXPECT_EQ(One(*query, "select count(distinct at_s) from live_ages"), "6");
  EXPECT_EQ(One(*query,
                "select f.method from live l join frames f on f.id=l.stack_id where "
                "l.type='Orders.Order' and f.depth=0 limit 1"),
            "Orders.History.Add");
}

TEST_F(AgentQueryTest, IntervalsTellFlowsTurnoverAndCpu) {
  const auto query = OpenIt();
  EXPECT_EQ(One(*query, "select sum(samples) from samples"), "72");
  EXPECT_EQ(One(*query, "select sum(samples) from all_samples"), "72");
  EXPECT_EQ(One(*query, "select samples from sites where method='Orders.History.Add'"), "72");
  EXPECT_EQ(One(*query, "select count(distinct start_s) from samples"), "6");
  EXPECT_EQ(One(*query, "select count(*) from agent_intervals where samples=12"), "6");
  EXPECT_EQ(One(*query, "select event from agent_intervals limit 1"), "AllocationSampled");
  EXPECT_EQ(One(*query, "select sum(gc_cpu_s) from gc_cpu"), "12.0");
  EXPECT_EQ(One(*query, "select gc_share from gc_cpu limit 1"), "0.25");
  EXPECT_EQ(One(*query, "select count(*) from gc_cpu where workstation_gc_s is null"), "6");
  EXPECT_EQ(One(*query, "select sum(dead) from turnover where type='Orders.Order'"), "0");
  // Of what lives, all was born and has not died.
  EXPECT_NEAR(Number(*query, "select sum(born_bytes)-sum(dead_bytes) from turnover"),
              Number(*query, "select sum(bytes) from live"), 1);
}

TEST_F(AgentQueryTest, PlainRowsSayTheSame) {
  const std::string rows = path_ + ".sqlite";
  (void)::unlink(rows.c_str());
  const auto catalog = Catalog::Open(path_).Take();
  ASSERT_TRUE(Explode(*catalog, rows).ok());
  const auto query = OpenIt();
  auto db = Database::Open(rows, Database::Mode::kReadOnly);
  ASSERT_TRUE(db.ok());
  for (const char* sql : {"select sum(samples) from samples", "select sum(samples) from live",
                          "select count(*) from live where method='Orders.History.Add'",
                          "select sum(gc_cpu_s) from gc_cpu", "select count(*) from frames",
                          "select event from recording"}) {
    auto statement = db->Prepare(sql);
    ASSERT_TRUE(statement.ok()) << statement.error().message;
    ASSERT_TRUE(statement->Step().ok());
    EXPECT_EQ(statement->Text(0), One(*query, sql)) << sql;
  }
  for (const auto& [table, of] :
       {std::pair{"live_age", "live_ages"}, std::pair{"birth_and_death", "turnover"},
        std::pair{"agent_interval", "agent_intervals"}}) {
    auto statement = db->Prepare("select count(*) from " + std::string(table));
    ASSERT_TRUE(statement.ok()) << statement.error().message;
    ASSERT_TRUE(statement->Step().ok());
    EXPECT_EQ(statement->Text(0), One(*query, "select count(*) from " + std::string(of))) << table;
    EXPECT_NE(statement->Text(0), "0") << table;
  }
  (void)::unlink(rows.c_str());
}

TEST(ExplodeTest, PlainRowsHoldEvents) {
  const std::string path = "/tmp/clrscope_explode_events." + std::to_string(::getpid()) + ".sqlite";
  (void)::unlink(path.c_str());
  const auto catalog = EventCatalog();
  ASSERT_TRUE(Explode(*catalog, path).ok());
  auto db = Database::Open(path, Database::Mode::kReadOnly);
  ASSERT_TRUE(db.ok());
  const auto one = [&](const char* sql) {
    auto statement = db->Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.error().message;
    EXPECT_TRUE(statement->Step().ok());
    return std::string(statement->Text(0));
  };
  EXPECT_EQ(one("select sum(count)||' '||sum(rethrows) from exception"), "3 1");
  EXPECT_EQ(one("select distinct type||' '||method from exceptions"), "App.Lost App.Worker.Run");
  EXPECT_EQ(one("select owner||' '||holding||' '||wait_ns from locks"), "8 App.Worker.Run 2000000");
  EXPECT_EQ(one("select unfinished||' '||method from waits"), "1 App.Worker.Run");
  EXPECT_EQ(one("select group_concat(type) from types"), "Orders.A");
  (void)::unlink(path.c_str());
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
