// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace clrscope::symbols {
namespace {

constexpr size_t kMostMangled = 2048;
// Letters, by the estimates below; some of them stand for words.
constexpr double kMostExpanded = 1 << 20, kMostWithPacks = 1 << 24;

// How long a name can get, from above: the demangler has no limit of its own, and no way to be
// stopped. Identifiers are not told apart from what refers to something, as then an odd name could
// hide references in them; so a few that are none are counted, too.
class Expansion {
 public:
  explicit Expansion(std::string_view name) : name_(name) {}

  bool TooLong() {
    constexpr std::string_view kSequence = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    double packs = 1;
    size_t run = 0;  // where letters and digits of a reference may have begun
    for (size_t at = 0; at < name_.size(); ++at) {
      length_ += 1;
      // A pack's pattern is repeated for each of its elements, of two letters at least.
      if (name_.substr(at, 2) == "Dp" || name_.substr(at, 2) == "sp")
        packs *= std::max(1.0, static_cast<double>(name_.size()) / 2);
      if (name_[at] == 'I') new_arguments_ = true;
      if (name_[at] == '_') Reference(name_.substr(run, at - run));
      if (kSequence.find(name_[at]) == std::string_view::npos) run = at + 1;
    }
    return length_ > kMostExpanded || length_ * packs > kMostWithPacks;
  }

 private:
  // As text, numbers of 36 digits are in the order of their size and then of their digits.
  using Number = std::pair<size_t, std::string_view>;
  static Number NumberOf(std::string_view text) { return {text.size(), text}; }

  struct Part {
    Number number;
    double size = 0;
  };

  // What stands before a '_': perhaps "S3" or "T", perhaps with the end of an identifier before.
  void Reference(std::string_view text) {
    if (text.find('T') != std::string_view::npos) Parameter();
    const size_t first = text.find('S');
    if (first != std::string_view::npos)
      Substitution(NumberOf(text.substr(text.rfind('S') + 1)), NumberOf(text.substr(first + 1)));
  }

  // A part that came before. What it holds itself are letters of the name, parameters, and parts
  // that are numbered lower.
  void Substitution(const Number& least, const Number& most) {
    double holds = static_cast<double>(name_.size()) + parameters_;
    for (const Part& part : parts_)
      if (part.number < most) holds += part.size;
    const double size = std::min(length_, holds);
    parts_.push_back({least, size});
    length_ += size;
  }

  // A template's argument, of a list that has ended before.
  void Parameter() {
    if (std::exchange(new_arguments_, false)) argument_ = length_;
    parameters_ += argument_;
    length_ += argument_;
  }

  std::string_view name_;
  double length_ = 0;      // so far
  double argument_ = 0;    // at most, of one template argument
  double parameters_ = 0;  // all that parameters stand for
  bool new_arguments_ = true;
  std::vector<Part> parts_;  // that were referred to
};

}  // namespace

std::string Demangle(std::string_view mangled) {
  std::string name(mangled);
  if (!mangled.starts_with("_Z") || mangled.size() > kMostMangled || Expansion(mangled).TooLong())
    return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable != nullptr ? std::string(readable.get()) : name;
}

}  // namespace clrscope::symbols
