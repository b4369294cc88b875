// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/code/code_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analysis/families/intern_utf16.h"
#include "base/hex.h"
#include "clr/code_events.h"

namespace clrscope::analysis {

bool CodeFold::OnMethod(const clr::RawEvent& event, int64_t now_ns, StringPool& strings,
                        profile::ProcessTables& tables) {
  clr::MethodRecord m;
  if (!clr::Decode(event, m)) {
    tables.losses.Add(Loss::kUnsupportedVersion);
    return false;
  }
  // In rundowns the ids of unload mean "is there at the end", so only live unloads end anything.
  const clr::EventTag tag = event.kind->tag;
  if (tag == clr::EventTag::kMethodUnload || tag == clr::EventTag::kMethodUnloadVerbose) {
    if (listener_ != nullptr) listener_->OnUnload({m.start, m.size, m.method_id, now_ns});
    tables.code.Unload(m.start, m.method_id, now_ns);
    return tables.stacks.Retire(m.start, m.size);
  }
  if (listener_ != nullptr && m.size != 0 &&
      (m.flags & (clr::method_flags::kJitted | clr::method_flags::kDynamic)) != 0)
    listener_->OnMethod(
        {m.start, m.size, m.method_id, tag == clr::EventTag::kMethodLoadVerbose ? now_ns : -1});
  if (tables.il_maps != nullptr) tables.il_maps->NoteVersion(m.start, m.method_id, m.rejit_id);
  if (m.size == 0 || tables.code.Knows(m.start, m.size, m.method_id)) return false;
  const bool live = tag == clr::EventTag::kMethodLoadVerbose;
  profile::MethodCode code;
  code.start = m.start;
  code.size = m.size;
  code.token = m.token;
  code.flags = m.flags;
  code.method_id = m.method_id;
  code.module_id = m.module_id;
  code.owner = InternUtf16(m.owner, strings, scratch_);
  code.name = InternUtf16(m.name, strings, scratch_);
  code.signature = InternUtf16(m.signature, strings, scratch_);
  code.load_ns = live ? now_ns : profile::kAlways;
  tables.code.Add(code);
  // Addresses seen there before belonged to somebody else.
  return live && tables.stacks.Retire(m.start, m.size);
}

void CodeFold::OnEntryPoint(const clr::RawEvent& event, StringPool& strings,
                            profile::ProcessTables& tables) {
  clr::R2rEntryPoint e;
  if (!clr::Decode(event, e)) return tables.losses.Add(Loss::kUnsupportedVersion);
  if (e.entry == 0) return;
  profile::MethodCode code;
  code.start = e.entry;
  code.method_id = e.method_id;
  code.owner = InternUtf16(e.owner, strings, scratch_);
  code.name = InternUtf16(e.name, strings, scratch_);
  code.signature = InternUtf16(e.signature, strings, scratch_);
  tables.code.AddEntry(code);
}

void CodeFold::OnModule(const clr::RawEvent& event, StringPool& strings,
                        profile::ProcessTables& tables) {
  clr::ModuleRecord m;
  if (!clr::Decode(event, m)) return tables.losses.Add(Loss::kUnsupportedVersion);
  profile::ModuleImage image;
  image.id = m.module_id;
  image.path = InternUtf16(m.il_path, strings, scratch_);
  image.native_path = InternUtf16(m.native_path, strings, scratch_);
  if (m.pdb_signature.size() == 16 && std::any_of(m.pdb_signature.begin(), m.pdb_signature.end(),
                                                  [](std::byte b) { return b != std::byte{0}; }))
    image.mvid = strings.Intern(HexText(m.pdb_signature));
  tables.code.AddModule(image);
}

void CodeFold::OnIlMap(const clr::RawEvent& event, profile::ProcessTables& tables) {
  if (tables.il_maps == nullptr) return;
  clr::IlToNativeMap map;
  if (!clr::Decode(event, map)) return tables.losses.Add(Loss::kUnsupportedVersion);
  std::vector<profile::IlMapPoint> points(map.count);
  for (size_t i = 0; i < points.size(); ++i)
    points[i] = {LoadAt<uint32_t>(map.native_offsets.data() + 4 * i),
                 LoadAt<int32_t>(map.il_offsets.data() + 4 * i)};
  if (!tables.il_maps->Add(map.method_id, map.rejit_id, points))
    tables.losses.Add(Loss::kIlMapsCapped);
}

void CodeFold::OnAssemblyUnload(const clr::RawEvent& event, profile::ProcessTables& tables) {
  // At its end a process says so of all its assemblies; only a collectible one is unloaded before,
  // and then the runtime forgets what it has gathered of all types.
  constexpr uint32_t kCollectible = 8;
  clr::AssemblyRecord assembly;
  if (clr::Decode(event, assembly) && (assembly.flags & kCollectible) != 0) ++tables.counting.gaps;
}

void CodeFold::OnRuntimeStart(const clr::RawEvent& event, StringPool& strings,
                              profile::ProcessTables& tables) {
  clr::RuntimeStart start;
  if (!clr::Decode(event, start)) return;
  tables.info.gc.startup_flags = start.startup_flags;
  const uint16_t* v = start.clr_version;
  if (tables.info.runtime.value == 0)
    // Since .NET 5 the third number is that of the file version: patch * 100 + year's last digits,
    // 25 of 10.0.0.
    // .NET Core 3, the first to write nettrace, has 4.0.30319 in all of its versions.
    tables.info.runtime = strings.Intern(
        v[0] == 4 ? ".NET Core 3" : fmt::format(".NET {}.{}.{}", v[0], v[1], v[2] / 100));
  if (tables.info.command_line.value == 0)
    tables.info.command_line = InternUtf16(start.command_line, strings, scratch_);
}

void CodeFold::OnProcessInfo(const clr::RawEvent& event, StringPool& strings,
                             profile::ProcessTables& tables) {
  clr::ProcessInfoRecord info;
  if (!clr::Decode(event, info)) return;
  if (tables.info.command_line.value == 0)
    tables.info.command_line = InternUtf16(info.command_line, strings, scratch_);
  tables.info.os = InternUtf16(info.os, strings, scratch_);
  tables.info.arch = InternUtf16(info.arch, strings, scratch_);
}

}  // namespace clrscope::analysis
