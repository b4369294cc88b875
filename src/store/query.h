// SPDX-License-Identifier: Apache-2.0
// SQL over a recording that can read everything and change nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/query_catalog.h"
#include "store/sqlite.h"

namespace clrscope::store {

class Query {
 public:
  static Result<std::unique_ptr<Query>> Open(std::unique_ptr<Catalog> catalog);

  // One statement that reads. errors: kUsage, with what SQLite says and where
  Result<Statement> Prepare(const std::string& sql);

 private:
  explicit Query(std::unique_ptr<Catalog> catalog) : catalog_(std::move(catalog)) {}
  sqlite3* raw() const;

  // The connection closes before what its tables read from; the capture's belongs to the catalog.
  std::unique_ptr<Catalog> catalog_;
  std::optional<Database> memory_;
};

}  // namespace clrscope::store
