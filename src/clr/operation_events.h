// SPDX-License-Identifier: Apache-2.0
// Operations that a program does within a request, as EventSources tell of them. A start and its
// stop carry the same activity id, below that of the request.
// Sources: dotnet/runtime src/libraries/System.Net.Http/src/System/Net/Http/HttpTelemetry.cs and
// src/libraries/System.Diagnostics.DiagnosticSource DiagnosticSourceEventSource.cs; npgsql/npgsql
// src/Npgsql/NpgsqlSqlEventSource.cs; dotnet/SqlClient SqlClientEventSource.cs. Layouts of the
// runtime's checked on .NET 8, 9 and 10.
#pragma once

#include <cstdint>
#include <string_view>

#include "clr/raw_event.h"

namespace clrscope::clr {

// System.Net.Http RequestStart, level 4: a request that the program sends.
struct HttpStart {
  Utf16View scheme, host;  // the host as IDN has it
  int32_t port = 0;
};
bool Decode(const RawEvent& event, HttpStart& out);

// System.Net.Http RequestStop. .NET 7 and before have no status.
struct HttpStop {
  int32_t status = 0;  // 0 = not told; -1 = it has failed
};
bool Decode(const RawEvent& event, HttpStop& out);

// RequestFailed comes before the stop, with the request's activity or one below it.

// ActivityStart and ActivityStop of an ActivitySource, and Event of a DiagnosticListener, as
// DiagnosticSourceEventSource hands them on, with the properties that its session asked for.
struct DiagnosticEvent {
  Utf16View source, name;
  Bytes arguments;  // FindArgument()
};
bool Decode(const RawEvent& event, DiagnosticEvent& out);
// Whether it is exactly this one of the source's.
bool IsEvent(const DiagnosticEvent& event, std::string_view source, std::string_view name);
// Of an activity: it has the status of an error.
bool IsFailed(const DiagnosticEvent& event);
// The value of one of them; empty where there is none.
Utf16View FindArgument(const DiagnosticEvent& event, std::string_view key);

// A TimeSpan as .NET writes it, "00:00:00.0001606" or "1.02:03:04", in ns; 0: it is none.
int64_t ParseTimeSpan(Utf16View text);

// CommandStart of Npgsql 8 and later (checked with 9.0.3), BeginExecute of Microsoft.Data.SqlClient
// (read in its sources, not tried).
struct SqlStart {
  int32_t object = 0;  // SqlClient: its stop has the same; 0: it has none
  Utf16View text;
};
bool Decode(const RawEvent& event, SqlStart& out);

struct SqlStop {
  int32_t object = 0;
  bool failed = false;  // SqlClient alone tells
};
bool Decode(const RawEvent& event, SqlStop& out);

}  // namespace clrscope::clr
