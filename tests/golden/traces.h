// SPDX-License-Identifier: Apache-2.0
// The recorded traces and TraceEvent's answers.
#pragma once

#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace clrscope::golden {

inline constexpr const char* kTraces[] = {
    "02-gccollect-csc",     "03b-allocsampled-tick-csc", "04c-sampledobj-low-names-csharpier",
    "06b-csharpier-server", "07a-servergc2-gcperfsim",   "08a-net8-gcperfsim",
    "08b-net9-gcperfsim",   "12b-norundown-csharpier",   "12c-killed-csharpier",
};

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
      "xz -dc '" + std::string(CLRSCOPE_GOLDEN_TRACES) + "/" + name + ".json.xz'";
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  if (::pclose(pipe) != 0) return {};
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace clrscope::golden
