// SPDX-License-Identifier: Apache-2.0
#include "clr/method_name.h"

#include <algorithm>
#include <vector>

#include "clr/type_name.h"

namespace clrscope::clr {
namespace {

// "__0" → "0", "__98_1" → "1": a lambda's ordinal in its method.
std::string_view Ordinal(std::string_view rest) {
  const size_t at = rest.find_last_of('_');
  return at == std::string_view::npos ? rest : rest.substr(at + 1);
}

// The part of a method's name: itself, or what the compiler made it from.
std::string ReadableMethod(std::string_view name) {
  CompilerName c;
  if (!ParseCompilerName(name, c)) return std::string(name);
  if (c.kind == 'b') return ReadableMethod(c.method) + ".λ" + std::string(Ordinal(c.rest));
  if (c.kind == 'g') {
    std::string_view local = c.rest.starts_with("__") ? c.rest.substr(2) : c.rest;
    local = local.substr(0, local.find('|'));
    return ReadableMethod(c.method) + "." + std::string(local);
  }
  return std::string(name);
}

// Splits "A.B`1+C+<M>d__5[args]" into its enclosing type "A.B`1+C" and last component "<M>d__5".
struct Owner {
  std::string_view outer, last, arguments;
};
Owner SplitOwner(std::string_view owner) {
  Owner out;
  int depth = 0;
  size_t end = owner.size(), plus = std::string_view::npos;
  for (size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == '\\') {
      ++i;  // what follows is part of a name
      continue;
    }
    if (owner[i] == '<') ++depth;
    if (owner[i] == '>') --depth;
    if (depth > 0) continue;
    if (owner[i] == '[') {
      end = i;
      break;
    }
    if (owner[i] == '+') plus = i;
  }
  out.arguments = owner.substr(end);
  if (plus == std::string_view::npos) {
    out.last = owner.substr(0, end);
  } else {
    out.outer = owner.substr(0, plus);
    out.last = owner.substr(plus + 1, end - plus - 1);
  }
  return out;
}

std::string_view WithoutArity(std::string_view component) {
  return component.substr(0, component.rfind('`'));
}

bool IsClosure(std::string_view component) {
  return component == "<>c" || component.starts_with("<>c__DisplayClass") ||
         component.starts_with("<>c__");
}

// The Visual Basic compiler's state machines are types "VB$StateMachine_N_NAME": the NAME, empty
// for any other type.
std::string_view BasicMachine(std::string_view component) {
  constexpr std::string_view kPrefix = "VB$StateMachine_";
  if (!component.starts_with(kPrefix)) return {};
  const size_t end = component.find('_', kPrefix.size());
  return end == std::string_view::npos ? std::string_view{} : component.substr(end + 1);
}

// Its closures are types "_Closure$__…" with methods "_Lambda$__N", which do not say where they
// are.
std::string BasicLambda(std::string_view name) {
  constexpr std::string_view kPrefix = "_Lambda$__";
  return name.starts_with(kPrefix) ? "λ" + std::string(name.substr(kPrefix.size()))
                                   : std::string(name);
}

std::string MachineSuffix(std::string_view signature) {
  const bool iterator = signature.find("bool") < signature.find('(');
  return iterator ? " [iterator]" : " [async]";
}

// The F# compiler's closures and state machines are types "NAME@LINE" or "NAME@LINE-N", after the
// function or value that they were made from: the length of NAME, 0 for any other type.
size_t FsharpNameLength(std::string_view component) {
  const size_t at = component.rfind('@');
  if (at == std::string_view::npos || at + 1 == component.size()) return 0;
  const std::string_view line = component.substr(at + 1);
  return line.find_first_not_of("0123456789-") == std::string_view::npos ? at : 0;
}

// What such a method was made from: "work@8.MoveNext", "orders@9.GenerateNext", "main@20-1.Invoke".
std::string FsharpMethod(std::string_view component, size_t name_length, std::string_view method) {
  const std::string made_from = UnescapedName(component.substr(0, name_length));
  if (method == "MoveNext") return made_from + " [async]";
  if (method == "GenerateNext") return made_from + " [iterator]";
  if (method == "Invoke") return made_from + ".λ" + std::string(component.substr(name_length + 1));
  return made_from + "." + std::string(method);
}

// Type arguments belong to the flat list at the owner's end. An enclosing type takes as many as it
// and its own owners declare; the rest were the dropped component's.
std::string OuterName(std::string_view outer, std::string_view arguments) {
  size_t arity = 0;
  for (size_t i = 0; i < outer.size(); ++i) {
    if (outer[i] != '`') continue;
    size_t n = 0;
    while (i + 1 < outer.size() && outer[i + 1] >= '0' && outer[i + 1] <= '9')
      n = n * 10 + static_cast<size_t>(outer[++i] - '0');
    arity += n;
  }
  if (arity == 0 || arguments.size() < 2) return CsharpTypeName(outer);
  int depth = 0;
  size_t commas = 0, end = arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == '\\') {
      ++i;  // what follows is part of a name
      continue;
    }
    if (arguments[i] == '[' || arguments[i] == '<') ++depth;
    if (arguments[i] == ']' || arguments[i] == '>') --depth;
    if ((arguments[i] == ',' && depth == 1 && ++commas == arity) || depth == 0) {
      end = i;
      break;
    }
  }
  return CsharpTypeName(std::string(outer) + std::string(arguments.substr(0, end)) + "]");
}

}  // namespace

