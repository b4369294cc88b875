// SPDX-License-Identifier: Apache-2.0
// Any bytes as a capture file: opening, every slice, and binding must end with figures or an error.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/families/gc/gc_report.h"
#include "store/capture_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace clrscope;
  // SQLite opens by name, and follows links: not a memfd's /proc name.
  static const std::string path = "/dev/shm/clrscope_capture_fuzz." + std::to_string(::getpid());
  static const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static const int at_exit = std::atexit([] { ::unlink(path.c_str()); });
  if (file < 0 || at_exit != 0 || ::ftruncate(file, 0) != 0) std::abort();
  if (::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  auto reader = store::CaptureReader::Open(path);
  if (!reader.ok()) return 0;
  analysis::Aggregate aggregate(&(*reader)->recording());
  const Status status =
      (*reader)->ForEachSlice({}, [&](const profile::Slice& slice) { aggregate.Add(slice); });
  (void)status;  // what was read until then must still bind
  const Status intervals = (*reader)->ForEachInterval(
      {}, [&](const profile::AgentInterval& interval) { aggregate.Add(interval); });
  (void)intervals;
  const profile::Profile p = analysis::Bind((*reader)->recording(), aggregate);
  (void)analysis::GcReportOf(p);
  volatile double keep = p.Total().amount;
  (void)keep;
  return 0;
}
