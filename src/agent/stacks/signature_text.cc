// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/signature_text.h"

#include <array>
#include <string_view>
#include <vector>

namespace clrscope::agent {
namespace {

constexpr int kMaxTypeDepth = 32;
constexpr uint32_t kMaxRank = 32;
constexpr uint32_t kTypeDef = 0x02000000, kTypeRef = 0x01000000, kTypeSpec = 0x1b000000;
constexpr uint8_t kSentinel = 0x41;

// CorElementType, §II.23.1.16, of types that are told by one byte.
std::string_view SimpleName(uint8_t element) {
  switch (element) {
    case 0x01:
      return "void";
    case 0x02:
      return "bool";
    case 0x03:
      return "wchar";
    case 0x04:
      return "int8";
    case 0x05:
      return "unsigned int8";
    case 0x06:
      return "int16";
    case 0x07:
      return "unsigned int16";
    case 0x08:
      return "int32";
    case 0x09:
      return "unsigned int32";
    case 0x0a:
      return "int64";
    case 0x0b:
      return "unsigned int64";
    case 0x0c:
      return "float32";
    case 0x0d:
      return "float64";
    case 0x0e:
      return "class System.String";
    case 0x16:
      return "refany";
    case 0x18:
      return "int";
    case 0x19:
      return "unsigned int";
    case 0x1c:
      return "class System.Object";
    default:
      return {};
  }
}

class Printer {
 public:
  explicit Printer(SignatureNames& names) : names_(names) {}

  bool Method(Bytes& in, int depth) {
    // The runtime's begins anew, too, where a function pointer is a parameter.
    out_.clear();
    uint32_t convention = 0, count = 0;
    if (!Number(in, convention)) return false;
    if ((convention & 0x20) != 0) out_ += "instance ";
    if ((convention & 0x10) != 0) {
      out_ += "generic ";
      if (!Number(in, count)) return false;
    }
    constexpr std::array<std::string_view, 12> kConventions = {"",
                                                               "unmanaged cdecl ",
                                                               "unmanaged stdcall ",
                                                               "unmanaged thiscall ",
                                                               "unmanaged fastcall ",
                                                               "vararg ",
                                                               "<error> ",
                                                               "<error> ",
                                                               "",
                                                               "",
                                                               "",
                                                               "native vararg "};
    if ((convention & 15) < kConventions.size()) out_ += kConventions[convention & 15];
    if (!Number(in, count) || !Type(in, depth)) return false;
    out_ += '(';
    for (bool comma = false; count != 0 && !in.empty(); comma = true) {
      if (comma) out_ += ',';
      if (static_cast<uint8_t>(in[0]) == kSentinel) {
        in = in.subspan(1);
        out_ += "...";
        continue;
      }
      if (!Type(in, depth)) return false;
      --count;
    }
    out_ += ')';
    return true;
  }
  std::string Take() { return std::move(out_); }

 private:
  // §II.23.2
  static bool Number(Bytes& in, uint32_t& out) {
    if (in.empty()) return false;
    const auto at = [&](size_t i) { return static_cast<uint32_t>(in[i]); };
    const size_t size = at(0) < 0x80 ? 1 : at(0) < 0xc0 ? 2 : 4;
    if (in.size() < size) return false;
    out = size == 1   ? at(0)
          : size == 2 ? (at(0) & 0x3f) << 8 | at(1)
                      : (at(0) & 0x1f) << 24 | at(1) << 16 | at(2) << 8 | at(3);
    in = in.subspan(size);
    return true;
  }

  bool Class(Bytes& in, int depth) {
    uint32_t coded = 0;
    if (!Number(in, coded)) return false;
    const uint32_t row = coded >> 2;
    switch (coded & 3) {
      case 0:
        out_ += names_.TypeName(kTypeDef | row);
        return true;
      case 1:
        out_ += names_.TypeName(kTypeRef | row);
        return true;
      case 2: {
        const std::vector<std::byte> spec = names_.TypeSpec(kTypeSpec | row);
        Bytes rest = spec;
        return Type(rest, depth + 1);
      }
      default:
        return false;
    }
  }

