// SPDX-License-Identifier: Apache-2.0
// Fuzz target over every parser of what a runtime may answer. The first byte picks the parser.
#include <cstddef>
#include <cstdint>

#include "base/byte_reader.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_text.h"
#include "ipc/protocol/message.h"
#include "ipc/protocol/reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace ipc = clrscope::ipc;
  if (size == 0) return 0;
  const clrscope::Bytes bytes = clrscope::AsBytes(data + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 12) {
    case 0:
      (void)ipc::ParseHeader(bytes);
      break;
    case 1:
    case 2:
    case 3:
      (void)ipc::ParseProcessInfo(data[0] % 12, bytes);
      break;
    case 4:
      (void)ipc::ParseEnvironmentSize(bytes);
      (void)ipc::ParseEnvironment(bytes);
      break;
    case 5:
      (void)ipc::ParseSessionId(bytes);
      break;
    case 6:
      (void)ipc::ParseRefusal(bytes);
      (void)ipc::ParseOutcome(bytes);
      break;
    case 7:
      (void)ipc::ParseAdvertise(bytes);
      break;
    case 8:
      (void)ipc::ParseProcStat(text);
      (void)ipc::ParseProcStatus(text);
      break;
    case 9:
      (void)ipc::FindMapping(text, "libcoreclr.so");
      (void)ipc::ParseSocketName(text);
      break;
    case 10:
      (void)ipc::FormatPorts(ipc::ParsePorts(text));
      break;
    default:
      (void)ipc::FindConfigBool(text, "System.GC.Server");
      break;
  }
  return 0;
}
