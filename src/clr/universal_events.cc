// SPDX-License-Identifier: Apache-2.0
#include "clr/universal_events.h"

namespace clrscope::clr {
namespace {

// UTF-8 after its length of two bytes.
std::string_view ShortText(ByteReader& in) {
  const Bytes text = in.Take(in.U16());
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace

bool Decode(const RawEvent& event, UniversalSample& out) {
  ByteReader in(event.payload);
  out.value = in.VarU64();
  return in.ok();
}

bool Decode(const RawEvent& event, UniversalProcess& out) {
  ByteReader in(event.payload);
  (void)in.VarU64();  // the id in its own namespace
  out.name = ShortText(in);
  return in.ok();
}

bool Decode(const RawEvent& event, UniversalMapping& out) {
  ByteReader in(event.payload);
  (void)in.VarU64();  // its number
  out.start = in.VarU64();
  out.end = in.VarU64();
  out.offset = in.VarU64();
  out.path = ShortText(in);
  return in.ok() && out.start < out.end;
}

bool Decode(const RawEvent& event, UniversalSymbol& out) {
  ByteReader in(event.payload);
  (void)in.VarU64();  // its number
  (void)in.VarU64();  // that of the mapping
  out.start = in.VarU64();
  out.end = in.VarU64();
  out.name = ShortText(in);
  return in.ok() && out.start < out.end;
}

bool ParseJittedSymbol(std::string_view symbol, JittedSymbol& out) {
  if (symbol.empty() || symbol.back() != ']') return false;
  const size_t tier = symbol.rfind('[');
  // A result may name a module of its own: "class [System.Runtime]System.Object [Orders] …".
  size_t open = symbol.find(" ["), close = std::string_view::npos;
  for (; open != std::string_view::npos; open = symbol.find(" [", open + 2)) {
    close = symbol.find(']', open);
    if (close != std::string_view::npos && close + 1 < symbol.size() && symbol[close + 1] == ' ')
      break;
  }
  if (open == std::string_view::npos || tier <= close + 1) return false;
  const std::string_view method = symbol.substr(close + 2, tier - close - 2);
  const size_t parameters = method.find('(');
  if (parameters == std::string_view::npos) return false;
  const size_t name = method.substr(0, parameters).rfind("::");
  if (name == std::string_view::npos) return false;
  out.result = symbol.substr(0, open);
  out.module = symbol.substr(open + 2, close - open - 2);
  out.owner = method.substr(0, name);
  out.name = method.substr(name + 2, parameters - name - 2);
  out.parameters = method.substr(parameters);
  return true;
}

}  // namespace clrscope::clr
