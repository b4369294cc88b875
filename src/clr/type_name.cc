// SPDX-License-Identifier: Apache-2.0
#include "clr/type_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace clrscope::clr {
namespace {

constexpr int kMaxNesting = 64;  // of type arguments; deeper names are kept as they are

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"System.Boolean", "bool"},  {"System.Byte", "byte"},       {"System.SByte", "sbyte"},
    {"System.Char", "char"},     {"System.Decimal", "decimal"}, {"System.Double", "double"},
    {"System.Single", "float"},  {"System.Int32", "int"},       {"System.UInt32", "uint"},
    {"System.Int64", "long"},    {"System.UInt64", "ulong"},    {"System.Int16", "short"},
    {"System.UInt16", "ushort"}, {"System.IntPtr", "nint"},     {"System.UIntPtr", "nuint"},
    {"System.Object", "object"}, {"System.String", "string"},   {"System.Void", "void"},
};

std::string_view Alias(std::string_view name) {
  for (const auto& [from, to] : kAliases)
    if (name == from) return to;
  return name;
}

bool EndsName(char c) { return c == '[' || c == ']' || c == ',' || c == '&' || c == '*'; }

// Commas and brackets inside of compiler-made names are part of these, and so is what stands behind
// a backslash. Source: dotnet/runtime src/coreclr/vm/typestring.cpp (EscapeName)
class NameScan {
 public:
  // Whether the character, the next one, is not inside.
  bool Outside(char c) {
    if (escaped_) return escaped_ = false;
    switch (c) {
      case '\\':
        escaped_ = true;
        return false;
      case '<':
        ++angle_;
        return false;
      case '>':
        if (angle_ > 0) --angle_;
        break;
      default:
        break;
    }
    return angle_ == 0;
  }

 private:
  int angle_ = 0;
  bool escaped_ = false;
};

// Names of allocation events have no backslashes: before its arguments a comma belongs to the name.
bool EndsOutermost(char c) { return EndsName(c) && c != ','; }

// Generic arity after a backtick; strips it from `name`.
size_t TakeArity(std::string_view& name) {
  const size_t tick = name.rfind('`');
  if (tick == std::string_view::npos || tick + 1 == name.size()) return 0;
  size_t arity = 0;
  const auto [end, error] =
      std::from_chars(name.data() + tick + 1, name.data() + name.size(), arity);
  if (error != std::errc{} || end != name.data() + name.size() || arity > 64) return 0;
  name = name.substr(0, tick);
  return arity;
}

// A file-local type of C#: "Shop.<Orders>F3A…__Hidden", with the file's name and its hash, is
// "Shop.Hidden". Source: dotnet/roslyn GeneratedNames.MakeFileTypeMetadataNamePrefix
std::optional<std::string> FileLocalName(std::string_view name) {
  const size_t open = name.find('<');
  if (open == std::string_view::npos || (open > 0 && name[open - 1] != '.')) return std::nullopt;
  CompilerName c;
  if (!ParseCompilerName(name.substr(open), c) || c.kind != 'F') return std::nullopt;
  const size_t hash = c.rest.find_first_not_of("0123456789ABCDEF");
  if (hash == 0 || hash == std::string_view::npos || !c.rest.substr(hash).starts_with("__") ||
      c.rest.size() == hash + 2)
    return std::nullopt;
  return std::string(name.substr(0, open)) + std::string(c.rest.substr(hash + 2));
}

// "<LoadAsync>d__5" and its like, as a part of a type's name.
std::string ReadableComponent(std::string_view name) {
  if (name.find('<') == std::string_view::npos) return UnescapedName(name);
  if (const auto local = FileLocalName(name)) return *local;
  if (name == "<>c") return "[lambdas]";
  if (name.starts_with("<>c__DisplayClass"))
    return "[closure " + std::string(name.substr(17)) + "]";
  if (name.starts_with("<>f__AnonymousType"))
    return "[anonymous " + std::string(name.substr(18)) + "]";
  CompilerName c;
  if (ParseCompilerName(name, c) && c.kind == 'd' && !c.method.empty())
    return ReadableComponent(c.method) + " [state machine]";
  return UnescapedName(name);
}

// Splits at commas outside of any bracket.
std::vector<std::string_view> SplitTop(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '[' || c == '(') ++depth;
    if (c == '>' || c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (start < text.size()) out.push_back(text.substr(start));
  return out;
}

