// SPDX-License-Identifier: Apache-2.0
// In a static program glibc looks up names and loads libraries by shared objects of the very glibc
// that it was linked with, which another machine does not have. The linker (--wrap, see
// cmake/static.cmake) puts these in the place of such functions. Who refers to them: SQLite for
// load_extension(), which it refuses anyway unless it was allowed; libevent for servers and clients
// that are given a name, which nobody here does: --listen is resolved by
// src/cli/live/listen_address.cc, symbol servers by src/fetch/resolve.cc; OpenSSL for connections
// of its own making, for engines and for providers that are libraries, none of which is used. What
// glibc has of its own for other charsets (iconv) stays unused: no locale but C and UTF-8 is set.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

extern "C" {

void* __wrap_dlopen(const char* file, int mode);
void* __wrap_dlsym(void* handle, const char* name);
int __wrap_dlclose(void* handle);
const char* __wrap_dlerror();
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                       addrinfo** result);
void __wrap_freeaddrinfo(addrinfo* list);
int __wrap_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size,
                       char* service, socklen_t service_size, int flags);
const protoent* __wrap_getprotobynumber(int number);
const servent* __wrap_getservbyname(const char* name, const char* protocol);
const hostent* __wrap_gethostbyname(const char* name);

void* __wrap_dlopen(const char*, int) { return nullptr; }
void* __wrap_dlsym(void*, const char*) { return nullptr; }
int __wrap_dlclose(void*) { return -1; }
const char* __wrap_dlerror() { return "clrscope is a static program: it loads no libraries"; }

int __wrap_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** result) {
  *result = nullptr;
  return EAI_FAIL;
}
void __wrap_freeaddrinfo(addrinfo*) {}

// libevent asks for each client's address, in digits only (evhttp's name_from_addr), and ends the
// program when there is no answer.
int __wrap_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size,
                       char* service, socklen_t service_size, int) {
  const void* bytes = nullptr;
  in_port_t port = 0;
  if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    bytes = &v4->sin_addr;
    port = v4->sin_port;
  } else if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    bytes = &v6->sin6_addr;
    port = v6->sin6_port;
  } else {
    return EAI_FAMILY;
  }
  if (host != nullptr && ::inet_ntop(address->sa_family, bytes, host, host_size) == nullptr)
    return EAI_OVERFLOW;
  if (service != nullptr &&
      ::snprintf(service, service_size, "%d", ntohs(port)) >= static_cast<int>(service_size))
    return EAI_OVERFLOW;
  return 0;
}

const protoent* __wrap_getprotobynumber(int) { return nullptr; }
const servent* __wrap_getservbyname(const char*, const char*) { return nullptr; }
const hostent* __wrap_gethostbyname(const char*) { return nullptr; }

}  // extern "C"
