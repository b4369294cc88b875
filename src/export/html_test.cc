// SPDX-License-Identifier: Apache-2.0
#include "export/html.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "export/html_data.h"

namespace clrscope::exporter {
namespace {

using profile::Cell;
using profile::Estimate;
using profile::HeapKind;
using profile::Profile;
using profile::Source;

// Builds profiles stack by stack.
class Builder {
 public:
  Builder() { p_.nodes.push_back({}); }

  uint32_t Frame(std::string_view module, std::string_view method, uint8_t flags = 0) {
    const auto [it, fresh] = frames_.try_emplace(std::string(module) + '!' + std::string(method),
                                                 static_cast<uint32_t>(p_.frames.size()));
    if (fresh) {
      const StringId name = p_.strings.Intern(method);
      const StringId raw = p_.strings.Intern(std::string(method) + "(class System.String, int32)");
      p_.frames.push_back({p_.strings.Intern(module), name, raw, 0x06000001, flags});
    }
    return it->second;
  }
  uint32_t Type(std::string_view name, uint32_t process = 0) {
    const auto [it, fresh] =
        types_.try_emplace({std::string(name), process}, static_cast<uint32_t>(p_.types.size()));
    if (fresh) {
      const StringId id = p_.strings.Intern(name);
      p_.types.push_back({id, id, it->second + 1000, process});
    }
    return it->second;
  }
  uint32_t Node(uint32_t parent, uint32_t frame) {
    const auto [it, fresh] =
        nodes_.try_emplace({parent, frame}, static_cast<uint32_t>(p_.nodes.size()));
    if (fresh) p_.nodes.push_back({parent, frame});
    return it->second;
  }
  // `frames` from the outermost to the innermost.
  uint32_t Stack(const std::vector<uint32_t>& frames) {
    uint32_t node = 0;
    for (const uint32_t f : frames) node = Node(node, f);
    return node;
  }
  void Add(uint32_t node, uint32_t type, const Estimate& value, HeapKind kind = HeapKind::kSoh,
           uint32_t process = 0) {
    p_.cells.push_back({node, type, process, kind, value});
  }
  void AddProcess(uint32_t pid, std::string_view name, std::string_view command) {
    profile::Process process;
    process.pid = pid;
    process.name = p_.strings.Intern(name);
    process.command_line = p_.strings.Intern(command);
    process.runtime = p_.strings.Intern(".NET 10.0.12");
    process.os = p_.strings.Intern("Linux");
    process.arch = p_.strings.Intern("x64");
    process.end_ns = p_.duration_ns;
    process.complete = true;
    p_.processes.push_back(process);
  }
  Profile& profile() { return p_; }

