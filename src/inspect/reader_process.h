// SPDX-License-Identifier: Apache-2.0
// Runs src/dac/ in a process of its own, and answers what it asks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dac/wire.h"
#include "inspect/reader_rights.h"

namespace clrscope::inspect {

// What the reader asks for.
struct ReaderAnswers {
  std::function<size_t(uint64_t address, std::span<std::byte> out)> read;
  std::function<std::vector<dac::ThreadRegisters>(const std::vector<dac::SnapshotThread>&)>
      snapshot;
  std::function<void(std::string_view json)> part;
};

// "" when the reader came to its end, else how it failed; parts that came before are good.
// `library`: a path, as we see it.
std::string RunReader(const std::string& library, uint64_t runtime_base, const ReaderRights& rights,
                      const ReaderAnswers& answers);

}  // namespace clrscope::inspect