  bool Array(Bytes& in, int depth) {
    uint32_t rank = 0, count = 0;
    if (!Type(in, depth) || !Number(in, rank) || rank > kMaxRank) return false;
    if (rank == 0) {
      out_ += "[??]";
      return true;
    }
    std::array<uint32_t, kMaxRank> sizes{}, bounds{};
    for (auto* list : {&sizes, &bounds}) {
      if (!Number(in, count) || count > rank) return false;
      for (uint32_t i = 0; i < count; ++i)
        if (!Number(in, (*list)[i])) return false;
    }
    out_ += '[';
    for (uint32_t i = 0; i < rank; ++i) {
      if (sizes[i] != 0 && bounds[i] != 0)
        out_ += std::to_string(bounds[i]) + "..." + std::to_string(bounds[i] + sizes[i] + 1);
      if (i + 1 < rank) out_ += ',';
    }
    out_ += ']';
    return true;
  }

  bool Generic(Bytes& in, int depth) {
    uint32_t count = 0;
    if (!Type(in, depth) || !Number(in, count)) return false;
    out_ += '<';
    for (uint32_t i = 0; i < count; ++i) {
      if (i != 0) out_ += ',';
      if (!Type(in, depth)) return false;
    }
    out_ += '>';
    return true;
  }

  bool Type(Bytes& in, int depth) {
    if (in.empty() || ++depth > kMaxTypeDepth) return false;
    const auto element = static_cast<uint8_t>(in[0]);
    in = in.subspan(1);
    if (const std::string_view name = SimpleName(element); !name.empty()) {
      out_ += name;
      return true;
    }
    const auto then = [&](std::string_view after) {
      if (!Type(in, depth)) return false;
      out_ += after;
      return true;
    };
    const auto number = [&](std::string_view before) {
      uint32_t n = 0;
      if (!Number(in, n)) return false;
      out_ += before;
      out_ += std::to_string(n);
      return true;
    };
    switch (element) {
      case 0x0f:
        return then("*");
      case 0x10:
        return then("&");
      case 0x11:
        out_ += "value class ";
        return Class(in, depth);
      case 0x12:
        out_ += "class ";
        return Class(in, depth);
      case 0x13:
        return number("!");
      case 0x14:
        return Array(in, depth);
      case 0x15:
        return Generic(in, depth);
      case 0x1b:
        out_ += "fnptr ";
        return Method(in, depth);
      case 0x1d:
        return then("[]");
      case 0x1e:
        return number("!!");
      case 0x1f:
      case 0x20:
        out_ += element == 0x1f ? "required_modifier " : "optional_modifier ";
        if (!Class(in, depth)) return false;
        out_ += ' ';
        return Type(in, depth);
      case 0x21:
        return Internal(in);
      case 0x45:
        return then(" pinned");
      default:
        return false;
    }
  }

  // The runtime's own pointer to a type: in the signatures of dynamic methods.
  bool Internal(Bytes& in) {
    uint64_t pointer = 0;
    if (in.size() < sizeof pointer) return false;
    std::memcpy(&pointer, in.data(), sizeof pointer);
    in = in.subspan(sizeof pointer);
    std::string digits;
    for (; pointer != 0; pointer >>= 4)
      digits.insert(digits.begin(), "0123456789abcdef"[pointer & 15]);
    out_ += "pMT: 0x" + digits;
    return true;
  }

  SignatureNames& names_;
  std::string out_;
};

}  // namespace

std::string SignatureText(Bytes signature, SignatureNames& names) {
  Printer printer(names);
  return printer.Method(signature, 0) ? printer.Take() : std::string();
}

}  // namespace clrscope::agent
