// SPDX-License-Identifier: Apache-2.0
#include "store/query_values.h"

#include "profile/estimate/bounds.h"

namespace clrscope::store {

using profile::Estimate;
using profile::Profile;

void Put(sqlite3_context* out, std::string_view v) {
  sqlite3_result_text64(out, v.data() == nullptr ? "" : v.data(), v.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}
void PutKnown(sqlite3_context* out, std::string_view v) {
  if (!v.empty()) Put(out, v);
}
void PutKnown(sqlite3_context* out, int64_t v) {
  if (v != -1) Put(out, v);
}

void PutFigure(sqlite3_context* out, const Profile& p, const Estimate& e, int figure, bool partial,
               profile::HeapKind kind) {
  const auto bound = [out](const std::optional<double>& v) { return v ? Put(out, *v) : void(); };
  switch (figure) {
    case 0:
      return Put(out, e.samples);
    case 1:
      return Put(out, e.amount);
    case 2:
      return bound(profile::AmountBounds(p, e, partial).low);
    case 3:
      return bound(profile::AmountBounds(p, e, partial).high);
    case 4:
      return p.shown().counts_known ? Put(out, e.count) : void();
    case 5:
      return bound(profile::CountBounds(p, e, partial, kind).low);
    default:
      return bound(profile::CountBounds(p, e, partial, kind).high);
  }
}

void PutLiveFigure(sqlite3_context* out, profile::Source source, const Estimate& e, int figure,
                   profile::HeapKind kind) {
  const bool known = source == profile::Source::kSampled && !e.biased;
  switch (figure) {
    case 0:
      return Put(out, e.samples);
    case 1:
      return Put(out, e.amount);
    case 2:
      return known ? Put(out, profile::AmountInterval(e).low) : void();
    case 3:
      return known ? Put(out, profile::AmountInterval(e).high) : void();
    case 4:
      return Put(out, e.count);
    case 5:
      return known ? Put(out, profile::CountInterval(e, kind).low) : void();
    default:
      return known ? Put(out, profile::CountInterval(e, kind).high) : void();
  }
}

void PutProcess(sqlite3_context* out, const Profile& p, uint32_t process) {
  PutKnown(out, p.str(p.processes[process].name));
}

}  // namespace clrscope::store
