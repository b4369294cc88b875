// SPDX-License-Identifier: Apache-2.0
#include "clr/operation_events.h"

namespace clrscope::clr {
namespace {

bool TextIs(Utf16View text, std::string_view ascii) {
  if (text.units != ascii.size()) return false;
  for (size_t i = 0; i < text.units; ++i)
    if (text[i] != static_cast<char16_t>(ascii[i])) return false;
  return true;
}

}  // namespace

bool Decode(const RawEvent& event, HttpStart& out) {
  ByteReader r(event.payload);
  out.scheme = r.Utf16Z();
  out.host = r.Utf16Z();
  out.port = r.I32();
  return r.ok();
}

bool Decode(const RawEvent& event, HttpStop& out) {
  out = {};
  if (event.payload.empty()) return true;
  ByteReader r(event.payload);
  out.status = r.I32();
  return r.ok();
}

bool Decode(const RawEvent& event, DiagnosticEvent& out) {
  ByteReader r(event.payload);
  out.source = r.Utf16Z();
  out.name = r.Utf16Z();
  if (!r.ok()) return false;
  out.arguments = event.payload.subspan(event.payload.size() - r.remaining());
  return true;
}

bool IsEvent(const DiagnosticEvent& event, std::string_view source, std::string_view name) {
  return TextIs(event.source, source) && TextIs(event.name, name);
}

// As TraceLogging writes an array of pairs: their number, then a key and a value each.
Utf16View FindArgument(const DiagnosticEvent& event, std::string_view key) {
  ByteReader r(event.arguments);
  for (uint32_t n = r.U16(); n > 0 && r.ok(); --n) {
    const Utf16View name = r.Utf16Z(), value = r.Utf16Z();
    if (!r.ok()) break;
    if (TextIs(name, key)) return value;
  }
  return {};
}

bool IsFailed(const DiagnosticEvent& event) {
  return TextIs(FindArgument(event, "Status"), "Error");
}

int64_t ParseTimeSpan(Utf16View text) {
  constexpr size_t kMostDigits = 10;
  constexpr int64_t kSecondNs = 1'000'000'000, kLongestDays = 10'000;
  int64_t days = 0, seconds = 0, part = 0, ns = 0, unit = kSecondNs;
  size_t colons = 0, digits = 0;
  bool fraction = false;
  for (size_t i = 0; i < text.units; ++i) {
    const char16_t c = text[i];
    if (c >= u'0' && c <= u'9') {
      if (++digits > kMostDigits) return 0;
      part = part * 10 + (c - u'0');
      if (fraction) unit /= 10;
    } else if (c == u':' && colons < 2 && !fraction) {
      seconds = (seconds + part) * 60;
      ++colons;
      part = 0;
      digits = 0;
    } else if (c == u'.' && !fraction && (colons == 0 || colons == 2)) {
      if (colons == 0) {
        days = part;
      } else {
        seconds += part;
        fraction = true;
      }
      part = 0;
      digits = 0;
    } else {
      return 0;
    }
  }
  if (colons != 2 || days > kLongestDays || seconds > kLongestDays * 86'400) return 0;
  if (fraction)
    ns = part * unit;
  else
    seconds += part;
  return (days * 86'400 + seconds) * kSecondNs + ns;
}

bool Decode(const RawEvent& event, SqlStart& out) {
  ByteReader r(event.payload);
  out = {};
  if (event.kind->tag == EventTag::kSqlClientStart) {
    out.object = r.I32();
    (void)r.Utf16Z();  // where the database is
    (void)r.Utf16Z();  // its name
  }
  out.text = r.Utf16Z();
  return r.ok();
}

bool Decode(const RawEvent& event, SqlStop& out) {
  out = {};
  if (event.kind->tag != EventTag::kSqlClientStop) return true;
  constexpr int32_t kSucceeded = 1;  // a bit of its composite state
  ByteReader r(event.payload);
  out.object = r.I32();
  out.failed = (r.I32() & kSucceeded) == 0;
  return r.ok();
}

}  // namespace clrscope::clr
