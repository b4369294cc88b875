// SPDX-License-Identifier: Apache-2.0
// Requests as ASP.NET Core's host tells of them. All of its events carry the request's activity id.
// Source: dotnet/aspnetcore src/Hosting/Hosting/src/Internal/HostingEventSource.cs; layout checked
// on .NET 8, 9 and 10.
#pragma once

#include "clr/raw_event.h"

namespace clrscope::clr {

// RequestStart, level 4. The stop and UnhandledException have no payload.
struct RequestStart {
  Utf16View method;  // as the client sent it
  // HttpRequest.Path before any middleware runs, so a base that the program strips itself
  // (UsePathBase) is still in it. Escaped: characters that a URL cannot have are %XX of UTF-8
  // (PathString.ToUriComponent), and a slash that the client sent as %2F is still that. No query.
  // Empty for `OPTIONS *`.
  Utf16View path;
};
bool Decode(const RawEvent& event, RequestStart& out);

}  // namespace clrscope::clr
