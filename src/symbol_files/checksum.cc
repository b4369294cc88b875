// SPDX-License-Identifier: Apache-2.0
#include "symbol_files/checksum.h"

#include <openssl/evp.h>

#include "base/hex.h"

namespace clrscope::symbol_files {

std::string ChecksumOf(std::string_view algorithm, Bytes bytes) {
  const EVP_MD* const kind = algorithm == "sha256" ? EVP_sha256()
                             : algorithm == "sha1" ? EVP_sha1()
                                                   : nullptr;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (kind == nullptr || EVP_Digest(bytes.data(), bytes.size(), digest, &size, kind, nullptr) != 1)
    return {};
  return HexText(AsBytes(digest, size));
}

}  // namespace clrscope::symbol_files
