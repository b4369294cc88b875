// SPDX-License-Identifier: Apache-2.0
// Profiles for the tests of pages: a web shop, and one that is far too large for a page.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace clrscope::exporter::testing {

using profile::Estimate;
using profile::HeapKind;
using profile::Profile;
using profile::Source;

// A relative difference that only the order of additions explains.
inline void ExpectSameSum(double got, double wanted) { EXPECT_NEAR(got, wanted, 1e-11 * wanted); }

// Builds profiles stack by stack.
class PageBuilder {
 public:
  PageBuilder() { p_.nodes.push_back({}); }

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
    p_.shown().cells.push_back({node, type, process, kind, value});
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

// A stack of the shop's, below ShopHead(), and what it allocates.
struct ShopFrame {
  const char* module = nullptr;
  const char* method = nullptr;
};
struct ShopLeaf {
  ShopFrame frames[5];  // from the outermost; those without a module are none
  const char* type;
  double size;
  uint64_t samples;
};

inline constexpr const char *kCoreLib = "System.Private.CoreLib", *kJson = "System.Text.Json",
                            *kKestrel = "Microsoft.AspNetCore.Server.Kestrel.Core",
                            *kOrders = "Acme.Orders", *kPricing = "Acme.Pricing",
                            *kData = "Acme.Data", *kNpgsql = "Npgsql";

inline constexpr ShopLeaf kShopLeaves[] = {
    {{{kOrders, "Acme.Orders.Api.OrderController.Get [async]"},
      {kOrders, "Acme.Orders.OrderService.Load [async]"},
      {kData, "Acme.Data.OrderRepository.Find [async]"},
      {kNpgsql, "Npgsql.NpgsqlCommand.ExecuteReader [async]"},
      {kNpgsql, "Npgsql.Internal.NpgsqlReadBuffer.AllocateOversize"}},
     "byte[]",
     131'072,
     900},
    {{{kOrders, "Acme.Orders.Api.OrderController.Get [async]"},
      {kOrders, "Acme.Orders.OrderService.Load [async]"},
      {kData, "Acme.Data.OrderRepository.Find [async]"},
      {kData, "Acme.Data.RowMapper<Acme.Orders.Order>.Map"}},
     "Acme.Orders.Order",
     120,
     640},
    {{{kOrders, "Acme.Orders.Api.OrderController.Get [async]"},
      {kOrders, "Acme.Orders.OrderService.Load [async]"},
      {kData, "Acme.Data.OrderRepository.Find [async]"},
      {kData, "Acme.Data.RowMapper<Acme.Orders.Order>.Map"}},
     "string",
     64,
     910},
    {{{kOrders, "Acme.Orders.Api.OrderController.Get [async]"},
      {kJson, "System.Text.Json.JsonSerializer.Serialize<TValue>"},
      {kJson, "System.Text.Json.Utf8JsonWriter.Grow"}},
     "byte[]",
     16'384,
     1210},
    {{{kOrders, "Acme.Orders.Api.OrderController.Get [async]"},
      {kJson, "System.Text.Json.JsonSerializer.Serialize<TValue>"},
      {kJson, "System.Text.Json.Serialization.Converters.ObjectDefaultConverter<T>.OnTryWrite"}},
     "System.Text.Json.WriteStackFrame[]",
     1'240,
     130},
    {{{kOrders, "Acme.Orders.Api.OrderController.Post [async]"},
      {kPricing, "Acme.Pricing.PriceBook.Quote"},
      {kPricing, "Acme.Pricing.PriceBook.Quote.λ0"}},
     "System.Collections.Generic.Dictionary<string, Acme.Pricing.Price>",
     80,
     320},
    {{{kOrders, "Acme.Orders.Api.OrderController.Post [async]"},
      {kPricing, "Acme.Pricing.PriceBook.Quote"},
      {kCoreLib, "System.Collections.Generic.Dictionary<TKey, TValue>.Resize"}},
     "System.Collections.Generic.Dictionary<string, Acme.Pricing.Price>.Entry[]",
     4'120,
     780},
    {{{kOrders, "Acme.Orders.Api.OrderController.Post [async]"},
      {kPricing, "Acme.Pricing.PriceBook.Quote"},
      {kPricing, "Acme.Pricing.Rounding.Round"}},
     "decimal",
     32,
     3},
    {{{kOrders, "Acme.Orders.Api.OrderController.Post [async]"},
      {kOrders, "Acme.Orders.Audit.Trail.Write"},
      {kCoreLib, "System.String.Concat"}},
     "string",
     220,
     450},
    {{{kOrders, "Acme.Orders.Api.OrderController.Post [async]"},
      {kOrders, "Acme.Orders.Audit.Trail.Write"},
      {kCoreLib, "System.Text.StringBuilder.ExpandByABlock"}},
     "char[]",
     8'024,
     310},
    {{{kOrders, "Acme.Orders.Cache.Refresher.Run"},
      {kOrders, "Acme.Orders.Cache.Refresher.Run"},
      {kCoreLib, "System.Collections.Generic.List<T>.set_Capacity"}},
     "Acme.Orders.Order[]",
     1'048'600,
     48},
    {{{kOrders, "Acme.Orders.Cache.Refresher.Run"},
      {kCoreLib, "System.Threading.CancellationTokenSource.Register"}},
     "System.Threading.CancellationTokenSource.CallbackNode",
     80,
     4},
    {{{kKestrel,
       "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol."
       "InitializeBodyControl"}},
     "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.Http1ContentLengthMessageBody",
     136,
     88},
    {{{kCoreLib, "System.Threading.Tasks.Task.Delay"}},
     "System.Threading.Tasks.Task.DelayPromise",
     104,
     41},
};

// What every request's stack begins with.
inline std::vector<uint32_t> ShopHead(PageBuilder& b) {
  const uint8_t fw = profile::kFramework, plumbing = profile::kFramework | profile::kMachinery;
  return {
      b.Frame(kCoreLib, "System.Threading.Thread.StartCallback", plumbing),
      b.Frame(kCoreLib, "System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart",
              plumbing),
      b.Frame(kCoreLib, "System.Threading.ThreadPoolWorkQueue.Dispatch", plumbing),
      b.Frame(kKestrel,
              "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol.ProcessRequests<"
              "TContext> [async]",
              fw),
      b.Frame(kCoreLib,
              "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<"
              "TStateMachine>.MoveNext",
              plumbing),
  };
}

inline void AddShopStacks(PageBuilder& b, Source source) {
  const std::vector<uint32_t> head = ShopHead(b);
  for (const ShopLeaf& leaf : kShopLeaves) {
    std::vector<uint32_t> stack = head;
    for (const auto& [module, method] : leaf.frames) {
      if (module == nullptr) break;
      const bool framework = std::string_view(module).starts_with("System.") ||
                             std::string_view(module).starts_with("Microsoft.");
      stack.push_back(
          b.Frame(module, method, framework ? uint8_t{profile::kFramework} : uint8_t{0}));
    }
    const Estimate value =
        source == Source::kSampled
            ? profile::EstimateSampled(leaf.samples, leaf.size)
            : profile::EstimateTick(leaf.samples, static_cast<double>(leaf.samples) * 103'000,
                                    leaf.size);
    b.Add(b.Stack(stack), b.Type(leaf.type), value,
          leaf.size >= 85'000 ? HeapKind::kLoh : HeapKind::kSoh);
  }
}

// A minute of it, with a rush every 20 seconds and a GC every 3.
inline void AddShopSeconds(Profile& p) {
  std::mt19937 random(7);
  for (int64_t s = 0; s < 60; ++s) {
    const auto n = 60 + random() % 40 + (s % 20 < 3 ? 150 : 0);
    p.shown().times.push_back({s * 1'000'000'000, (s + 1) * 1'000'000'000, 0, HeapKind::kSoh,
                               profile::EstimateSampled(n, 16'384)});
    if (s % 3 != 0) continue;
    profile::GcRecord gc;
    gc.number = static_cast<uint32_t>(s / 3 + 1);
    gc.generation = s % 21 == 0 ? 2 : s % 9 == 0 ? 1 : 0;
    gc.start_ns = s * 1'000'000'000 + 400'000'000;
    gc.end_ns = gc.start_ns + 12'000'000 * (gc.generation + 1);
    p.gcs.push_back(gc);
  }
}

// A web shop under load: what a recording of a real service looks like.
inline void FillShop(PageBuilder& b, Source source) {
  Profile& p = b.profile();
  p.shown().source = source;
  p.start_unix_ns = 1'795'000'000'000'000'000;
  p.duration_ns = 60'000'000'000;
  p.origin = "orders.clrscope";
  b.AddProcess(4711, "orders", "dotnet /srv/orders/Acme.Orders.dll --urls http://+:8080");
  AddShopStacks(b, source);
  AddShopSeconds(p);
  p.losses.Add(Loss::kTruncatedStack, 12);
  p.losses.Add(Loss::kEventsDropped, 1'840);
}

// `stacks` distinct stacks of depth 8 to 40 over 6,000 methods, whose weights have a long tail.
inline void FillMany(PageBuilder& b, uint32_t stacks) {
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

}  // namespace clrscope::exporter::testing
