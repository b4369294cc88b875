// SPDX-License-Identifier: Apache-2.0
// Events of a whole machine, as `dotnet-trace collect-linux` records them: samples of CPU time,
// switches between threads, and what is mapped where in each process.
// Sources: microsoft/perfview src/TraceEvent/EventPipe/UniversalProviders.md; the payloads as its
// UniversalSystemTraceEventParser.cs reads and microsoft/one-collect's nettrace.rs writes them.
#pragma once

#include <string_view>

#include "clr/raw_event.h"

namespace clrscope::clr {

// cpu: the weight of the sample, in samples. cswitch: for how many ticks of the trace's clock the
// thread, which runs again now, had not run; its stack is where it stopped.
struct UniversalSample {
  uint64_t value = 0;
};
bool Decode(const RawEvent& event, UniversalSample& out);

// ExistingProcess and ProcessCreate.
struct UniversalProcess {
  std::string_view name;  // UTF-8, within the payload
};
bool Decode(const RawEvent& event, UniversalProcess& out);

// ProcessMapping.
struct UniversalMapping {
  uint64_t start = 0, end = 0, offset = 0;
  std::string_view path;  // may be "", or no file's: "/memfd:doublemapper (deleted)"
};
bool Decode(const RawEvent& event, UniversalMapping& out);

// ProcessSymbol: what a range of addresses is called.
struct UniversalSymbol {
  uint64_t start = 0, end = 0;
  std::string_view name;
};
bool Decode(const RawEvent& event, UniversalSymbol& out);

// A method that was compiled at run time, by the name of its symbol:
// "void [Orders] Orders.Tree::Walk(int32)[Tier1]". False: it is another symbol.
struct JittedSymbol {
  std::string_view result, module, owner, name, parameters;  // parameters: "(int32)"
};
bool ParseJittedSymbol(std::string_view symbol, JittedSymbol& out);

}  // namespace clrscope::clr
