// SPDX-License-Identifier: Apache-2.0
#include "report/text/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/text/cells.h"
#include "report/text/humanize.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using analysis::GcMemory;
using analysis::MemoryGrowth;
using profile::MemoryReading;

std::string Amount(int64_t bytes) { return Unbroken(HumanBytes(static_cast<double>(bytes))); }
std::string Change(int64_t bytes) {
  return Unbroken((bytes < 0 ? "-" : "+") + HumanBytes(static_cast<double>(std::abs(bytes))));
}
std::string At(int64_t ns) { return ClockText(static_cast<double>(ns) / 1e9); }

struct Part {
  std::string_view name, where;
  int64_t grown = 0;
};

// The parts of RSS and swap that the kernel tells, the largest growth first.
// `of_gc`: of the private part, what is left out.
std::vector<Part> PartsOf(const MemoryReading& a, const MemoryReading& b, int64_t of_gc = 0) {
  std::vector<Part> parts;
  const auto add = [&](std::string_view name, std::string_view where, int64_t from, int64_t to) {
    if (from >= 0 && to >= 0) parts.push_back({name, where, to - from});
  };
  add("private",
      "in private memory: malloc of native libraries, NativeMemory.Alloc, Marshal.AllocHGlobal, "
      "stacks of threads, code that was compiled",
      a.private_bytes < 0 ? -1 : a.private_bytes + std::max<int64_t>(a.swap_bytes, 0),
      b.private_bytes < 0 ? -1 : b.private_bytes + std::max<int64_t>(b.swap_bytes, 0));
  if (!parts.empty()) parts.front().grown -= of_gc;
  add("mapped files", "in mapped files: memory-mapped files, assemblies, native libraries",
      a.file_bytes, b.file_bytes);
  add("shared", "in shared memory: shared mappings, tmpfs, memfd", a.shared_bytes, b.shared_bytes);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& x, const Part& y) { return x.grown > y.grown; });
  return parts;
}

std::string Figures(const MemoryGrowth& m) {
  const bool swapped = m.from.swap_bytes > 0 || m.to.swap_bytes > 0;
  std::string text = fmt::format("{} {} at {}, {} at {}: {}", swapped ? "RSS and swap" : "RSS",
                                 Amount(m.from.total()), At(m.from.at_ns), Amount(m.to.total()),
                                 At(m.to.at_ns), Change(m.grown()));
  std::string parts;
  for (const Part& part : PartsOf(m.from, m.to))
    if (part.grown != 0)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.name, Change(part.grown));
  if (!parts.empty()) text += " (" + parts + ")";
  if (m.from.threads != m.to.threads && m.from.threads >= 0 && m.to.threads >= 0)
    text += fmt::format("; {} threads, then {}", m.from.threads, m.to.threads);
  const GcMemory &a = m.gc_from, &b = m.gc_to;
  if (!b.known()) return text + "; GC heap not known, as no collection told what is committed";
  if (!a.known() || a.at_ns == b.at_ns)
    return text + fmt::format("; GC heap {} committed at {}, at the last collection",
                              Amount(b.committed_bytes), At(b.at_ns));
  return text + fmt::format("; GC heap {} committed at {}, {} at {}: {}", Amount(a.committed_bytes),
                            At(a.at_ns), Amount(b.committed_bytes), At(b.at_ns),
                            Change(b.committed_bytes - a.committed_bytes));
}

std::string WhereToLook(const MemoryGrowth& m, uint32_t pid) {
  if (m.mostly_outside()) {
    const std::vector<Part> parts = PartsOf(m.from, m.to, *m.gc_at_most);
    return fmt::format(
        "Most of the growth is outside of the GC's heap, which took at most {} of it: look for it "
        "{}. `pmap {}` lists the mappings while it runs.",
        Amount(*m.gc_at_most),
        parts.empty() ? "in native memory, mapped files and shared memory" : parts[0].where, pid);
  }
  if (m.mostly_free())
    return fmt::format(
        "Most of the growth is in the GC's heap, and what lives there grew by {} by samples: the "
        "rest is free space in it (fragmentation, pinned objects, memory that the GC keeps) and "
        "garbage. `clrscope gcstats` has each collection.",
        Change(*m.live_bytes));
  return {};
}

Json Known(int64_t v) { return v < 0 ? Json() : Json(v); }
double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

Json ReadingJson(const MemoryReading& r) {
  return {{"at_s", Seconds(r.at_ns)},          {"rss_bytes", Known(r.rss_bytes)},
          {"swap_bytes", Known(r.swap_bytes)}, {"private_bytes", Known(r.private_bytes)},
          {"file_bytes", Known(r.file_bytes)}, {"shared_bytes", Known(r.shared_bytes)},
          {"threads", Known(r.threads)}};
}

Json GcMemoryJson(const GcMemory& gc) {
  if (!gc.known()) return {};
  return {{"at_s", Seconds(gc.at_ns)},
          {"committed_bytes", gc.committed_bytes},
          {"free_bytes", gc.free_bytes}};
}

}  // namespace

std::string MemoryText(const MemoryGrowth& growth, const std::string& who, uint32_t pid,
                       size_t width) {
  std::string text = Wrap(fmt::format("{}: {}", who, Figures(growth)), 0, 2, width);
  if (const std::string where = WhereToLook(growth, pid); !where.empty())
    text += "  " + Wrap(where, 2, 2, width);
  return text;
}

Json MemoryJson(const MemoryGrowth& m) {
  return {{"from", ReadingJson(m.from)},
          {"to", ReadingJson(m.to)},
          {"gc_from", GcMemoryJson(m.gc_from)},
          {"gc_to", GcMemoryJson(m.gc_to)},
          {"grown_bytes", m.grown()},
          {"gc_at_most_bytes", m.gc_at_most ? Json(*m.gc_at_most) : Json()},
          {"live_grown_bytes", m.live_bytes ? Json(*m.live_bytes) : Json()},
          {"mostly_outside_gc", m.gc_at_most ? Json(m.mostly_outside()) : Json()}};
}

}  // namespace clrscope::report
