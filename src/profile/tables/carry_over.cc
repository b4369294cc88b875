// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/carry_over.h"

namespace clrscope::profile {

void CarryOver(const ProcessTables& from, const StringPool& from_strings, int64_t shift_ns,
               ProcessTables& to, StringPool& to_strings) {
  const auto copy = [&](StringId id) { return to_strings.Intern(from_strings.Get(id)); };
  to.info = from.info;
  to.info.name = copy(from.info.name);
  to.info.command_line = copy(from.info.command_line);
  to.info.runtime = copy(from.info.runtime);
  to.info.os = copy(from.info.os);
  to.info.arch = copy(from.info.arch);
  to.info.main_module = copy(from.info.main_module);
  to.info.start_ns = to.info.end_ns = 0;
  to.info.complete = false;
  to.info.memory.clear();
  to.info.gc = from.info.gc.Settings();
  to.pointer_size = from.pointer_size;
  for (const ModuleImage& m : from.code.modules())
    to.code.AddModule({m.id, copy(m.path), copy(m.native_path), copy(m.mvid)});
  from.code.ForEach([&](uint32_t index, const MethodCode& m) {
    if (from.code.unloaded(index)) return;
    MethodCode moved = m;
    moved.owner = copy(m.owner);
    moved.name = copy(m.name);
    moved.signature = copy(m.signature);
    if (m.load_ns != kAlways) moved.load_ns -= shift_ns;
    if (m.size == 0)
      to.code.AddEntry(moved);
    else
      to.code.Add(moved);
  });
  for (const Image& image : from.images.images()) {
    if (image.to_ns != kNever) continue;
    Image moved = image;
    moved.path = copy(image.path);
    moved.build_id = copy(image.build_id);
    if (image.from_ns != kAlways) moved.from_ns -= shift_ns;
    to.images.Restore(moved);
  }
  to.images.LookAgain(0);
  to.il_maps = from.il_maps;
}

}  // namespace clrscope::profile
