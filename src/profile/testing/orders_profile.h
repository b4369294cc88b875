// SPDX-License-Identifier: Apache-2.0
// A small profile with known sums, for the tests of views and reports.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/units.h"
#include "profile/profile.h"

namespace clrscope::profile::testing {

class OrdersBuilder {
 public:
  OrdersBuilder() {
    p.frames.emplace_back();  // the root's
    p.nodes.emplace_back();
  }
  uint32_t AddFrame(std::string_view module, std::string_view method, unsigned flags = 0) {
    Frame f;
    f.module = p.strings.Intern(module);
    f.method = p.strings.Intern(method);
    f.raw = p.strings.Intern(std::string(method) + "()");
    f.flags = static_cast<uint8_t>(flags);
    p.frames.push_back(f);
    return static_cast<uint32_t>(p.frames.size() - 1);
  }
  uint32_t AddType(std::string_view name, uint64_t id, uint32_t process = 0) {
    p.types.push_back({p.strings.Intern(name), p.strings.Intern(name), id, process});
    return static_cast<uint32_t>(p.types.size() - 1);
  }
  // `frames` from the root.
  uint32_t Stack(std::initializer_list<uint32_t> frames) {
    uint32_t at = 0;
    for (const uint32_t frame : frames) {
      uint32_t child = 0;
      for (uint32_t n = 1; n < p.nodes.size(); ++n)
        if (p.nodes[n].parent == at && p.nodes[n].frame == frame) child = n;
      if (child == 0) {
        child = static_cast<uint32_t>(p.nodes.size());
        p.nodes.push_back({at, frame});
      }
      at = child;
    }
    return at;
  }
  // `n` samples of objects of `size` bytes.
  void Add(uint32_t node, uint32_t type, uint64_t n, double size, HeapKind kind = HeapKind::kSoh,
           uint32_t process = 0) {
    p.shown().cells.push_back({node, type, process, kind, EstimateSampled(n, size)});
  }
  uint32_t AddProcess(uint32_t pid, std::string_view name) {
    Process process;
    process.pid = pid;
    process.name = p.strings.Intern(name);
    process.complete = true;
    p.processes.push_back(process);
    return static_cast<uint32_t>(p.processes.size() - 1);
  }

  Profile p;
};

// Main → Walk → Walk → Add (framework) → Grow (framework): 10 samples of Node[]
// Main → Walk → Add: 4 of Node[]; [pool] → Load (async machinery above Read): 2 of byte[] on the
// LOH [no stack]: 1 of byte[]. Two runtime types are called "Node[]".
inline Profile OrdersProfile() {
  OrdersBuilder b;
  b.AddProcess(42, "orders");
  const uint32_t main = b.AddFrame("Orders", "Orders.Program.Main");
  const uint32_t walk = b.AddFrame("Orders", "Orders.Tree.Walk");
  const uint32_t add =
      b.AddFrame("System.Private.CoreLib", "System.Collections.Generic.List<T>.Add", kFramework);
  const uint32_t grow =
      b.AddFrame("System.Private.CoreLib", "System.Collections.Generic.List<T>.Grow", kFramework);
  const uint32_t pool = b.AddFrame("System.Private.CoreLib", "System.Threading.ThreadPool.Dispatch",
                                   kFramework | kMachinery);
  const uint32_t read = b.AddFrame("System.Private.CoreLib", "System.IO.File.Read", kFramework);
  const uint32_t none = b.AddFrame("", "[no stack]", kPseudo);
  const uint32_t nodes = b.AddType("Orders.Node[]", 0x7f01);
  const uint32_t other_nodes = b.AddType("Orders.Node[]", 0x7f02);
  const uint32_t bytes = b.AddType("byte[]", 0x7f03);
  b.Add(b.Stack({main, walk, walk, add, grow}), nodes, 10, 1000);
  b.Add(b.Stack({main, walk, add}), other_nodes, 4, 1000);
  b.Add(b.Stack({pool, read, pool}), bytes, 2, 200000, HeapKind::kLoh);
  b.Add(b.Stack({none}), bytes, 1, 1000);
  b.p.duration_ns = 20 * kSecond;
  b.p.shown().times = {{0, kSecond, 0, HeapKind::kSoh, EstimateSampled(10, 1000)},
                       {12 * kSecond, 13 * kSecond, 0, HeapKind::kSoh, EstimateSampled(5, 1000)},
                       {19 * kSecond, 20 * kSecond, 0, HeapKind::kLoh, EstimateSampled(2, 200000)}};
  b.p.shown().threads = {{0, 7, HeapKind::kSoh, EstimateSampled(15, 1000)},
                         {0, 7, HeapKind::kLoh, EstimateSampled(1, 200000)},
                         {0, 8, HeapKind::kLoh, EstimateSampled(1, 200000)}};
  return std::move(b.p);
}

}  // namespace clrscope::profile::testing