std::string RawMethodName(std::string_view owner, std::string_view name,
                          std::string_view signature) {
  std::string out;
  const size_t parens = signature.find('(');
  out.reserve(owner.size() + name.size() + signature.size() + 1);
  out.append(owner).append(".").append(name);
  if (parens != std::string_view::npos) out.append(signature.substr(parens));
  return out;
}

std::string CsharpMethodName(std::string_view owner, std::string_view name,
                             std::string_view signature) {
  if (owner == "dynamicClass" || owner.empty()) return "[dynamic] " + std::string(name);
  const Owner parts = SplitOwner(owner);
  CompilerName machine;
  const std::string_view last = WithoutArity(parts.last);
  if (!parts.outer.empty() && ParseCompilerName(last, machine) && machine.kind == 'd') {
    // The enclosing type of an async lambda's machine is the closure: step over that too.
    Owner outer = SplitOwner(parts.outer);
    std::string type = IsClosure(WithoutArity(outer.last)) && !outer.outer.empty()
                           ? OuterName(outer.outer, parts.arguments)
                           : OuterName(parts.outer, parts.arguments);
    std::string out = type + "." + ReadableMethod(UnescapedName(machine.method));
    if (name == "MoveNext") return out + MachineSuffix(signature);
    return out + "." + std::string(name);
  }
  if (const std::string_view made_from = BasicMachine(last);
      !made_from.empty() && !parts.outer.empty()) {
    const std::string out = OuterName(parts.outer, parts.arguments) + "." + std::string(made_from);
    return name == "MoveNext" ? out + MachineSuffix(signature) : out + "." + std::string(name);
  }
  if (!parts.outer.empty() && last.starts_with("_Closure$__"))
    return OuterName(parts.outer, parts.arguments) + "." + BasicLambda(name);
  if (const size_t length = FsharpNameLength(last); length != 0 && !parts.outer.empty())
    return OuterName(parts.outer, parts.arguments) + "." + FsharpMethod(last, length, name);
  if (!parts.outer.empty() && IsClosure(last))
    return OuterName(parts.outer, parts.arguments) + "." + ReadableMethod(name);
  return CsharpTypeName(owner) + "." + ReadableMethod(name);
}

MethodNameParts SplitRawMethodName(std::string_view raw) {
  const std::string_view whole = raw.substr(0, raw.find('('));
  size_t dot = whole.rfind('.');
  if (dot == std::string_view::npos) return {{}, whole};
  if (dot > 0 && whole[dot - 1] == '.') --dot;  // a constructor
  return {whole.substr(0, dot), whole.substr(dot + 1)};
}

bool IsMachinery(std::string_view owner, std::string_view name) {
  // Owners whose every method is plumbing, by the start of their name.
  static constexpr std::string_view kOwners[] = {
      "System.Runtime.CompilerServices.AsyncMethodBuilderCore",
      "System.Runtime.CompilerServices.AsyncTaskMethodBuilder",
      "System.Runtime.CompilerServices.AsyncValueTaskMethodBuilder",
      "System.Runtime.CompilerServices.AsyncVoidMethodBuilder",
      "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder",
      "System.Runtime.CompilerServices.TaskAwaiter",
      "System.Runtime.CompilerServices.AsyncHelpers",
      "System.Threading.ExecutionContext",
      "System.Threading.ThreadPoolWorkQueue",
      "System.Threading.PortableThreadPool+WorkerThread",
      "System.Threading.Tasks.AwaitTaskContinuation",
      "System.Threading.Tasks.TaskContinuation",
      "System.Threading.Tasks.ThreadPoolTaskScheduler",
      "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
      "System.Threading.Tasks.UnwrapPromise",
  };
  for (const std::string_view o : kOwners)
    if (owner.starts_with(o)) return true;
  if (owner.starts_with("System.Threading.Tasks.Task")) {
    static constexpr std::string_view kNames[] = {"ExecuteWithThreadLocal",
                                                  "ExecuteEntryUnsafe",
                                                  "ExecuteEntry",
                                                  "ExecuteFromThreadPool",
                                                  "InnerInvoke",
                                                  "RunContinuations",
                                                  "FinishContinuations",
                                                  "Finish",
                                                  "FinishStageTwo",
                                                  "FinishStageThree",
                                                  "TrySetResult",
                                                  "RunOrScheduleAction",
                                                  "InternalRunSynchronously",
                                                  "ScheduleAndStart"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }
  if (owner == "System.Threading.Thread" || owner == "System.Threading.Thread+StartHelper")
    return name == "StartCallback" || name == "Run" || name == "RunWorker" || name == "StartHelper";
  return false;
}

}  // namespace clrscope::clr
