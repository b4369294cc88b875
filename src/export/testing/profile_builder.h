// SPDX-License-Identifier: Apache-2.0
// Small profiles for the tests of exporters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/profile.h"

namespace clrscope::exporter::testing {

class ProfileBuilder {
 public:
  ProfileBuilder() {
    p_.nodes.emplace_back();
    p_.start_unix_ns = 1'700'000'000'000'000'000;
    p_.duration_ns = 30'000'000'000;
  }

  uint32_t Process(uint32_t pid, std::string_view name, std::string_view command_line = "") {
    profile::Process process;
    process.pid = pid;
    process.name = p_.strings.Intern(name);
    process.command_line = p_.strings.Intern(command_line);
    process.runtime = p_.strings.Intern(".NET 10.0.12");
    process.os = p_.strings.Intern("linux");
    process.arch = p_.strings.Intern("x64");
    process.main_module = p_.strings.Intern(name);
    process.complete = true;
    p_.processes.push_back(process);
    return static_cast<uint32_t>(p_.processes.size() - 1);
  }
  void Module(std::string_view name, std::string_view path, std::string_view mvid) {
    p_.modules.push_back({p_.strings.Intern(name), p_.strings.Intern(path), p_.strings.Intern(mvid),
                          /*framework=*/false});
  }
  uint32_t Frame(std::string_view module_name, std::string_view method, std::string_view raw,
                 uint32_t token = 0, unsigned flags = 0) {
    p_.frames.push_back({p_.strings.Intern(module_name), p_.strings.Intern(method),
                         p_.strings.Intern(raw), token, static_cast<uint8_t>(flags)});
    return static_cast<uint32_t>(p_.frames.size() - 1);
  }
  uint32_t Type(std::string_view name, std::string_view raw) {
    p_.types.push_back({p_.strings.Intern(name), p_.strings.Intern(raw), p_.types.size() + 1, 0});
    return static_cast<uint32_t>(p_.types.size() - 1);
  }
  // `frames` from the root; returns the node of the last.
  uint32_t Stack(std::initializer_list<uint32_t> frames) {
    uint32_t node = 0;
    for (const uint32_t frame : frames) {
      const auto next = static_cast<uint32_t>(p_.nodes.size());
      const auto [it, added] = children_.try_emplace({node, frame}, next);
      if (added) p_.nodes.push_back({node, frame});
      node = it->second;
    }
    return node;
  }
  void Cell(uint32_t node, uint32_t type, double bytes, double objects, uint64_t samples = 1,
            profile::HeapKind kind = profile::HeapKind::kSoh, uint32_t process = 0) {
    profile::Estimate e;
    e.samples = samples;
    e.amount = bytes;
    e.count = objects;
    e.seen_amount = bytes / 2;
    e.seen_count = objects / 2;
    e.var_amount = bytes * bytes / static_cast<double>(4 * samples);
    e.var_count = objects * objects / static_cast<double>(4 * samples);
    e.max_amount = bytes / static_cast<double>(samples);
    e.max_count = objects / static_cast<double>(samples);
    p_.shown().cells.push_back({node, type, process, kind, e});
  }
  profile::Profile& profile() { return p_; }
  profile::Profile Build() { return std::move(p_); }

 private:
  profile::Profile p_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
};

// One process with everything that is hard for a viewer: generics, nested types, a lambda, an
// async method below machinery, the three heaps. Totals: 1000000.6 bytes, 5003.2 objects.
inline profile::Profile ShopProfile() {
  ProfileBuilder b;
  b.Process(1234, "Acme.Shop", "dotnet Acme.Shop.dll --port 5000");
  b.Module("Acme.Shop", "/srv/shop/Acme.Shop.dll", "0123456789abcdef0123456789abcdef");
  b.Module("System.Private.CoreLib", "/srv/dotnet/System.Private.CoreLib.dll",
           "fedcba9876543210fedcba9876543210");
  constexpr std::string_view kCore = "System.Private.CoreLib", kShop = "Acme.Shop";
  const uint32_t start =
      b.Frame(kCore, "System.Threading.Tasks.Task.Start", "System.Threading.Tasks.Task.Start()",
              0x06000010, profile::kFramework | profile::kMachinery);
  const uint32_t main_method = b.Frame(kShop, "Acme.Shop.Program.Main",
                                       "Acme.Shop.Program.Main(class System.String[])", 0x06000001);
  const uint32_t load = b.Frame(kShop, "Acme.Shop.Repo<System.String>.Load",
                                "Acme.Shop.Repo`1[System.__Canon].Load(int32)", 0x06000002);
  const uint32_t nested =
      b.Frame(kShop, "Acme.Shop.Outer.Inner<int, string>.Make<T>",
              "Acme.Shop.Outer+Inner`2[System.Int32,System.__Canon].Make()", 0x06000003);
  const uint32_t lambda = b.Frame(kShop, "Acme.Shop.Program.Main.λ0",
                                  "Acme.Shop.Program+<>c.<Main>b__0_0(int32)", 0x06000004);
  const uint32_t async = b.Frame(kShop, "Acme.Shop.Cart.AddAsync [async]",
                                 "Acme.Shop.Cart+<AddAsync>d__3.MoveNext()", 0x06000005);
  const uint32_t add = b.Frame(kCore, "System.Collections.Generic.List<string>.Add",
                               "System.Collections.Generic.List`1[System.__Canon].Add(!0)",
                               0x06000011, profile::kFramework);
  const uint32_t unknown = b.Frame("", "[unresolved]", "", 0, profile::kUnresolved);
  const uint32_t bytes = b.Type("byte[]", "System.Byte[]");
  const uint32_t text = b.Type("string", "System.String");
  const uint32_t map =
      b.Type("System.Collections.Generic.Dictionary<string, int>",
             "System.Collections.Generic.Dictionary`2[System.String,System.Int32]");
  b.Cell(b.Stack({start, main_method, load}), bytes, 400000.2, 400.4, 40);
  b.Cell(b.Stack({main_method, load}), bytes, 100000.1, 100.1, 10);  // equal without machinery
  b.Cell(b.Stack({main_method, load}), bytes, 200000.1, 2.1, 2, profile::HeapKind::kLoh);
  b.Cell(b.Stack({main_method, nested}), map, 100000.1, 1000.3, 10);
  b.Cell(b.Stack({main_method, lambda, add}), text, 100000.0, 2000.2, 10);
  b.Cell(b.Stack({start, async, start, add}), text, 80000.1, 1500.1, 8);
  b.Cell(b.Stack({unknown}), bytes, 20000.0, 0.0, 2, profile::HeapKind::kPoh);
  b.profile().losses.Add(Loss::kEventsDropped, 17);
  return b.Build();
}

}  // namespace clrscope::exporter::testing
