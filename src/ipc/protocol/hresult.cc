// SPDX-License-Identifier: Apache-2.0
// The table of HRESULTs that the diagnostics server and the profiling interface answer with.
// Source: dotnet/diagnostics ipc-protocol.md § Errors, dotnet/runtime src/coreclr/inc/corerror.xml
#include "ipc/protocol/hresult.h"

#include <fmt/format.h>

namespace clrscope::ipc {
namespace {

struct Name {
  uint32_t hresult;
  std::string_view text;
};

constexpr Name kNames[] = {
    {kBadEncoding, "bad encoding"},
    {kUnknownCommand, "unknown command"},
    {kUnknownMagic, "unknown protocol"},
    {0x80131387, "unknown error in the diagnostics server"},
    {kNotYetAvailable, "not yet available: the runtime has not finished starting"},
    {0x80131371, "the runtime is not initialized yet"},
    {0x80131515, "not supported"},
    {0x80004001, "not implemented"},
    {0x80004005, "unspecified failure"},
    {kInvalidArgument, "invalid argument"},
    {0x8007000e, "out of memory"},
    {0x8007007a, "buffer too small"},
    {0x8007007e, "the library, or one that it needs, was not found"},
    {0x80070002, "file not found"},
    {0x80070005, "access denied"},
    {0x800000cb, "no such environment variable"},
    {0x80131367, "another profiler is just being detached"},
    {0x80131368, "the profiler does not support being attached"},
    {kProfilerAlreadyActive, "another profiler is already active"},
    {0x8013136e, "the profiler lacks ICorProfilerCallback3"},
    {0x8013136f, "the profiler asked for what can only be had from the start of a process"},
    {0x80131374, "the profiler's event flags do not allow this"},
    {0x80131375, "the profiler declined to be loaded"},
    {0x80131379, "the concurrent GC did not end in time"},
};

}  // namespace

std::string NameHresult(uint32_t hresult) {
  for (const Name& name : kNames)
    if (name.hresult == hresult) return fmt::format("{:#010x} ({})", hresult, name.text);
  return fmt::format("{:#010x}", hresult);
}

}  // namespace clrscope::ipc
