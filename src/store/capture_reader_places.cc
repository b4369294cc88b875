// SPDX-License-Identifier: Apache-2.0
// Source lines and functions of native code.
#include <algorithm>

#include "store/capture_reader.h"

namespace clrscope::store {

Status CaptureReader::LoadPlaces() {
  ASSIGN_OR_RETURN(const bool there, HasTable("place"));
  if (!there) return OkStatus();
  StringPool& s = recording_.strings;
  // In a damaged file a number may be any.
  std::vector<std::vector<uint32_t>> files(recording_.processes.size());
  ASSIGN_OR_RETURN(
      Statement f,
      db_.Prepare("select process,id,path,hash,url,text from source_file order by id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, f.Step());
    if (!row) break;
    profile::ProcessTables* const t = Process(f.Int(0));
    if (t == nullptr) continue;
    std::vector<uint32_t>& of = files[static_cast<size_t>(f.Int(0))];
    if (f.Int(1) != static_cast<int64_t>(of.size()) + 1) continue;
    of.push_back(t->places.FileOf(
        {s.Intern(f.Text(2)), s.Intern(f.Text(3)), s.Intern(f.Text(4)), s.Intern(f.Text(5))}));
  }
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare(
          "select process,address,symbol,il_offset,il_next,file,line,approximate from place"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* const t = Process(q.Int(0));
    if (t == nullptr) continue;
    const int64_t address = q.Int(1), file = q.Int(5);
    if (address < 0 || address >= static_cast<int64_t>(t->stacks.addresses().size())) continue;
    const std::vector<uint32_t>& of = files[static_cast<size_t>(q.Int(0))];
    profile::Place place;
    place.symbol = s.Intern(q.Text(2));
    place.il_offset = static_cast<int32_t>(q.Int(3));
    place.il_next = static_cast<uint32_t>(q.Int(4));
    if (file > 0 && file <= static_cast<int64_t>(of.size())) {
      place.file = of[static_cast<size_t>(file) - 1];
      place.line = static_cast<uint32_t>(q.Int(6));
    }
    constexpr auto kLast = static_cast<int64_t>(profile::Place::Sure::kAfterThrow);
    place.sure = static_cast<profile::Place::Sure>(std::clamp(q.Int(7), int64_t{0}, kLast));
    t->places.Set(static_cast<uint32_t>(address), place);
  }
}

}  // namespace clrscope::store