// The elements of a tuple: the eighth argument holds those from the eighth on. Nothing where it is
// no tuple, so that it is none in C#.
std::optional<std::string> TupleElements(const std::vector<std::string>& args) {
  constexpr size_t kRest = 7;
  constexpr std::string_view kOne = "System.ValueTuple<";
  std::string out;
  for (size_t i = 0; i < std::min(args.size(), kRest); ++i) out += (i == 0 ? "" : ", ") + args[i];
  if (args.size() <= kRest) return out;
  const std::string_view rest = args[kRest];
  if (args.size() > kRest + 1) return std::nullopt;
  if (rest.starts_with('(') && rest.ends_with(')'))
    return out.append(", ").append(rest.substr(1, rest.size() - 2));
  // Of one element; the long form of a tuple that is none has more.
  if (!rest.starts_with(kOne) || !rest.ends_with('>')) return std::nullopt;
  const std::string_view one = rest.substr(kOne.size(), rest.size() - kOne.size() - 1);
  if (SplitTop(one).size() != 1) return std::nullopt;
  return out.append(", ").append(one);
}

void AppendArguments(std::string& out, const std::vector<std::string>& args, size_t first,
                     size_t count) {
  out += '<';
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) out += ", ";
    out += first + i < args.size() ? args[first + i]
           : count == 1            ? "T"
                                   : "T" + std::to_string(i + 1);
  }
  out += '>';
}

// Builds the C# name of a possibly nested, possibly generic type from the runtime's name without
// arguments and the arguments, which lie flat at its end.
std::string Compose(std::string_view name, const std::vector<std::string>& args) {
  if (name == "System.Nullable`1" && args.size() == 1) return args[0] + "?";
  if (name.starts_with("System.ValueTuple`") && args.size() > 1)
    if (const auto elements = TupleElements(args)) return "(" + *elements + ")";
  std::string out;
  size_t used = 0;
  while (true) {
    // A '+' inside a compiler-made name's brackets does not separate.
    size_t plus = 0;
    int depth = 0;
    for (; plus < name.size(); ++plus) {
      const char c = name[plus];
      if (c == '<') ++depth;
      if (c == '>') --depth;
      if (c == '\\' && plus + 1 < name.size()) ++plus;
      if (c == '+' && depth <= 0) break;
    }
    const bool last = plus == name.size();
    std::string_view component = name.substr(0, plus);
    const size_t arity = TakeArity(component);
    const std::string_view alias = out.empty() && last && arity == 0 ? Alias(component) : component;
    out += alias != component ? std::string(alias) : ReadableComponent(component);
    const size_t rest = args.size() - std::min(used, args.size());
    // An owner that is not in the name took some of them: the last component shows what is left.
    const size_t count = last ? std::max(arity, rest) : arity;
    if (count != 0) AppendArguments(out, args, used, count);
    used += count;
    if (last) return out;
    out += '.';
    name.remove_prefix(plus + 1);
  }
}

class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : text_(text) {}

  std::string Whole() {
    std::string out = Type(0);
    if (failed_ || pos_ != text_.size()) return std::string(text_);
    return out;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }

  std::string Type(int nesting) {
    if (nesting > kMaxNesting) failed_ = true;
    if (failed_) return {};
    const size_t start = pos_;
    for (NameScan scan; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (scan.Outside(c) && EndsName(c) && (c != ',' || nesting > 0)) break;
    }
    const std::string_view name = text_.substr(start, pos_ - start);
    std::vector<std::string> args;
    if (Peek() == '[' && Peek(1) != ']' && Peek(1) != ',' && Peek(1) != '*') {
      ++pos_;
      while (!failed_) {
        const bool qualified = Peek() == '[';  // [[Type, Assembly, …]]
        if (qualified) ++pos_;
        args.push_back(Type(nesting + 1));
        if (qualified) {
          while (pos_ < text_.size() && text_[pos_] != ']') ++pos_;
          ++pos_;
        }
        if (Peek() == ',') {
          ++pos_;
          if (Peek() == ' ') ++pos_;
        } else if (Peek() == ']') {
          ++pos_;
          break;
        } else {
          failed_ = true;
        }
      }
    }
    std::string out = Compose(name, args);
    // Array ranks: the runtime writes int[,][] for an array of int[,]; C# writes int[][,].
    std::vector<std::string> ranks;
    bool by_ref = false;
    while (!failed_) {
      if (Peek() == '[') {
        const size_t open = pos_++;
        while (Peek() == ',' || Peek() == '*') ++pos_;
        if (Peek() != ']') {
          failed_ = true;
          break;
        }
        ++pos_;
        ranks.emplace_back(text_.substr(open, pos_ - open));
      } else if (Peek() == '*') {
        Flush(out, ranks);
        out += '*';
        ++pos_;
      } else if (Peek() == '&') {
        by_ref = true;
        ++pos_;
      } else {
        break;
      }
    }
    Flush(out, ranks);
    return by_ref ? "ref " + out : out;
  }

  static void Flush(std::string& out, std::vector<std::string>& ranks) {
    for (size_t i = ranks.size(); i-- > 0;) out += ranks[i];
    ranks.clear();
  }

  std::string_view text_;
  size_t pos_ = 0;
  bool failed_ = false;
};

