// SPDX-License-Identifier: Apache-2.0
#include "symbols/metadata/field_type.h"

#include <string_view>
#include <vector>

#include "clr/element_types.h"
#include "clr/type_name.h"
#include "symbols/metadata/compressed.h"
#include "symbols/metadata/type_defs.h"
#include "symbols/metadata/type_names.h"

namespace clrscope::symbols {
namespace {

constexpr uint8_t kFieldSignature = 0x06;
constexpr int kMostTypeDepth = 32;
// Of all types in one signature: a few bytes could mean very many, by TypeSpecs that name each
// other.
constexpr int kMostTypes = 1024;
constexpr size_t kMostNameBytes = 16 << 10;
constexpr uint32_t kMostRank = 32;

enum Element : uint8_t {
  kPtr = 0x0f,
  kByRef = 0x10,
  kValueType = 0x11,
  kClass = 0x12,
  kVar = 0x13,
  kArray = 0x14,
  kGenericInst = 0x15,
  kFnPtr = 0x1b,
  kSzArray = 0x1d,
  kMVar = 0x1e,
  kModReq = 0x1f,
  kModOpt = 0x20,
  kString = 0x0e,
  kObject = 0x1c,
  kSentinel = 0x41,
  kPinned = 0x45,
};

// Reads types, and writes them in the runtime's grammar, which clr::CsharpTypeName reads.
class TypeDecoder {
 public:
  TypeDecoder(const Metadata& metadata, Token owner) : metadata_(metadata) {
    if (const auto type = FindTypeDef(metadata, owner)) parameters_ = type->generic_parameters;
  }

  // False: it is damaged.
  bool Type(ByteReader& in, int depth, FieldType& out) {
    if (depth > kMostTypeDepth || ++types_ > kMostTypes) return false;
    out.element = in.U8();
    while (out.element == kModReq || out.element == kModOpt || out.element == kPinned) {
      if (out.element != kPinned) ReadCompressed(in);
      out.element = in.U8();
    }
    if (!in.ok()) return false;
    if (const std::string_view name = clr::ElementTypeName(out.element); !name.empty()) {
      out.name = name;
      return true;
    }
    switch (out.element) {
      case kPtr:
        return Wrapped(in, depth, "*", out);
      case kByRef:
        return Wrapped(in, depth, "&", out);
      case kSzArray:
        return Wrapped(in, depth, "[]", out);
      case kArray:
        return Array(in, depth, out);
      case kValueType:
      case kClass:
        return Named(in, depth, out);
      case kVar:
      case kMVar:
        return Parameter(in, out);
      case kGenericInst:
        return Instance(in, depth, out);
      case kFnPtr:
        return Function(in, depth, out);
      default:
        return false;
    }
  }

 private:
  bool Wrapped(ByteReader& in, int depth, std::string_view suffix, FieldType& out) {
    FieldType inner;
    if (!Type(in, depth + 1, inner)) return false;
    out.name = std::move(inner.name);
    out.name += suffix;
    return true;
  }

  bool Array(ByteReader& in, int depth, FieldType& out) {
    FieldType inner;
    if (!Type(in, depth + 1, inner)) return false;
    const uint32_t rank = ReadCompressed(in);
    if (rank == 0 || rank > kMostRank) return false;
    for (int list = 0; list < 2; ++list) {  // sizes and lower bounds, which no name shows
      const uint32_t count = ReadCompressed(in);
      if (count > rank) return false;
      for (uint32_t i = 0; i < count; ++i) ReadCompressed(in);
    }
    out.name = inner.name + '[' + (rank == 1 ? "*" : std::string(rank - 1, ',')) + ']';
    return in.ok();
  }

  // §II.23.2.8
  bool Named(ByteReader& in, int depth, FieldType& out) {
    constexpr Table kTables[] = {Table::kTypeDef, Table::kTypeRef, Table::kTypeSpec};
    const uint32_t coded = ReadCompressed(in);
    if (!in.ok() || (coded & 3) >= std::size(kTables)) return false;
    const Token token = TokenOf(kTables[coded & 3], coded >> 2);
    if (TableOf(token) == Table::kTypeSpec) {
      ByteReader spec(metadata_.BlobAt(Table::kTypeSpec, RowOf(token), column::kTypeSpecSignature));
      return Type(spec, depth + 1, out);
    }
    out.type = token;
    out.name = RuntimeTypeName(metadata_, token);
    return !out.name.empty() && out.name.size() <= kMostNameBytes;
  }

  bool Parameter(ByteReader& in, FieldType& out) {
    const uint32_t number = ReadCompressed(in);
    if (out.element == kVar && number < parameters_.size())
      out.name = parameters_[number];
    else
      out.name = (out.element == kVar ? "T" : "TM") + std::to_string(number);
    return in.ok();
  }

  bool Instance(ByteReader& in, int depth, FieldType& out) {
    out.element = in.U8();
    if ((out.element != kValueType && out.element != kClass) || !Named(in, depth, out))
      return false;
    const uint32_t count = ReadCompressed(in);
    if (count == 0 || count > in.remaining()) return false;
    for (uint32_t i = 0; i < count; ++i) {
      FieldType argument;
      if (!Type(in, depth + 1, argument) || out.name.size() > kMostNameBytes) return false;
      out.name += (i == 0 ? '[' : ',') + argument.name;
    }
    out.name += ']';
    return true;
  }

  // §II.23.2.2; C# names of function pointers need more than a name holds here.
  bool Function(ByteReader& in, int depth, FieldType& out) {
    const uint8_t convention = in.U8();
    if ((convention & 0x10) != 0) ReadCompressed(in);
    const uint32_t count = ReadCompressed(in);
    if (count > in.remaining()) return false;
    for (uint32_t i = 0; i <= count; ++i) {
      FieldType ignored;
      if (!Type(in, depth + 1, ignored)) return false;
    }
    out.name = "delegate*";
    return true;
  }

  const Metadata& metadata_;
  std::vector<std::string_view> parameters_;
  int types_ = 0;
};

}  // namespace

bool FieldType::is_reference() const {
  return element == kString || element == kClass || element == kObject || element == kArray ||
         element == kSzArray;
}

Result<FieldType> DecodeFieldType(const Metadata& metadata, Bytes signature, Token owner) {
  ByteReader in(signature);
  FieldType out;
  if (in.U8() != kFieldSignature || !TypeDecoder(metadata, owner).Type(in, 0, out))
    return Error{ErrorCode::kCorrupt, "a field's signature is damaged"};
  out.name = clr::CsharpTypeName(out.name);
  return out;
}

}  // namespace clrscope::symbols
