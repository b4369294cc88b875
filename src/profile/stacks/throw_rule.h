// SPDX-License-Identifier: Apache-2.0
// What the frames below an exception's event say: where it was thrown, and whether it had been
// thrown before. On .NET 9 and later the runtime's dispatcher lies above the throwing method, on 8
// it does not. An exception that is thrown again is an event like any other; only who throws tells:
//   ExceptionDispatchInfo.Throw   each level of await, Task.Run, and who asks for it
//   MethodBaseInvoker             .NET 9 and later: it has passed through native code, on its way
//                                 from a method that reflection called
#pragma once

#include <cstdint>
#include <string_view>

namespace clrscope::profile {

struct Throw {
  uint32_t node = 0;  // of the throwing method
  bool again = false;
};

// `node`: of the event; `type`: the exception's name. Of `stacks`: method(node), a C# name, "" for
// node 0, which is the root; parent(node); has_name(node). `dispatched`: the dispatcher was there,
// though its frames have been left out.
template <class Stacks>
Throw FindThrow(const Stacks& stacks, uint32_t node, std::string_view type, bool dispatched) {
  Throw out{node, false};
  while (stacks.method(out.node).starts_with("System.Runtime.EH.")) {
    out.node = stacks.parent(out.node);
    dispatched = true;
  }
  if (out.node == 0) return {node, false};  // nothing else is known of it
  if (stacks.method(out.node).starts_with(
          "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw"))
    return {out.node, true};
  if (!dispatched || type == "System.Reflection.TargetInvocationException") return out;
  // The stub that called the method from native code has no name.
  uint32_t caller = out.node;
  if (!stacks.has_name(caller)) caller = stacks.parent(caller);
  const std::string_view name = stacks.method(caller);
  if (name.starts_with("System.Reflection.MethodBaseInvoker.Invo") ||
      name.starts_with("System.Reflection.MethodBaseInvoker.InterpretedInvoke"))
    out.again = true;
  return out;
}

}  // namespace clrscope::profile
