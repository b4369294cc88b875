// SPDX-License-Identifier: Apache-2.0
// Whom TLS connections trust: the authorities that the system does.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string_view>

#include "base/result.h"

namespace clrscope::fetch {

struct FreeTls {
  void operator()(SSL_CTX* context) const;
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;

// For clients, TLS 1.2 and later. Certificates of authorities are those of SSL_CERT_FILE and
// SSL_CERT_DIR, and without these the system's, where distributions keep them.
// errors: kNotFound (there are none), kIo (the named file holds none)
Result<TlsContext> TrustSystem();

std::string_view TlsVersion();  // of OpenSSL: "3.0.17"

}  // namespace clrscope::fetch