 private:
  Profile p_;
  std::map<std::string, uint32_t> frames_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> types_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes_;
};

// A web shop under load: what a recording of a real service looks like.
void FillShop(Builder& b, Source source) {
  Profile& p = b.profile();
  p.source = source;
  p.start_unix_ns = 1'795'000'000'000'000'000;
  p.duration_ns = 60'000'000'000;
  p.origin = "orders.clrscope";
  b.AddProcess(4711, "orders", "dotnet /srv/orders/Acme.Orders.dll --urls http://+:8080");
  const uint8_t fw = profile::kFramework, plumbing = profile::kFramework | profile::kMachinery;
  const char* core = "System.Private.CoreLib";
  const char* asp = "Microsoft.AspNetCore.Server.Kestrel.Core";
  const char* json = "System.Text.Json";
  const std::vector<uint32_t> head = {
      b.Frame(core, "System.Threading.Thread.StartCallback", plumbing),
      b.Frame(core, "System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart", plumbing),
      b.Frame(core, "System.Threading.ThreadPoolWorkQueue.Dispatch", plumbing),
      b.Frame(asp,
              "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol.ProcessRequests<"
              "TContext> [async]",
              fw),
      b.Frame(core,
              "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<"
              "TStateMachine>.MoveNext",
              plumbing),
  };
  struct Leaf {
    std::vector<std::pair<const char*, const char*>> frames;
    const char* type;
    double size;
    uint64_t samples;
  };
  const char* orders = "Acme.Orders";
  const char* pricing = "Acme.Pricing";
  const char* data = "Acme.Data";
  const char* npgsql = "Npgsql";
  const std::vector<Leaf> leaves = {
      {{{orders, "Acme.Orders.Api.OrderController.Get [async]"},
        {orders, "Acme.Orders.OrderService.Load [async]"},
        {data, "Acme.Data.OrderRepository.Find [async]"},
        {npgsql, "Npgsql.NpgsqlCommand.ExecuteReader [async]"},
        {npgsql, "Npgsql.Internal.NpgsqlReadBuffer.AllocateOversize"}},
       "byte[]",
       131'072,
       900},
      {{{orders, "Acme.Orders.Api.OrderController.Get [async]"},
        {orders, "Acme.Orders.OrderService.Load [async]"},
        {data, "Acme.Data.OrderRepository.Find [async]"},
        {data, "Acme.Data.RowMapper<Acme.Orders.Order>.Map"}},
       "Acme.Orders.Order",
       120,
       640},
      {{{orders, "Acme.Orders.Api.OrderController.Get [async]"},
        {orders, "Acme.Orders.OrderService.Load [async]"},
        {data, "Acme.Data.OrderRepository.Find [async]"},
        {data, "Acme.Data.RowMapper<Acme.Orders.Order>.Map"}},
       "string",
       64,
       910},
      {{{orders, "Acme.Orders.Api.OrderController.Get [async]"},
        {json, "System.Text.Json.JsonSerializer.Serialize<TValue>"},
        {json, "System.Text.Json.Utf8JsonWriter.Grow"}},
       "byte[]",
       16'384,
       1210},
      {{{orders, "Acme.Orders.Api.OrderController.Get [async]"},
        {json, "System.Text.Json.JsonSerializer.Serialize<TValue>"},
        {json, "System.Text.Json.Serialization.Converters.ObjectDefaultConverter<T>.OnTryWrite"}},
       "System.Text.Json.WriteStackFrame[]",
       1'240,
       130},
      {{{orders, "Acme.Orders.Api.OrderController.Post [async]"},
        {pricing, "Acme.Pricing.PriceBook.Quote"},
        {pricing, "Acme.Pricing.PriceBook.Quote.λ0"}},
       "System.Collections.Generic.Dictionary<string, Acme.Pricing.Price>",
       80,
       320},
      {{{orders, "Acme.Orders.Api.OrderController.Post [async]"},
        {pricing, "Acme.Pricing.PriceBook.Quote"},
        {core, "System.Collections.Generic.Dictionary<TKey, TValue>.Resize"}},
       "System.Collections.Generic.Dictionary<string, Acme.Pricing.Price>.Entry[]",
       4'120,
       780},
      {{{orders, "Acme.Orders.Api.OrderController.Post [async]"},
        {pricing, "Acme.Pricing.PriceBook.Quote"},
        {pricing, "Acme.Pricing.Rounding.Round"}},
       "decimal",
       32,
       3},
      {{{orders, "Acme.Orders.Api.OrderController.Post [async]"},
        {orders, "Acme.Orders.Audit.Trail.Write"},
        {core, "System.String.Concat"}},
       "string",
       220,
       450},
      {{{orders, "Acme.Orders.Api.OrderController.Post [async]"},
        {orders, "Acme.Orders.Audit.Trail.Write"},
        {core, "System.Text.StringBuilder.ExpandByABlock"}},
       "char[]",
       8'024,
       310},
      {{{orders, "Acme.Orders.Cache.Refresher.Run"},
        {orders, "Acme.Orders.Cache.Refresher.Run"},
        {core, "System.Collections.Generic.List<T>.set_Capacity"}},
       "Acme.Orders.Order[]",
       1'048'600,
       48},
      {{{orders, "Acme.Orders.Cache.Refresher.Run"},
        {core, "System.Threading.CancellationTokenSource.Register"}},
       "System.Threading.CancellationTokenSource.CallbackNode",
       80,
       4},
      {{{asp,
         "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol."
         "InitializeBodyControl"}},
       "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Http1ContentLengthMessageBody",
       136,
       88},
      {{{core, "System.Threading.Tasks.Task.Delay"}},
       "System.Threading.Tasks.Task.DelayPromise",
       104,
       41},
  };
  for (const Leaf& leaf : leaves) {
    std::vector<uint32_t> stack = head;
    for (const auto& [module, method] : leaf.frames) {
      const bool framework = std::string_view(module).starts_with("System.") ||
                             std::string_view(module).starts_with("Microsoft.");
      stack.push_back(b.Frame(module, method, framework ? fw : uint8_t{0}));
    }
    const Estimate value =
        source == Source::kSampled
            ? profile::EstimateSampled(leaf.samples, leaf.size)
            : profile::EstimateTick(leaf.samples, static_cast<double>(leaf.samples) * 103'000,
                                    leaf.size);
    b.Add(b.Stack(stack), b.Type(leaf.type), value,
          leaf.size >= 85'000 ? HeapKind::kLoh : HeapKind::kSoh);
  }
  std::mt19937 random(7);
  for (int64_t s = 0; s < 60; ++s) {
    const auto n = 60 + random() % 40 + (s % 20 < 3 ? 150 : 0);
    p.times.push_back({s * 1'000'000'000, (s + 1) * 1'000'000'000, 0, HeapKind::kSoh,
                       profile::EstimateSampled(n, 16'384)});
    if (s % 3 != 0) continue;
    profile::GcRecord gc;
    gc.number = static_cast<uint32_t>(s / 3 + 1);
    gc.generation = s % 21 == 0 ? 2 : s % 9 == 0 ? 1 : 0;
    gc.start_ns = s * 1'000'000'000 + 400'000'000;
    gc.end_ns = gc.start_ns + 12'000'000 * (gc.generation + 1);
    p.gcs.push_back(gc);
  }
  p.losses.Add(Loss::kTruncatedStack, 12);
  p.losses.Add(Loss::kEventsDropped, 1'840);
}

// `stacks` distinct stacks of depth 8 to 40 over 6,000 methods, whose weights have a long tail.
void FillMany(Builder& b, uint32_t stacks) {
  Profile& p = b.profile();
  p.duration_ns = 600'000'000'000;
  b.AddProcess(99, "huge", "dotnet huge.dll");
  std::mt19937 random(42);
  std::vector<uint32_t> frames, types;
  for (int i = 0; i < 6'000; ++i) {
    const int module = i % 40;
    frames.push_back(
        b.Frame((module < 20 ? "System.Part" : "Contoso.Part") + std::to_string(module),
                "Contoso.Area" + std::to_string(i % 97) + ".Service" + std::to_string(i) +
                    "<TKey, TValue>.HandleMessage" + std::to_string(i),
                module < 20 ? uint8_t{profile::kFramework} : uint8_t{0}));
  }
  for (int i = 0; i < 3'000; ++i) {
    types.push_back(
        b.Type("Contoso.Model.Area" + std::to_string(i % 31) + ".Message" + std::to_string(i)));
  }
  std::vector<uint32_t> leaves;
  std::vector<int> depths;
  while (leaves.size() < stacks) {
    uint32_t node = 0;
    int depth = 0;
    // Most stacks share a prefix with an earlier one, as real ones do.
    if (!leaves.empty() && random() % 50 != 0) {
      const size_t pick = random() % leaves.size();
      node = leaves[pick];
      depth = depths[pick];
      for (auto up = 1 + random() % 6; up > 0 && node != 0; --up, --depth)
        node = p.nodes[node].parent;
    }
    const int wanted = 8 + static_cast<int>(random() % 32);
    do {
      node = b.Node(node, frames[random() % frames.size()]);
    } while (++depth < wanted && random() % 8 != 0);
    leaves.push_back(node);
    depths.push_back(depth);
    const double size = 24 + 8 * static_cast<double>(random() % 4'000);
    b.Add(node, types[random() % types.size()],
          profile::EstimateSampled(1 + random() % 3 + (random() % 200 == 0 ? 500 : 0), size));
  }
}

std::string Html(const Profile& p, const HtmlOptions& options = {}) {
  StringSink sink;
  const Status status = WriteHtml(p, options, sink);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return sink.text();
}

// What the page's script reads: base64, zlib, container.
std::string Unpack(const std::string& html) {
  const std::string open = "type=\"application/octet-stream\">";
  const size_t begin = html.find(open) + open.size();
  const std::string base64 = html.substr(begin, html.find("</script>", begin) - begin);
  std::string packed;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : base64) {
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) {
      ADD_FAILURE() << "not base64: " << c;
      return {};
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((have += 6) >= 8) packed += static_cast<char>(bits >> (have -= 8) & 0xFF);
  }
  std::string out(256 << 20, '\0');
  uLongf size = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  out.resize(size);
  return out;
}

nlohmann::json JsonOf(const std::string& container) {
  EXPECT_EQ(container.substr(0, 4), "CLRP");
  uint32_t length = 0;
  std::memcpy(&length, container.data() + 8, 4);
  return nlohmann::json::parse(container.substr(12, length));
}

// A column of the container, its planes joined again.
template <class T>
std::vector<T> ColumnOf(const std::string& container, std::string_view name) {
  uint32_t length = 0;
  std::memcpy(&length, container.data() + 8, 4);
  const std::map<std::string, size_t> widths = {{"u8", 1}, {"u32", 4}, {"f32", 4}, {"f64", 8}};
  size_t at = 12 + length;
  const nlohmann::json json = JsonOf(container);
  for (const auto& column : json["columns"]) {
    const size_t n = column["count"], width = widths.at(column["type"]);
    if (column["name"] == name) {
      std::vector<T> out(n);
      for (size_t i = 0; i < n; ++i) {
        char raw[sizeof(T)] = {};
        for (size_t b = 0; b < width; ++b) raw[b] = container[at + b * n + i];
        std::memcpy(&out[i], raw, sizeof(T));
      }
      return out;
    }
    at += n * width;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

double SumOfCells(const std::string& container, const std::string& field) {
  const auto values = ColumnOf<double>(container, "value_" + field);
  double sum = 0;
  for (const uint32_t row : ColumnOf<uint32_t>(container, "cell_value")) sum += values[row];
  return sum;
}

// A relative difference that only the order of additions explains.
void ExpectSameSum(double got, double wanted) { EXPECT_NEAR(got, wanted, 1e-11 * wanted); }

Estimate SumOf(const std::vector<Cell>& cells) {
  Estimate e;
  for (const Cell& c : cells) e += c.value;
  return e;
}

TEST(PrunePageTest, KeepsEverythingThatFits) {
  Builder b;
  FillShop(b, Source::kSampled);
  const PageTree page = PrunePage(b.profile(), 1'000);
  EXPECT_EQ(page.nodes.size(), b.profile().nodes.size());
  EXPECT_EQ(page.cells.size(), b.profile().cells.size());
  EXPECT_EQ(page.folded_nodes, 0u);
  EXPECT_EQ(SumOf(page.cells).samples, b.profile().Total().samples);
}

TEST(PrunePageTest, FoldsTheLightestAndKeepsTotals) {
  Builder b;
  FillMany(b, 5'000);
  const Profile& p = b.profile();
  for (const uint32_t most : {2u, 3u, 10u, 100u, 1'000u, 5'000u}) {
    const PageTree page = PrunePage(p, most);
    EXPECT_LE(page.nodes.size(), most);
    EXPECT_LE(page.cells.size(), size_t{most} * 3 + 3);
    const Estimate got = SumOf(page.cells), wanted = p.Total();
    EXPECT_EQ(got.samples, wanted.samples);
    ExpectSameSum(got.bytes, wanted.bytes);
    ExpectSameSum(got.objects, wanted.objects);
    ExpectSameSum(got.var_bytes, wanted.var_bytes);
    EXPECT_EQ(got.max_bytes, wanted.max_bytes);
    uint64_t folded = 0, kept = 0;
    for (size_t i = 1; i < page.nodes.size(); ++i) {
      EXPECT_LT(page.nodes[i].parent, i);
      folded += page.nodes[i].folded;
      kept += page.nodes[i].frame == kOtherFrame ? 0u : 1u;
    }
    EXPECT_EQ(folded, page.folded_nodes);
    EXPECT_EQ(kept + folded, p.nodes.size() - 1) << "every node is there or counted";
  }
}

TEST(PrunePageTest, KeepsTheHeaviestStack) {
  Builder b;
  FillMany(b, 2'000);
  const uint32_t hot = b.Frame("Contoso.Hot", "Contoso.Hot.Loop");
  b.Add(b.Stack({hot}), b.Type("Hot"), profile::EstimateSampled(1'000'000, 1'000));
  const PageTree page = PrunePage(b.profile(), 8);
  bool found = false;
  for (const PageNode& node : page.nodes) found |= node.frame == hot;
  EXPECT_TRUE(found);
}

TEST(PrunePageTest, FoldsTypesWhenOneStackHasTooMany) {
  Builder b;
  const uint32_t node = b.Stack({b.Frame("A", "A.Run")});
  for (int i = 0; i < 1'000; ++i) {
    b.Add(node, b.Type("T" + std::to_string(i)), profile::EstimateSampled(1, 24 + 8 * i));
  }
  const PageTree page = PrunePage(b.profile(), 10);
  EXPECT_EQ(page.cells.size(), 21u);
  EXPECT_EQ(page.folded_types, 980u);
  EXPECT_EQ(SumOf(page.cells).samples, 1'000u);
}

// Skipped in a build without the page (-DCLRSCOPE_WEB=off), where WriteHtml has to say so.
class WriteHtmlTest : public testing::Test {
 protected:
  void SetUp() override {
    StringSink sink;
    const Status status = WriteHtml(Profile{}, {}, sink);
    if (status.ok()) return;
    EXPECT_NE(status.error().message.find("built without its web page"), std::string::npos);
    EXPECT_EQ(sink.text(), "");
    GTEST_SKIP() << status.error().message;
  }
};

TEST_F(WriteHtmlTest, IsOneDocumentWithAStrictPolicyAndNoAddress) {
  Builder b;
  FillShop(b, Source::kSampled);
  const std::string html = Html(b.profile());
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(html.find("<title>orders (4711) - clrscope</title>"), std::string::npos);
  EXPECT_EQ(html.find("<!--clrscope:"), std::string::npos) << "a mark was not filled in";
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST_F(WriteHtmlTest, PageAddsUpToTheProfile) {
  Builder b;
  FillMany(b, 20'000);
  const Estimate total = b.profile().Total();
  HtmlOptions options;
  options.max_nodes = 4'000;
  const std::string data = Unpack(Html(b.profile(), options));
  ExpectSameSum(SumOfCells(data, "samples"), static_cast<double>(total.samples));
  ExpectSameSum(SumOfCells(data, "bytes"), total.bytes);
  ExpectSameSum(SumOfCells(data, "objects"), total.objects);
  const auto json = JsonOf(data);
  EXPECT_DOUBLE_EQ(json["total"]["bytes"], total.bytes);
  EXPECT_GT(json["foldedNodes"], 0);
  EXPECT_LE(ColumnOf<uint32_t>(data, "node_back").size(), 4'000u);
}

TEST_F(WriteHtmlTest, HostileNamesStayData) {
  Builder b;
  const std::string evil =
      "</script><script>alert(1)</script><!-- \xe2\x80\xa8 \x01 \xe2\x80\xae & \"";
  const std::string broken = "Broken\xff\xc3";
  b.AddProcess(1, evil, evil);
  b.Add(b.Stack({b.Frame(evil, evil), b.Frame(broken, broken)}), b.Type(evil),
        profile::EstimateSampled(9, 100));
  const std::string html = Html(b.profile());
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u) << "the data and the viewer";
  const auto strings = JsonOf(Unpack(html))["strings"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(strings.begin(), strings.end(), evil), strings.end()) << "names stay whole";
}

TEST_F(WriteHtmlTest, EmptyProfileIsAPage) {
  const Profile empty;
  const std::string data = Unpack(Html(empty));
  EXPECT_EQ(ColumnOf<uint32_t>(data, "cell_value").size(), 0u);
  EXPECT_EQ(ColumnOf<uint32_t>(data, "node_back").size(), 1u);
}

TEST_F(WriteHtmlTest, TypesOfOneNameMeetAcrossProcessesButNotWithinOne) {
  Builder b;
  b.AddProcess(1, "a", "");
  b.AddProcess(2, "b", "");
  const uint32_t node = b.Stack({b.Frame("A", "A.Run")});
  b.Add(node, b.Type("T", 0), profile::EstimateSampled(1, 24));
  b.Add(node, b.Type("T", 1), profile::EstimateSampled(1, 24), HeapKind::kSoh, 1);
  Profile& p = b.profile();
  p.types.push_back({p.types[0].name, p.types[0].raw, 77, 0});
  b.Add(node, static_cast<uint32_t>(p.types.size() - 1), profile::EstimateSampled(1, 24));
  const std::string data = Unpack(Html(p));
  EXPECT_EQ(ColumnOf<uint32_t>(data, "type_name").size(), 2u);
  EXPECT_EQ(ColumnOf<uint32_t>(data, "type_dup"), (std::vector<uint32_t>{0, 1}));
}

TEST_F(WriteHtmlTest, ManyStacksStaySmallAndQuick) {
  Builder b;
  FillMany(b, 100'000);
  const auto begin = std::chrono::steady_clock::now();
  const std::string html = Html(b.profile());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(html.size(), 10'000'000u);
  // Measured: under 1 s; the bound leaves room for sanitizers and busy machines.
  EXPECT_LT(took.count(), 30.0);
  RecordProperty("bytes", std::to_string(html.size()));
  std::printf("%zu nodes: %zu bytes of HTML in %.2f s\n", b.profile().nodes.size(), html.size(),
              took.count());
}

TEST_F(WriteHtmlTest, PrunesUntilThePageFits) {
  Builder b;
  FillMany(b, 50'000);
  HtmlOptions options;
  options.max_bytes = 600'000;
  const std::string html = Html(b.profile(), options);
  EXPECT_LE(html.size(), 600'000u);
  ExpectSameSum(SumOfCells(Unpack(html), "bytes"), b.profile().Total().bytes);
}

class FailingSink final : public ByteSink {
 public:
  Status Write(std::string_view) override { return Error{ErrorCode::kIo, "disk full"}; }
};

TEST_F(WriteHtmlTest, ReportsWhatTheSinkSays) {
  FailingSink sink;
  const Status status = WriteHtml(Profile{}, {}, sink);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "disk full");
}

// Pages for the browser test (web/test/report.browser.test.mjs) and for people to look at.
TEST_F(WriteHtmlTest, WritesPagesForTheBrowserTest) {
  const char* directory = std::getenv("CLRSCOPE_HTML_OUT");
  if (directory == nullptr) GTEST_SKIP() << "CLRSCOPE_HTML_OUT names no directory";
  const auto write = [&](const char* name, const Profile& p) {
    std::ofstream(std::string(directory) + "/" + name, std::ios::binary) << Html(p);
  };
  Builder shop, tick, many, hostile;
  FillShop(shop, Source::kSampled);
  write("shop.html", shop.profile());
  FillShop(tick, Source::kTick);
  tick.profile().objects_known = false;
  write("tick.html", tick.profile());
  FillMany(many, 100'000);
  write("many.html", many.profile());
  const std::string evil = "</script><img src=x onerror=alert(1)>\xe2\x80\xa8\xe2\x80\xae\x01";
  hostile.AddProcess(1, evil, evil);
  hostile.Add(hostile.Stack({hostile.Frame(evil, evil)}), hostile.Type(evil),
              profile::EstimateSampled(9, 100));
  write("hostile.html", hostile.profile());
  write("empty.html", Profile{});
}

}  // namespace
}  // namespace clrscope::exporter
