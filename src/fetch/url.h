// SPDX-License-Identifier: Apache-2.0
// Addresses of the web that are asked: HTTPS, and HTTP of this machine.
// Source: RFC 3986
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clrscope::fetch {

struct Url {
  bool tls = true;
  std::string host;  // lower case; an IPv6 address without its brackets
  uint16_t port = 443;
  std::string target = "/";  // path and query, as they are sent

  // As a Host header has it: with brackets, with a port that is not the usual one.
  std::string authority() const;
  std::string text() const;
};

// "localhost", 127.0.0.0/8 and ::1.
bool IsLoopback(std::string_view host);

// Without a user name in it; a fragment is left away.
// errors: kUsage, with a sentence, for what is no such address and for HTTP to another machine
Result<Url> ParseUrl(std::string_view text);

// Where a server's Location leads to. errors: kRefused, also from HTTPS to HTTP
Result<Url> Redirect(const Url& from, std::string_view location);

// As a part of a path: all but unreserved characters as %xx.
std::string EncodePathPart(std::string_view text);

}  // namespace clrscope::fetch
