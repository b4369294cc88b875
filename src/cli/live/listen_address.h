// SPDX-License-Identifier: Apache-2.0
// Where a server listens, as people type it. Names are those of /etc/hosts and nothing else: a
// static program has no resolver, and an address to listen at is one of this machine.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace clrscope::cli {

struct ListenAddress {
  std::string host;
  int port = 0;  // 0 = any
};

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// "127.0.0.1:9464", "[::1]:9464", "[fe80::1%eth0]:9464", "localhost:0". errors: kUsage
Result<ListenAddress> ParseListenAddress(std::string_view text);

// hosts: the text of /etc/hosts; of several lines with the name the first counts. `localhost` is
// 127.0.0.1 where no line has it. errors: kUsage (neither an address nor a name of `hosts`)
Result<SocketAddress> Resolve(const ListenAddress& address, std::string_view hosts);

// A listening socket there that does not block. errors: kUsage, kIo (in use, or not of this
// machine)
Result<Fd> ListenAt(const ListenAddress& address);

}  // namespace clrscope::cli
