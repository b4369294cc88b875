// SPDX-License-Identifier: Apache-2.0
// Files, processes and slices for the tests of captures.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"

namespace clrscope::store::testing {

using profile::HeapKind;
using profile::SeriesKey;
using profile::Slice;
using profile::Source;

class TempFile {
 public:
  TempFile() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("clrscope_store_test." + std::to_string(::getpid()) + "." + std::to_string(number++));
    Remove();
  }
  ~TempFile() { Remove(); }
  std::string str() const { return path_.string(); }

 private:
  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(path_.string() + suffix);
  }
  std::filesystem::path path_;
};

// A process with some stacks, types, methods and series; the same for the same seed.
inline std::unique_ptr<profile::ProcessTables> MakeProcess(StringPool& strings, uint32_t seed,
                                                           size_t series) {
  std::mt19937 random(seed);
  auto t = std::make_unique<profile::ProcessTables>();
  t->info.pid = 100 + seed;
  t->info.name = strings.Intern("app" + std::to_string(seed));
  t->types.push_back({0x7000, strings.Intern("System.String")});
  t->types.push_back({0x7008, {}});
  t->code.AddModule({5, strings.Intern("/app/App.dll"), {}, strings.Intern("00ff")});
  for (uint64_t i = 0; i < 10; ++i) {
    profile::MethodCode m;
    m.start = 0x1000 + i * 0x100;
    m.size = 0x100;
    m.method_id = i;
    m.module_id = 5;
    m.owner = strings.Intern("App.Type");
    m.name = strings.Intern("M" + std::to_string(i));
    m.signature = strings.Intern("void  ()");
    t->code.Add(m);
  }
  bool capped = false;
  for (size_t i = 0; i < series; ++i) {
    std::vector<uint64_t> ips(1 + random() % 8);
    for (uint64_t& ip : ips) ip = 0x1000 + random() % 0xA00;
    const uint32_t node =
        t->stacks.Fold(reinterpret_cast<const std::byte*>(ips.data()),
                       static_cast<uint32_t>(ips.size()), 8, 1, static_cast<int64_t>(i));
    const uint64_t size = 8 * (1 + random() % 20000);
    (void)t->series.Find(
        SeriesKey::Make(node, static_cast<uint32_t>(random() % 3),
                        static_cast<HeapKind>(random() % 4), static_cast<Source>(1 + random() % 3),
                        profile::SizeClass(size)),
        size, profile::StackTree::kOther, &capped);
  }
  return t;
}

inline Slice RandomSlice(std::mt19937& random, const profile::ProcessTables& t, int64_t start,
                         int64_t end, bool wild = false) {
  Slice s;
  s.start_ns = start;
  s.end_ns = end;
  for (uint32_t i = 0; i < t.series.keys().size(); ++i) {
    if (random() % 3 != 0) continue;
    profile::Sums sums{1 + random() % 50, random() % 100000, random() % 1000000};
    if (wild && random() % 2 == 0)
      sums = {1 + (uint64_t{random()} << 31), uint64_t{random()} << 32 | random(),
              ~uint64_t{0} - random()};
    s.rows.push_back({i, sums});
  }
  s.thread_ids = {3, 70'000, uint64_t{1} << 63};
  for (const profile::SliceRow& row : s.rows) {
    if (!profile::KeepsThreads(t.series.keys()[row.series].source()) || random() % 4 == 0) continue;
    if (row.sums.samples < 2 || random() % 2 == 0) {
      s.parts.push_back({row.series, static_cast<uint32_t>(random() % 3), row.sums});
      continue;
    }
    // Of some a part is not known.
    const uint64_t most = row.sums.samples - 1;
    const profile::Sums one{1 + random() % most, random(), random()};
    s.parts.push_back({row.series, 0, one});
    if (random() % 3 == 0) continue;
    s.parts.push_back({row.series,
                       2,
                       {row.sums.samples - one.samples, row.sums.amount - one.amount,
                        row.sums.stands_for - one.stands_for}});
  }
  for (uint64_t thread = 1; thread < 6; ++thread) {
    if (random() % 2 == 0) continue;
    for (const Source source : {Source::kTick, Source::kSampled, Source::kCounted}) {
      profile::Estimate e = profile::EstimateSampled(1 + random() % 9, 24);
      if (source != Source::kSampled)
        e = profile::EstimateTick(2, static_cast<double>(random()), wild ? 0.3 : 8);
      s.threads.push_back({wild ? thread << 60 : thread, HeapKind::kLoh, source, e});
    }
  }
  return s;
}

// What the slices of a capture add up to, by process and series.
using Totals = std::map<std::pair<uint32_t, uint32_t>, std::array<uint64_t, 3>>;
inline void AddTo(Totals& totals, const Slice& s) {
  for (const profile::SliceRow& r : s.rows) {
    auto& t = totals[{s.process, r.series}];
    t[0] += r.sums.samples;
    t[1] += r.sums.amount;
    t[2] += r.sums.stands_for;
  }
}

}  // namespace clrscope::store::testing
