// SPDX-License-Identifier: Apache-2.0
// Code of one module → IL → source lines, by its image and its PDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "places/line_job.h"
#include "places/source_link.h"
#include "symbol_files/module_files.h"
#include "symbol_files/pdb_finder.h"
#include "symbols/lines/line_lookup.h"
#include "symbols/metadata/metadata.h"
#include "symbols/pdb/portable_pdb.h"
#include "symbols/pe/pe_image.h"
#include "symbols/r2r/r2r_code.h"

namespace clrscope::places {

class ModuleSymbols {
 public:
  // Reads what there is of `module`; what is not there, or damaged, knows nothing.
  ModuleSymbols(const LineModule& module, const symbol_files::ModuleFiles& files,
                const symbol_files::PdbFinder& pdbs);

  bool has_pdb() const { return pdb_.has_value(); }
  // Why there is none.
  const std::string& no_pdb() const { return no_pdb_; }

  struct Il {
    uint32_t token = 0;   // 0: no method is known there
    int32_t offset = -1;  // below 0: not known
    uint32_t next = ~0u;  // the next one that has code of its own
  };
  // Of precompiled code.
  Il PrecompiledIl(const LineRequest& request);

  struct Line {
    uint32_t document = 0;  // row; 0: none
    uint32_t line = 0;
    profile::Place::Sure sure = profile::Place::Sure::kExact;
  };
  Line LineAt(const Il& il, const LineRequest& request);
  Line FirstLineOf(uint32_t token);
  // Of a document's row. errors: kNotFound, kCorrupt
  Result<LineFile> FileOf(uint32_t document) const;

 private:
  const std::vector<symbols::SequencePoint>& PointsOf(uint32_t token);
  bool IsStateMachine(uint32_t token) const;  // of an async method or an iterator
  // The one method of that name; 0: there is none, or there are several.
  uint32_t TokenOfName(std::string_view owner, std::string_view name);
  // Empty where it is not at hand.
  const symbols::IlCode& CodeOf(uint32_t token);
  void FindBase(const LineModule& module);
  std::optional<uint32_t> RvaOf(const LineRequest& request) const;

  std::vector<std::byte> image_bytes_, pdb_bytes_;
  std::optional<symbols::PeImage> image_;
  std::optional<symbols::Metadata> metadata_;
  std::optional<symbols::R2rCode> code_;
  std::optional<uint64_t> base_;  // where the image lies
  std::optional<symbols::PortablePdb> pdb_;
  std::string no_pdb_;
  SourceLink links_;
  std::unordered_map<uint32_t, std::vector<symbols::SequencePoint>> points_;  // by token
  std::unordered_map<uint32_t, symbols::IlCode> codes_;                       // by token
  std::unordered_map<uint32_t, symbols::IlMap> maps_;                         // by main function
  std::unordered_map<uint32_t, uint32_t> token_of_function_;
  bool tokens_read_ = false;
  std::map<std::pair<std::string, std::string>, uint32_t> token_of_name_;
};

}  // namespace clrscope::places
