// SPDX-License-Identifier: Apache-2.0
#include "cli/man/man_page.h"

#include <fmt/format.h>

#include <cstdint>

namespace clrscope::cli {
namespace {

// The code point that begins at text[at], which is moved past it.
uint32_t Next(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  uint32_t point = first & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i)
    point = point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  return point;
}

}  // namespace

std::string ManText(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool begins = out.empty() || out.back() == '\n';
    const uint32_t c = Next(text, at);
    if (c >= 0x80) {
      out += fmt::format("\\[u{:04X}]", c);
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      if (begins && c == '.') out += "\\&";
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string ManVerbatim(std::string_view text) {
  std::string out = ".PP\n.nf\n" + ManText(text);
  if (!out.ends_with('\n')) out += '\n';
  return out + ".fi\n";
}

std::string ManTitle(std::string_view version, std::string_view date) {
  return fmt::format(
      ".\\\" Made by `clrscope --man-page`, of the texts of --help.\n"
      ".TH CLRSCOPE 1 \"{}\" \"clrscope {}\" \"User Commands\"\n"
      ".SH NAME\nclrscope \\- memory profiler for running .NET programs\n"
      ".SH SYNOPSIS\n.B clrscope\n.I VERB\n[\\fIoptions\\fR]\n"
      ".br\n.B clrscope\n.I VERB\n.B \\-\\-help\n"
      ".br\n.B clrscope \\-\\-version\n",
      date, ManText(version));
}

std::string ManVerb(std::string_view verb, std::string_view usage, std::string_view about,
                    std::string_view examples, const std::vector<OptionGroup>& groups) {
  std::string out = fmt::format(".SS clrscope {} {}\n{}\n{}", verb, ManText(usage), ManText(about),
                                ManVerbatim(examples));
  for (const OptionGroup& group : groups) {
    out += fmt::format(".PP\n{}:\n", ManText(group.heading));
    for (const OptionText& option : group.options) {
      out += ".TP\n";
      if (!option.names.empty()) out += fmt::format("\\fB{}\\fR", ManText(option.names));
      if (!option.names.empty() && !option.value.empty()) out += " ";
      if (!option.value.empty()) out += fmt::format("\\fI{}\\fR", ManText(option.value));
      out += "\n" + ManText(option.about) + "\n";
    }
  }
  return out;
}

}  // namespace clrscope::cli
