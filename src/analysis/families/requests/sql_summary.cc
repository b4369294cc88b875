// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/sql_summary.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace clrscope::analysis {
namespace {

constexpr size_t kLongestWord = 60;

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

bool IsQuote(char c) { return c == '"' || c == '`' || c == '[' || c == ']'; }

// Words and single other characters, without blanks, comments and texts in single quotes.
class SqlWords {
 public:
  explicit SqlWords(std::string_view sql) : rest_(sql) {}

  // "" at the end. A word may have quotes in it.
  std::string_view Next() {
    for (;;) {
      while (!rest_.empty() && static_cast<unsigned char>(rest_[0]) <= ' ') rest_.remove_prefix(1);
      if (rest_.starts_with("--")) {
        SkipBehind("\n", 2);
      } else if (rest_.starts_with("/*")) {
        SkipBehind("*/", 2);
      } else if (rest_.starts_with('\'')) {
        SkipBehind("'", 1);
      } else {
        break;
      }
    }
    size_t n = 0;
    while (n < rest_.size() && (IsWordByte(rest_[n]) || IsQuote(rest_[n]))) ++n;
    const std::string_view word = rest_.substr(0, std::max<size_t>(n, rest_.empty() ? 0 : 1));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  void SkipBehind(std::string_view end, size_t from) {
    const size_t at = rest_.find(end, from);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }
  std::string_view rest_;
};

bool SameWord(std::string_view word, std::string_view upper) {
  return std::equal(word.begin(), word.end(), upper.begin(), upper.end(), [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 32) : a) == b;
  });
}

// Before a table's name; "": it follows at once; null: the statement is told without one.
struct Statement {
  std::string_view verb;
  const char* before;
};
constexpr std::array<Statement, 22> kStatements = {{
    {"SELECT", "FROM"},  {"INSERT", "INTO"},   {"UPDATE", ""},        {"DELETE", "FROM"},
    {"MERGE", "INTO"},   {"REPLACE", "INTO"},  {"EXEC", ""},          {"EXECUTE", ""},
    {"CALL", ""},        {"COPY", ""},         {"TRUNCATE", nullptr}, {"WITH", nullptr},
    {"BEGIN", nullptr},  {"COMMIT", nullptr},  {"ROLLBACK", nullptr}, {"CREATE", nullptr},
    {"ALTER", nullptr},  {"DROP", nullptr},    {"SET", nullptr},      {"SHOW", nullptr},
    {"PRAGMA", nullptr}, {"DECLARE", nullptr},
}};

void AppendName(std::string& out, std::string_view word) {
  size_t n = 0;
  for (const char c : word) {
    if (IsQuote(c)) continue;
    if (++n > kLongestWord) break;
    out += c;
  }
}

}  // namespace

void AppendSqlSummary(std::string& out, std::string_view sql) {
  SqlWords words(sql);
  std::string_view first = words.Next();
  while (first == "(" || first == ";") first = words.Next();
  const auto known = std::find_if(kStatements.begin(), kStatements.end(),
                                  [&](const Statement& s) { return SameWord(first, s.verb); });
  if (known == kStatements.end()) return AppendName(out, first.empty() ? "?" : first);
  out += known->verb;
  if (known->before == nullptr) return;
  std::string_view word = words.Next();
  const std::string_view before = known->before;
  while (!before.empty() && !word.empty() && !SameWord(word, before)) word = words.Next();
  if (!before.empty() && !word.empty()) word = words.Next();
  // A query within the query.
  if (word.empty() || (!IsWordByte(word[0]) && !IsQuote(word[0]))) return;
  out += ' ';
  AppendName(out, word);
}

}  // namespace clrscope::analysis
