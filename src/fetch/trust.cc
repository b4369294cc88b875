// SPDX-License-Identifier: Apache-2.0
#include "fetch/trust.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdlib>

namespace clrscope::fetch {
namespace {

// Debian, Ubuntu, Alpine, Arch; Fedora, RHEL; openSUSE; older RHEL; others.
constexpr const char* kBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                    "/etc/ssl/cert.pem"};
constexpr const char* kFolder = "/etc/ssl/certs";

// "" where it is not set, or to nothing.
std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string_view TlsVersion() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

void FreeTls::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

Result<TlsContext> TrustSystem() {
  // The machine's openssl.cnf may ask for engines, which a static program does not load.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  TlsContext context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Error{ErrorCode::kFailed, "TLS cannot be set up"};
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);

  const std::string file = Variable("SSL_CERT_FILE"), folder = Variable("SSL_CERT_DIR");
  if (!file.empty() && SSL_CTX_load_verify_file(context.get(), file.c_str()) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::kIo,
                 fmt::format("SSL_CERT_FILE: {} holds no certificates that can be read", file)};
  }
  if (!folder.empty()) (void)SSL_CTX_load_verify_dir(context.get(), folder.c_str());
  if (!file.empty() || !folder.empty()) return context;
  for (const char* const bundle : kBundles)
    if (::access(bundle, R_OK) == 0 && SSL_CTX_load_verify_file(context.get(), bundle) == 1)
      return context;
  ERR_clear_error();
  if (::access(kFolder, R_OK | X_OK) == 0 && SSL_CTX_load_verify_dir(context.get(), kFolder) == 1)
    return context;
  return Error{ErrorCode::kNotFound,
               "there are no certificates of authorities on this system, by which an HTTPS server "
               "could be known: install them (ca-certificates), or name a file of them in "
               "SSL_CERT_FILE"};
}

}  // namespace clrscope::fetch
