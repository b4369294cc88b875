// SPDX-License-Identifier: Apache-2.0
// A profile whose lines are known, for the tests of pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "export/source_text.h"
#include "export/testing/page_profiles.h"
#include "profile/profile.h"

namespace clrscope::exporter::testing {

inline constexpr const char* kHostileLine =
    "\tvar s = \"</script><img src=x onerror=alert(1)><!--\"; // \xe2\x80\xae gnp.exe \x01";

// Files of FillLines(), from 1.
inline constexpr uint32_t kLoadFile = 1, kPriceFile = 2, kAuditFile = 3;

class LineBuilder {
 public:
  explicit LineBuilder(PageBuilder& b) : b_(b), p_(b.profile()) {}

  void File(std::string_view path, std::string_view url) {
    p_.source_files.push_back({p_.strings.Intern(path), {}, p_.strings.Intern(url), {}});
  }
  // A node of its own, as nodes at other lines are others.
  uint32_t Node(uint32_t parent, uint32_t frame, uint32_t file = 0, uint32_t line = 0,
                profile::Place::Sure sure = profile::Place::Sure::kExact) {
    uint32_t at = 0;
    if (file != 0) {
      at = static_cast<uint32_t>(p_.lines.size());
      p_.lines.push_back({file, line, sure});
    }
    p_.nodes.push_back({parent, frame, at});
    return static_cast<uint32_t>(p_.nodes.size() - 1);
  }
  void Add(uint32_t node, std::string_view type, uint64_t samples, double size) {
    b_.Add(node, b_.Type(type), profile::EstimateSampled(samples, size));
  }

 private:
  PageBuilder& b_;
  profile::Profile& p_;
};

// Main:12 ─ Load:20 ─ Order 600 samples
//         │ Load:21 ─ List.Add ─ Order[] 300 samples
//         │ Load:24 (approximate) ─ string 60 samples
//         └ Quote:7 (no text) ─ Price 30 samples, and Write:3 (of another version) string 10
//         samples
inline void FillLines(PageBuilder& b) {
  using Sure = profile::Place::Sure;
  LineBuilder l(b);
  b.profile().duration_ns = 10'000'000'000;
  b.AddProcess(4712, "lines", "lines");
  l.File("/src/shop/Load.cs", "https://raw.githubusercontent.com/acme/shop/0123abcd/Load.cs");
  l.File("C:\\src\\shop\\Price.cs", "http://plain.example/Price.cs");
  l.File("/src/shop/Audit.cs", "javascript:alert(1)");
  const uint32_t main = b.Frame("Acme.Shop", "Acme.Shop.Program.Main");
  const uint32_t load = b.Frame("Acme.Shop", "Acme.Shop.Orders.Load");
  const uint32_t quote = b.Frame("Acme.Shop", "Acme.Shop.Prices.Quote");
  const uint32_t write = b.Frame("Acme.Shop", "Acme.Shop.Audit.Write");
  const uint32_t add = b.Frame("System.Private.CoreLib", "System.Collections.Generic.List<T>.Add",
                               profile::kFramework);
  const uint32_t root = l.Node(0, main, kLoadFile, 12);
  l.Add(l.Node(root, load, kLoadFile, 20), "Acme.Shop.Order", 600, 120);
  l.Add(l.Node(l.Node(root, load, kLoadFile, 21), add), "Acme.Shop.Order[]", 300, 4'096);
  l.Add(l.Node(root, load, kLoadFile, 24, Sure::kApproximate), "string", 60, 64);
  l.Add(l.Node(root, quote, kPriceFile, 7), "Acme.Shop.Price", 30, 40);
  l.Add(l.Node(root, write, kAuditFile, 3), "string", 10, 64);
}

// Of FillLines(): Load.cs has 400 lines, of which 22 is hostile and 23 is very long.
inline SourceText TextOfLines(uint32_t file) {
  SourceText out;
  if (file == kAuditFile) out.is = SourceText::Is::kAnother;
  if (file != kLoadFile) return out;
  out.is = SourceText::Is::kText;
  out.checked = true;
  for (int line = 1; line <= 400; ++line) {
    out.text += line == 20   ? "\t\tvar order = new Order(id);"
                : line == 21 ? "\t\torders.Add(order);"
                : line == 22 ? kHostileLine
                : line == 23 ? std::string(5'000, 'x')
                             : "    // line " + std::to_string(line);
    out.text += '\n';
  }
  return out;
}

}  // namespace clrscope::exporter::testing
