// SPDX-License-Identifier: Apache-2.0
// A method's signature (ECMA-335 §II.23.2.1) as the runtime's events write it, so that a method has
// one name in both: "instance void(class System.String,int32&)".
// Source: dotnet/runtime src/coreclr/utilcode/prettyprintsig.cpp
#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace clrscope::agent {

// What its tokens mean.
class SignatureNames {
 public:
  virtual ~SignatureNames() = default;
  // Of a TypeDef or TypeRef: with its namespace, without its owners.
  virtual std::string TypeName(uint32_t token) = 0;
  // Of a TypeSpec; empty when there is none.
  virtual std::vector<std::byte> TypeSpec(uint32_t token) = 0;
};

// "" when it is damaged.
std::string SignatureText(Bytes signature, SignatureNames& names);

}  // namespace clrscope::agent
