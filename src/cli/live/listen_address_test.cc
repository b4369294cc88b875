// SPDX-License-Identifier: Apache-2.0
#include "cli/live/listen_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace clrscope::cli {
namespace {

constexpr std::string_view kHosts =
    "# names of this machine\n"
    "127.0.0.1\tlocalhost\r\n"
    "::1 localhost ip6-localhost\n"
    "\n"
    "nonsense broken\n"
    "127.0.1.1 box.example.org box # not: commented\n"
    "fd00::7 box six";

std::string Resolved(const std::string& host, std::string_view hosts = kHosts) {
  const Result<SocketAddress> found = Resolve({host, 9464}, hosts);
  if (!found.ok()) return found.error().message;
  char text[INET6_ADDRSTRLEN] = "";
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&found->bytes);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&found->bytes);
  const bool four = found->bytes.ss_family == AF_INET;
  EXPECT_EQ(ntohs(four ? v4->sin_port : v6->sin6_port), 9464);
  EXPECT_EQ(found->size, four ? sizeof(*v4) : sizeof(*v6));
  return ::inet_ntop(found->bytes.ss_family,
                     four ? static_cast<const void*>(&v4->sin_addr) : &v6->sin6_addr, text,
                     sizeof(text));
}

TEST(ListenAddressTest, TakesWhatPeopleType) {
  const std::tuple<const char*, const char*, int> kCases[] = {
      {"127.0.0.1:9464", "127.0.0.1", 9464},
      {"[::1]:0", "::1", 0},
      {"::1:80", "::1", 80},
      {"localhost:65535", "localhost", 65535},
      {"[fe80::1%lo]:1", "fe80::1%lo", 1},
  };
  for (const auto& [text, host, port] : kCases) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
  }
  for (const char* text : {"", "localhost", ":9464", "a:", "a:65536", "a:-1", "a:1x"})
    EXPECT_EQ(ParseListenAddress(text).error().code, ErrorCode::kUsage) << text;
}

TEST(ListenAddressTest, AddressesAreParsedWhateverHostsSays) {
  EXPECT_EQ(Resolved("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(Resolved("10.1.2.3", "9.9.9.9 10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(Resolved("::"), "::");
  EXPECT_EQ(Resolved("fe80::1%lo"), "fe80::1");
}

TEST(ListenAddressTest, TheFirstLineOfHostsWithTheNameCounts) {
  EXPECT_EQ(Resolved("localhost"), "127.0.0.1");
  EXPECT_EQ(Resolved("IP6-LocalHost"), "::1");
  EXPECT_EQ(Resolved("box"), "127.0.1.1");
  EXPECT_EQ(Resolved("six"), "fd00::7");
}

TEST(ListenAddressTest, LocalhostNeedsNoHosts) {
  EXPECT_EQ(Resolved("localhost", ""), "127.0.0.1");
}

TEST(ListenAddressTest, OtherNamesAreRefusedInOneSentence) {
  for (const char* host : {"example.org", "broken", "commented", "127.0.0.256", "fe80::1%none"}) {
    const Result<SocketAddress> found = Resolve({host, 9464}, kHosts);
    ASSERT_FALSE(found.ok()) << host;
    EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  }
  EXPECT_EQ(
      Resolved("example.org"),
      "--listen example.org:9464: example.org is neither an address nor a name in /etc/hosts, "
      "and clrscope asks no name server; give an address of this machine");
}

TEST(ListenAddressTest, AnAddressInUseIsAnError) {
  const Result<Fd> first = ListenAt({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok()) << first.error().message;
  sockaddr_in bound{};
  socklen_t size = sizeof(bound);
  ASSERT_EQ(::getsockname(first->get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  const Result<Fd> second = ListenAt({"127.0.0.1", ntohs(bound.sin_port)});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_EQ(ListenAt({"192.0.2.1", 0}).error().code, ErrorCode::kIo);  // TEST-NET-1: nobody's
}

}  // namespace
}  // namespace clrscope::cli
