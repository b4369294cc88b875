// SPDX-License-Identifier: Apache-2.0
#include "dac/thread_name.h"

namespace clrscope::dac {
namespace {

constexpr Address kThreadBytes = 0x800;  // of the runtime's Thread, whose handle lies in it

}  // namespace

// The runtime's Thread has a handle to the managed one. Which of its words it is differs from
// version to version, so it is told by what it leads to: a Thread with this thread's number.
std::string ManagedThreadName(Runtime& runtime, CoreLibrary& core, const Thread& thread) {
  const Address type = core.Type("System.Threading.Thread");
  if (type == 0) return "";
  for (Address at = thread.object; at < thread.object + kThreadBytes; at += 8) {
    const Address handle = runtime.remote().Word(at);
    if (handle < 4096 || handle % 8 != 0) continue;
    const Address object = runtime.remote().Word(handle);
    if (object < 4096 || core.TypeOf(object) != type) continue;
    uint32_t id = 0;
    const Address id_at = core.At(object, "_managedThreadId");
    if (id_at == 0 || !runtime.remote().Get(id_at, &id) || id != thread.data.managed_id) continue;
    return runtime.StringAt(core.Reference(object, "_name"));
  }
  return "";
}

}  // namespace clrscope::dac
