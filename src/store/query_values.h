// SPDX-License-Identifier: Apache-2.0
// Values of the query tables: how each kind of value becomes SQL, and cursors over lists.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "store/query_tables.h"

namespace clrscope::store {

inline void Put(sqlite3_context* out, int64_t v) { sqlite3_result_int64(out, v); }
inline void Put(sqlite3_context* out, uint64_t v) {
  sqlite3_result_int64(out, static_cast<int64_t>(v));
}
inline void Put(sqlite3_context* out, uint32_t v) { sqlite3_result_int64(out, v); }
inline void Put(sqlite3_context* out, double v) { sqlite3_result_double(out, v); }
void Put(sqlite3_context* out, std::string_view v);
inline void PutFlag(sqlite3_context* out, bool v) { sqlite3_result_int(out, v ? 1 : 0); }
inline void PutSeconds(sqlite3_context* out, int64_t ns) {
  Put(out, static_cast<double>(ns) / 1e9);
}
// "" and -1 stand for what is not known: null.
void PutKnown(sqlite3_context* out, std::string_view v);
void PutKnown(sqlite3_context* out, int64_t v);
inline void PutKnownSeconds(sqlite3_context* out, int64_t ns) {
  if (ns >= 0) PutSeconds(out, ns);
}
void PutProcess(sqlite3_context* out, const profile::Profile& p, uint32_t process);

// Seven columns: samples, bytes, bytes_low, bytes_high, objects, objects_low, objects_high.
#define CLRSCOPE_FIGURES                                                                           \
  "samples integer, bytes real, bytes_low real, bytes_high real, objects real, objects_low real, " \
  "objects_high real"
inline constexpr int kFigures = 7;
// `figure`: which of the seven. What is not known stays null. `partial`, `kind`: see
// profile/estimate/bounds.h
void PutFigure(sqlite3_context* out, const profile::Profile& p, const profile::Estimate& e,
               int figure, bool partial = false,
               profile::HeapKind kind = profile::HeapKind::kUnknown);

// The same of what lives, which may rest on another event than what was allocated.
void PutLiveFigure(sqlite3_context* out, profile::Source source, const profile::Estimate& e,
                   int figure, profile::HeapKind kind);

// Rows that lie in a vector: put(row, column, out).
template <class Row, class PutRow>
class ListCursor final : public TableCursor {
 public:
  ListCursor(std::vector<Row> rows, PutRow put) : rows_(std::move(rows)), put_(std::move(put)) {}
  Result<bool> Next() override {
    at_ = started_ ? at_ + 1 : 0;
    started_ = true;
    return at_ < rows_.size();
  }
  void Column(int column, sqlite3_context* out) const override { put_(rows_[at_], column, out); }

 private:
  std::vector<Row> rows_;
  PutRow put_;
  size_t at_ = 0;
  bool started_ = false;
};

template <class Row, class PutRow>
std::unique_ptr<TableCursor> List(std::vector<Row> rows, PutRow put) {
  return std::make_unique<ListCursor<Row, PutRow>>(std::move(rows), std::move(put));
}

inline std::vector<uint32_t> Numbers(size_t n) {
  std::vector<uint32_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint32_t>(i);
  return v;
}

}  // namespace clrscope::store
