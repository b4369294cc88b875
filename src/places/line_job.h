// SPDX-License-Identifier: Apache-2.0
// Which addresses of a process need a source line, and the answers. A job is made of the process's
// tables, carried out anywhere, on any thread, and its answers go back into the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/tables/il_maps.h"
#include "profile/tables/places.h"
#include "symbols/lines/line_lookup.h"

namespace clrscope::places {

// A file that holds code, or IL: an assembly.
struct LineModule {
  std::string path;  // as the process sees it
  std::string pdb;   // id in hex, as the runtime tells it; "" when it does not
  // Methods of it that were compiled ahead of time, and where their code is: they tell where the
  // image lies.
  struct Anchor {
    uint64_t start = 0;
    uint32_t token = 0;
  };
  std::vector<Anchor> anchors;
  bool framework = false;
};

struct LineRequest {
  uint32_t address_index = 0;  // in the process's tree of stacks
  uint64_t address = 0;
  symbols::AddressKind kind = symbols::AddressKind::kReturn;
  uint32_t module = 0;  // into LineJob::modules
  uint64_t start = 0;   // of its method's code
  uint32_t token = 0;   // MethodDef; 0: not known
  // Of the method as the runtime writes them, where the token is not known.
  std::string owner, name;
  bool precompiled = false;
  symbols::MapOf map_of = symbols::MapOf::kOptimisedCode;
  // Where its file is mapped, if it is.
  std::optional<uint64_t> file_offset;
  std::optional<std::vector<profile::IlMapPoint>> map;
  int32_t il_offset = -1;  // it is known already, and only the line is not
  uint32_t il_next = ~0u;  // … and where its code ends
};

struct LineJob {
  std::vector<LineModule> modules;
  std::vector<LineRequest> requests;
  // Nothing better comes: a method's first line is better than none.
  bool last = false;
};

struct LineFile {
  std::string path, hash, url, text;  // as profile::SourceFile has them
};

struct LineAnswer {
  uint32_t address_index = 0;
  int32_t il_offset = -1;
  uint32_t il_next = ~0u;
  uint32_t file = 0;  // into LineAnswers::files + 1; 0: no line
  uint32_t line = 0;
  profile::Place::Sure sure = profile::Place::Sure::kExact;
};

struct LineAnswers {
  std::vector<LineFile> files;
  std::vector<LineAnswer> answers;
  std::vector<std::string> no_pdb;  // paths of modules that have none
  // Sentences about modules of the program's own that have no lines.
  std::vector<std::string> without;
};

}  // namespace clrscope::places
