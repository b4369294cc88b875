// SPDX-License-Identifier: Apache-2.0
// Brings what the runtime says of methods, modules, assemblies and itself (clr/code_events.h) into
// a process's tables.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/families/code/code_listener.h"
#include "base/string_pool.h"
#include "clr/raw_event.h"
#include "profile/tables/process_tables.h"

namespace clrscope::analysis {

class CodeFold {
 public:
  // It must outlive this; null: nobody.
  void TellTo(CodeListener* listener) { listener_ = listener; }
  // MethodLoad, MethodUnload and those of rundowns. Returns whether memos of nodes are outdated, as
  // StackTree::Retire() does.
  bool OnMethod(const clr::RawEvent& event, int64_t now_ns, StringPool& strings,
                profile::ProcessTables& tables);
  void OnEntryPoint(const clr::RawEvent& event, StringPool& strings,
                    profile::ProcessTables& tables);
  void OnModule(const clr::RawEvent& event, StringPool& strings, profile::ProcessTables& tables);
  // Where source lines are asked for.
  static void OnIlMap(const clr::RawEvent& event, profile::ProcessTables& tables);
  static void OnAssemblyUnload(const clr::RawEvent& event, profile::ProcessTables& tables);
  void OnRuntimeStart(const clr::RawEvent& event, StringPool& strings,
                      profile::ProcessTables& tables);
  void OnProcessInfo(const clr::RawEvent& event, StringPool& strings,
                     profile::ProcessTables& tables);

 private:
  CodeListener* listener_ = nullptr;
  std::string scratch_;
};

}  // namespace clrscope::analysis
