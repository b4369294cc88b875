// SPDX-License-Identifier: Apache-2.0
// The recorded traces and TraceEvent's answers.
#pragma once

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/testing/source_dir.h"

namespace clrscope::golden {

// A trace, and which events of allocations are in it: a test is made for those traces alone of
// which it has something to compare. GoldenTest.HoldsWhatTheListSays shows that the list is right.
// All hold collections.
struct Trace {
  const char* name;
  bool ticks = false, sampled = false, counted = false;
  bool cut = false;  // TraceEvent threw at its end
};
inline constexpr Trace kTraces[] = {
    {.name = "02-gccollect-csc"},
    {.name = "03b-allocsampled-tick-csc", .sampled = true},
    {.name = "04c-sampledobj-low-names-csharpier", .ticks = true, .counted = true},
    {.name = "06b-csharpier-server", .sampled = true},
    {.name = "07a-servergc2-gcperfsim", .ticks = true},
    {.name = "08a-net8-gcperfsim", .ticks = true},
    {.name = "08b-net9-gcperfsim", .ticks = true},
    {.name = "12b-norundown-csharpier", .ticks = true},
    {.name = "12c-killed-csharpier", .ticks = true, .cut = true},
};

template <class Keep>
std::vector<Trace> TracesWhere(Keep keep) {
  std::vector<Trace> out;
  std::copy_if(std::begin(kTraces), std::end(kTraces), std::back_inserter(out), keep);
  return out;
}

inline std::string TestName(const ::testing::TestParamInfo<Trace>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
// For messages.
inline void PrintTo(const Trace& trace, std::ostream* out) { *out << trace.name; }

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string Unzstd(const std::string& packed) {
  std::string out;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> ctx(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  while (in.pos < in.size) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(ctx.get(), &to, &in))) return {};
    out.append(piece, 0, to.pos);
  }
  return out;
}

inline nlohmann::json ReadOracle(const std::string& name) {
  const std::string command =
      "xz -dc '" + SourceDir() + "/tests/golden/traces/" + name + ".json.xz'";
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  if (::pclose(pipe) != 0) return {};
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace clrscope::golden