constexpr std::pair<std::string_view, std::string_view> kIlPrimitives[] = {
    {"int8", "sbyte"},         {"unsigned int8", "byte"},
    {"int16", "short"},        {"unsigned int16", "ushort"},
    {"int32", "int"},          {"unsigned int32", "uint"},
    {"int64", "long"},         {"unsigned int64", "ulong"},
    {"float32", "float"},      {"float64", "double"},
    {"wchar", "char"},         {"int", "nint"},
    {"unsigned int", "nuint"}, {"bool", "bool"},
    {"void", "void"},
};

std::string SignatureType(std::string_view il, int nesting) {
  if (nesting > kMaxNesting) return std::string(il);
  for (const std::string_view prefix :
       {std::string_view("value class "), std::string_view("class ")})
    if (il.starts_with(prefix)) il.remove_prefix(prefix.size());
  if (il.ends_with('&')) return "ref " + SignatureType(il.substr(0, il.size() - 1), nesting + 1);
  if (il.ends_with('*')) return SignatureType(il.substr(0, il.size() - 1), nesting + 1) + "*";
  if (il.ends_with(']')) {
    const size_t open = il.rfind('[');
    if (open != std::string_view::npos)
      return SignatureType(il.substr(0, open), nesting + 1) + std::string(il.substr(open));
  }
  for (const auto& [from, to] : kIlPrimitives)
    if (il == from) return std::string(to);
  if (il.starts_with("!!")) return "TM" + std::string(il.substr(2));
  if (il.starts_with("!")) return "T" + std::string(il.substr(1));
  size_t angle = il.find('<');
  // Not that of a compiler-made name.
  while (angle != std::string_view::npos && (angle == 0 || il[angle - 1] == '.')) {
    const size_t close = il.find('>', angle);
    angle = close == std::string_view::npos ? close : il.find('<', close);
  }
  if (il.ends_with('>') && angle != std::string_view::npos && angle > 0) {
    std::vector<std::string> args;
    for (const std::string_view a : SplitTop(il.substr(angle + 1, il.size() - angle - 2)))
      args.push_back(SignatureType(a, nesting + 1));
    return Compose(il.substr(0, angle), args);
  }
  return Compose(il, {});
}

}  // namespace

std::string UnescapedName(std::string_view name) {
  if (name.find('\\') == std::string_view::npos) return std::string(name);
  std::string out;
  out.reserve(name.size());
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    out += name[i];
  }
  return out;
}

bool ParseCompilerName(std::string_view component, CompilerName& out) {
  if (component.empty() || component[0] != '<') return false;
  int depth = 0;
  for (size_t i = 0; i < component.size(); ++i) {
    if (component[i] == '<') ++depth;
    if (component[i] == '>' && --depth == 0) {
      if (i + 1 >= component.size()) return false;
      out.method = component.substr(1, i - 1);
      out.kind = component[i + 1];
      out.rest = component.substr(i + 2);
      return true;
    }
  }
  return false;
}

std::string CsharpTypeName(std::string_view raw) { return TypeParser(raw).Whole(); }

std::optional<std::string_view> WithoutOwner(std::string_view raw) {
  std::optional<std::string_view> out;
  NameScan scan;
  for (size_t at = 0; at < raw.size(); ++at) {
    if (!scan.Outside(raw[at])) continue;
    if (EndsOutermost(raw[at])) break;
    if (raw[at] == '+') out = raw.substr(at + 1);
  }
  return out;
}

std::optional<BareName> BareNameOf(std::string_view raw) {
  size_t at = 0;
  for (NameScan scan; at < raw.size(); ++at) {
    if (!scan.Outside(raw[at])) continue;
    if (EndsOutermost(raw[at])) break;
    if (raw[at] == '.' || raw[at] == '+') return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  BareName out{UnescapedName(raw.substr(0, at)), 0};
  // "[]", "[,]" and "[*]" are ranks.
  if (at + 1 >= raw.size() || raw[at] != '[' || EndsName(raw[at + 1])) return out;
  out.arguments = 1;
  int depth = 0;
  for (NameScan scan; at < raw.size(); ++at) {
    if (!scan.Outside(raw[at])) continue;
    if (raw[at] == '[') ++depth;
    if (raw[at] == ']' && --depth == 0) break;
    if (raw[at] == ',' && depth == 1) ++out.arguments;
  }
  return out;
}

std::string CsharpSignatureType(std::string_view il) { return SignatureType(il, 0); }

std::string CsharpParameters(std::string_view il_signature) {
  const size_t open = il_signature.find('(');
  const size_t close = il_signature.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string out = "(";
  for (const std::string_view p : SplitTop(il_signature.substr(open + 1, close - open - 1)))
    out += (out.size() == 1 ? "" : ", ") + CsharpSignatureType(p);
  return out + ")";
}

}  // namespace clrscope::clr
