// SPDX-License-Identifier: Apache-2.0
// Payloads of the EventSources that tell of requests. Here, because the payload builders are.
#include <gtest/gtest.h>

#include <limits>

#include "base/utf.h"
#include "clr/metric_events.h"
#include "clr/operation_events.h"
#include "clr/request_events.h"
#include "nettrace/testing/decode_as.h"
#include "nettrace/testing/synthetic_writer.h"

namespace clrscope::clr {
namespace {

using namespace nettrace::testing;

std::string HistogramPayload(int32_t count, double sum, bool v2) {
  ByteWriter w;
  w.Z16("s1")
      .Z16("Microsoft.AspNetCore.Hosting")
      .Z16("")
      .Z16("http.server.request.duration")
      .Z16("s")
      .Z16("http.request.method=GET,http.route=/a/{x}")
      .Z16("0.5=0.01;0.95=0.02;0.99=0.03")
      .Put(count)
      .F64(sum);
  if (v2) w.U32(7);  // the instrument's id
  return w.Take();
}

// The time as .NET writes it: 100 ns since 1601.
int64_t FileTime(int64_t unix_s) { return 116'444'736'000'000'000 + unix_s * 10'000'000; }

TEST(RequestStartPayload, MethodAndPathDecode) {
  const std::string payload = ByteWriter().Z16("GET").Z16("/items/17").Take();
  RequestStart s;
  ASSERT_TRUE(DecodeAs(EventTag::kRequestStart, 0, payload, s));
  EXPECT_EQ(ToUtf8(s.method), "GET");
  EXPECT_EQ(ToUtf8(s.path), "/items/17");
  ExpectTailAndTruncation<RequestStart>(EventTag::kRequestStart, 0, payload, payload.size());
  ASSERT_TRUE(DecodeAs(EventTag::kRequestStart, 0, ByteWriter().Z16("").Z16("").Take(), s));
  EXPECT_TRUE(s.path.empty());
}

TEST(OperationPayloads, CallsDecode) {
  const std::string start = ByteWriter().Z16("https").Z16("h\u00e9").Put(int32_t{443}).Take();
  HttpStart s;
  ASSERT_TRUE(DecodeAs(EventTag::kHttpStart, 0, start, s));
  EXPECT_EQ(ToUtf8(s.scheme), "https");
  EXPECT_EQ(ToUtf8(s.host), "h\u00e9");
  EXPECT_EQ(s.port, 443);
  ExpectTailAndTruncation<HttpStart>(EventTag::kHttpStart, 0, start, start.size());
  HttpStop stop;
  ASSERT_TRUE(DecodeAs(EventTag::kHttpStop, 0, "", stop));  // .NET 7
  EXPECT_EQ(stop.status, 0);
  ASSERT_TRUE(DecodeAs(EventTag::kHttpStop, 1, ByteWriter().Put(int32_t{-1}).Take(), stop));
  EXPECT_EQ(stop.status, -1);
  EXPECT_FALSE(DecodeAs(EventTag::kHttpStop, 1, "ab", stop));
}

TEST(OperationPayloads, ActivitiesHaveArgumentsByName) {
  const std::string payload = ByteWriter()
                                  .Z16("Shop")
                                  .Z16("job")
                                  .U16(2)
                                  .Z16("OperationName")
                                  .Z16("outer")
                                  .Z16("Status")
                                  .Z16("Error")
                                  .Take();
  DiagnosticEvent e;
  ASSERT_TRUE(DecodeAs(EventTag::kActivityStop, 0, payload, e));
  EXPECT_TRUE(IsEvent(e, "Shop", "job"));
  EXPECT_FALSE(IsEvent(e, "Shop", "jobs"));
  EXPECT_EQ(ToUtf8(FindArgument(e, "OperationName")), "outer");
  EXPECT_TRUE(IsFailed(e));
  EXPECT_TRUE(FindArgument(e, "Name").empty());
  const size_t names = ByteWriter().Z16("Shop").Z16("job").Take().size();
  for (size_t n = 0; n < payload.size(); ++n) {
    EXPECT_EQ(DecodeAs(EventTag::kActivityStop, 0, payload.substr(0, n), e), n >= names) << n;
    if (n >= names) {
      EXPECT_FALSE(IsFailed(e)) << n;
    }
  }
}

TEST(OperationPayloads, CommandsDecode) {
  const std::string of_npgsql = ByteWriter().Z16("SELECT 1").Take();
  SqlStart start;
  ASSERT_TRUE(DecodeAs(EventTag::kNpgsqlStart, 0, of_npgsql, start));
  EXPECT_EQ(ToUtf8(start.text), "SELECT 1");
  EXPECT_EQ(start.object, 0);
  ExpectTailAndTruncation<SqlStart>(EventTag::kNpgsqlStart, 0, of_npgsql, of_npgsql.size());
  const std::string of_client =
      ByteWriter().Put(int32_t{17}).Z16("server").Z16("shop").Z16("SELECT 2").Take();
  ASSERT_TRUE(DecodeAs(EventTag::kSqlClientStart, 0, of_client, start));
  EXPECT_EQ(ToUtf8(start.text), "SELECT 2");
  EXPECT_EQ(start.object, 17);
  ExpectTailAndTruncation<SqlStart>(EventTag::kSqlClientStart, 0, of_client, of_client.size());
  SqlStop stop;
  ASSERT_TRUE(DecodeAs(EventTag::kNpgsqlStop, 0, "", stop));
  EXPECT_FALSE(stop.failed);
  for (const int32_t state : {1, 2, 5, 6}) {  // succeeded: bit 0
    ASSERT_TRUE(DecodeAs(EventTag::kSqlClientStop, 0,
                         ByteWriter().Put(int32_t{17}).Put(state).Put(int32_t{0}).Take(), stop));
    EXPECT_EQ(stop.object, 17);
    EXPECT_EQ(stop.failed, state == 2 || state == 6);
  }
}

TEST(HistogramValuePayload, BothVersionsDecode) {
  for (const bool v2 : {false, true}) {
    const std::string payload = HistogramPayload(11, 0.25, v2);
    HistogramValue v;
    ASSERT_TRUE(DecodeAs(EventTag::kHistogramValue, v2 ? 2 : 1, payload, v));
    EXPECT_EQ(ToUtf8(v.session_id), "s1");
    EXPECT_EQ(ToUtf8(v.meter), "Microsoft.AspNetCore.Hosting");
    EXPECT_EQ(ToUtf8(v.instrument), "http.server.request.duration");
    EXPECT_EQ(ToUtf8(v.tags), "http.request.method=GET,http.route=/a/{x}");
    EXPECT_EQ(ToUtf8(v.quantiles), "0.5=0.01;0.95=0.02;0.99=0.03");
    EXPECT_EQ(v.count, 11);
    EXPECT_EQ(v.sum, 0.25);
    ExpectTailAndTruncation<HistogramValue>(EventTag::kHistogramValue, v2 ? 2 : 1, payload,
                                            payload.size() - (v2 ? 4 : 0));
  }
}

TEST(HistogramValuePayload, NumbersThatCannotBeDoNotDecode) {
  HistogramValue v;
  const auto decodes = [&v](int32_t count, double sum) {
    return DecodeAs(EventTag::kHistogramValue, 2, HistogramPayload(count, sum, true), v);
  };
  EXPECT_TRUE(decodes(0, 0));
  EXPECT_FALSE(decodes(-1, 0));
  EXPECT_FALSE(decodes(1, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(decodes(1, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(decodes(1, -1e300));
}

TEST(CounterRatePayload, IsReadInAnyCulture) {
  const auto payload = [](std::string_view rate) {
    return ByteWriter()
        .Z16("s1")
        .Z16("Microsoft.AspNetCore.Routing")
        .Z16("")
        .Z16("aspnetcore.routing.match_attempts")
        .Z16("{match_attempt}")
        .Z16("aspnetcore.routing.match_status=failure")
        .Z16(rate)
        .Z16("12")
        .Take();
  };
  CounterRate rate;
  for (const auto& [text, value] : {std::pair<const char*, double>{"12", 12},
                                    {"0", 0},
                                    {"1E+06", 1e6},
                                    {"1,5", 1.5},
                                    {"2.5", 2.5}}) {
    ASSERT_TRUE(DecodeAs(EventTag::kCounterRate, 1, payload(text), rate)) << text;
    EXPECT_EQ(rate.added, value);
    EXPECT_EQ(ToUtf8(rate.tags), "aspnetcore.routing.match_status=failure");
    EXPECT_TRUE(IsMatchAttempts(rate));
  }
  for (const char* text : {"", "x", "-1", "1E99", "NaN"})
    EXPECT_FALSE(DecodeAs(EventTag::kCounterRate, 1, payload(text), rate)) << text;
  const std::string good = payload("7");
  ExpectTailAndTruncation<CounterRate>(EventTag::kCounterRate, 1, good, good.size());
}

TEST(CollectionTimePayload, DecodesToUnixTime) {
  const auto payload = [](int64_t start, int64_t end) {
    return ByteWriter().Z16("s1").I64(start).I64(end).Take();
  };
  constexpr int64_t kThen = 1'790'000'000;
  CollectionTime t;
  const std::string good = payload(FileTime(kThen) + 5, FileTime(kThen + 1));
  ASSERT_TRUE(DecodeAs(EventTag::kMetricsCollectionStart, 0, good, t));
  EXPECT_EQ(ToUtf8(t.session_id), "s1");
  EXPECT_EQ(t.start_unix_ns, kThen * 1'000'000'000 + 500);
  EXPECT_EQ(t.end_unix_ns, (kThen + 1) * 1'000'000'000);
  ExpectTailAndTruncation<CollectionTime>(EventTag::kMetricsCollectionStart, 0, good, good.size());
  for (const auto& [start, end] : {
           std::pair{FileTime(kThen), FileTime(kThen - 1)},
           std::pair{FileTime(kThen), FileTime(kThen + 2'000'000)},
           std::pair{int64_t{0}, FileTime(kThen)},
           std::pair{FileTime(kThen), std::numeric_limits<int64_t>::max()},
           std::pair{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()},
       })
    EXPECT_FALSE(DecodeAs(EventTag::kMetricsCollectionStart, 0, payload(start, end), t))
        << start << " " << end;
}

TEST(MetricsSessionPayload, TheFirstTextIsTheSession) {
  MetricsSession s;
  const std::string payload = ByteWriter().Z16("other").Take();
  ASSERT_TRUE(DecodeAs(EventTag::kMetricsSharingError, 0, payload, s));
  EXPECT_EQ(ToUtf8(s.id), "other");
  ExpectTailAndTruncation<MetricsSession>(EventTag::kMetricsLimit, 0, payload, payload.size());
}

}  // namespace
}  // namespace clrscope::clr
