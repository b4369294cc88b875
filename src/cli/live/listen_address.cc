// SPDX-License-Identifier: Apache-2.0
#include "cli/live/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace clrscope::cli {
namespace {

constexpr int kBacklog = 128;
constexpr std::string_view kBlanks = " \t\r";

template <class T>
SocketAddress Store(const T& address) {
  SocketAddress out;
  ::memcpy(&out.bytes, &address, sizeof(address));
  out.size = sizeof(address);
  return out;
}

// Digits, with the interface after '%' where the address is a link's.
std::optional<SocketAddress> FromDigits(const std::string& host, int port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) return Store(v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  const size_t percent = host.find('%');
  if (percent != std::string::npos) {
    v6.sin6_scope_id = ::if_nametoindex(host.c_str() + percent + 1);
    if (v6.sin6_scope_id == 0) return std::nullopt;
  }
  if (::inet_pton(AF_INET6, host.substr(0, percent).c_str(), &v6.sin6_addr) == 1) return Store(v6);
  return std::nullopt;
}

// The next word of `line`, which is shortened by it; "" at its end.
std::string_view NextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

// hosts(5): an address, then its names; '#' begins a comment.
std::optional<SocketAddress> FromHosts(std::string_view hosts, std::string_view name, int port) {
  while (!hosts.empty()) {
    std::string_view line = hosts.substr(0, hosts.find('\n'));
    hosts.remove_prefix(std::min(line.size() + 1, hosts.size()));
    line = line.substr(0, line.find('#'));
    const std::string address(NextWord(line));
    for (std::string_view word = NextWord(line); !word.empty(); word = NextWord(line))
      if (SameName(word, name))
        if (const auto found = FromDigits(address, port)) return found;
  }
  return std::nullopt;
}

std::string Bracketed(const ListenAddress& a) {
  const bool plain = a.host.find(':') == std::string::npos;
  return fmt::format("{}{}{}:{}", plain ? "" : "[", a.host, plain ? "" : "]", a.port);
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress out;
  if (colon != std::string_view::npos) {
    out.host = text.substr(0, colon);
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
      out.host = out.host.substr(1, out.host.size() - 2);
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + colon + 1, end, out.port);
    if (error == std::errc() && at == end && out.port >= 0 && out.port < 65536 && !out.host.empty())
      return out;
  }
  return Error{ErrorCode::kUsage,
               fmt::format("--listen {}: give an address and a port, as 127.0.0.1:9464", text)};
}

Result<SocketAddress> Resolve(const ListenAddress& address, std::string_view hosts) {
  if (const auto found = FromDigits(address.host, address.port)) return *found;
  if (const auto found = FromHosts(hosts, address.host, address.port)) return *found;
  if (SameName(address.host, "localhost")) return *FromDigits("127.0.0.1", address.port);
  return Error{ErrorCode::kUsage,
               fmt::format("--listen {}: {} is neither an address nor a name in /etc/hosts, and "
                           "clrscope asks no name server; give an address of this machine",
                           Bracketed(address), address.host)};
}

Result<Fd> ListenAt(const ListenAddress& address) {
  std::ifstream file("/etc/hosts");
  const std::string hosts{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSIGN_OR_RETURN(const SocketAddress where, Resolve(address, hosts));
  Fd fd(::socket(where.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (fd.valid() && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&where.bytes), where.size) == 0 &&
      ::listen(fd.get(), kBacklog) == 0)
    return fd;
  return Error{ErrorCode::kIo, fmt::format("cannot listen on {}: {}; choose another by --listen",
                                           Bracketed(address), strerror(errno))};
}

}  // namespace clrscope::cli
