// SPDX-License-Identifier: Apache-2.0
#include "fetch/url.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

namespace clrscope::fetch {
namespace {

constexpr size_t kMostUrl = 8192;

std::string LowerAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// A request is lines of text: nothing may end one, and nothing may be taken for its next word.
bool IsSendable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

Error BadUrl(std::string_view text, std::string_view why) {
  return {ErrorCode::kUsage, fmt::format("'{}' {}", text, why)};
}

}  // namespace

std::string Url::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
  if (port != (tls ? 443 : 80)) out += fmt::format(":{}", port);
  return out;
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(), target);
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost") return true;
  const std::string text(host);
  in_addr v4;
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return ::inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

Result<Url> ParseUrl(std::string_view text) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || text.size() > kMostUrl || !IsSendable(text))
    return BadUrl(text, "is no address of the form https://HOST/PATH");
  Url url;
  const std::string name = LowerAscii(text.substr(0, scheme));
  if (name != "https" && name != "http")
    return BadUrl(text, "is no address of the form https://HOST/PATH");
  url.tls = name == "https";
  url.port = url.tls ? 443 : 80;

  std::string_view rest = text.substr(scheme + 3);
  rest = rest.substr(0, rest.find('#'));
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, end);
  url.target = std::string(rest.substr(end));
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  if (authority.find('@') != std::string_view::npos)
    return BadUrl(text, "holds a user's name, which is not sent to servers");

  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return BadUrl(text, "has a '[' without a ']'");
    url.host = LowerAscii(authority.substr(1, bracket - 1));
    port = authority.substr(bracket + 1);
    in6_addr v6;
    if (::inet_pton(AF_INET6, url.host.c_str(), &v6) != 1)
      return BadUrl(text, "has no IPv6 address in its brackets");
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = LowerAscii(authority.substr(0, colon));
    port = authority.substr(colon);
    if (url.host.empty() || !std::all_of(url.host.begin(), url.host.end(), IsHostCharacter))
      return BadUrl(text, "has no host");
  }
  if (!port.empty()) {
    unsigned number = 0;
    const auto [stop, error] =
        std::from_chars(port.data() + 1, port.data() + port.size(), number, 10);
    if (port.front() != ':' || error != std::errc{} || stop != port.data() + port.size() ||
        number == 0 || number > 65535)
      return BadUrl(text, "has a port that is no number from 1 to 65535");
    url.port = static_cast<uint16_t>(number);
  }
  if (!url.tls && !IsLoopback(url.host))
    return BadUrl(text, "is not encrypted: use https:// for what is not on this machine");
  return url;
}

Result<Url> Redirect(const Url& from, std::string_view location) {
  std::string whole;
  if (location.find("://") != std::string_view::npos) {
    whole = location;
  } else {
    Url next = from;
    next.target.clear();
    whole = next.text();
    if (location.starts_with("//")) {
      whole = fmt::format("{}:{}", from.tls ? "https" : "http", location);
    } else if (location.starts_with('/')) {
      whole += location;
    } else {
      const std::string_view path = std::string_view(from.target).substr(0, from.target.find('?'));
      whole += fmt::format("{}{}", path.substr(0, path.rfind('/') + 1), location);
    }
  }
  Result<Url> next = ParseUrl(whole);
  if (!next.ok() || (from.tls && !next->tls))
    return Error{ErrorCode::kRefused,
                 fmt::format("{} leads to '{}', which is not followed: it is no HTTPS address",
                             from.authority(), location.substr(0, 200))};
  return next;
}

std::string EncodePathPart(std::string_view text) {
  constexpr std::string_view kUnreserved = "-._~";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kUnreserved.find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace clrscope::fetch
