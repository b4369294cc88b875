// SPDX-License-Identifier: Apache-2.0
#include "capture/types/owner_finder.h"

namespace clrscope::capture {

std::optional<std::string> OwnerFinder::Find(const Question& question) {
  const clr::BareName& name = question.name;
  if (question.defined) return owners_.Of(question.defined->module, question.defined->token, name);
  if (question.id != 0 && !memory_->refused()) {
    const auto defined = ReadDefinition(*memory_, question.id, clr_major_);
    if (defined) {
      auto owner = owners_.Of(defined->module, defined->token, name);
      if (owner) return owner;
    }
  }
  return question.by_name ? owners_.OfName(name) : std::nullopt;
}

}  // namespace clrscope::capture
