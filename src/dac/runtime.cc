// SPDX-License-Identifier: Apache-2.0
#include "dac/runtime.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/file_name.h"
#include "base/utf.h"
#include "dac/guarded.h"

namespace clrscope::dac {
namespace {

constexpr size_t kMaxName = 2048;
constexpr size_t kMaxString = 512;

using CreateInstance = HResult (*)(const Guid& iid, ICLRDataTarget* target, void** out);
using DllMain = int32_t (*)(void* module, uint32_t reason, void* reserved);
constexpr uint32_t kProcessAttach = 1;

}  // namespace

std::string Utf8(const char16_t* text, size_t limit) {
  size_t units = 0;
  while (units < limit && text[units] != 0) ++units;
  return ToUtf8(Utf16View{reinterpret_cast<const std::byte*>(text), units});
}

std::string Runtime::Load(const char* library) {
  CatchFaults();
  void* module = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return ::dlerror();
  // Some versions initialise their platform layer here. Source: microsoft/clrmd, DacLibrary.cs
  if (::dlsym(module, "DAC_PAL_InitializeDLL") != nullptr ||
      ::dlsym(module, "PAL_InitializeDLL") != nullptr) {
    const auto main = reinterpret_cast<DllMain>(::dlsym(module, "DllMain"));
    if (main != nullptr) main(module, kProcessAttach, nullptr);
  }
  const auto create = reinterpret_cast<CreateInstance>(::dlsym(module, "CLRDataCreateInstance"));
  if (create == nullptr) return "it has no CLRDataCreateInstance";
  HResult hr = kFail;
  const uint64_t faults = Faults();
  if (!Succeeds([&] { return hr = create(kProcessIid, &target_, process_.raw_out()); }) ||
      !Succeeds([&] { return hr = process_->QueryInterface(kSosIid, sos_.raw_out()); })) {
    if (Faults() != faults) return "it faults at its start";
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "it answers 0x%08x", static_cast<unsigned>(hr));
    return text.data();
  }
  if (!Succeeds([&] { return process_->QueryInterface(kSos8Iid, sos8_.raw_out()); })) sos8_.out();
  if (!Succeeds([&] { return process_->QueryInterface(kSos14Iid, sos14_.raw_out()); }))
    sos14_.out();
  return "";
}

Runtime::ThreadList Runtime::ThreadsOnce() {
  ThreadList list;
  ThreadStoreData store;
  if (!Succeeds([&] { return sos_->GetThreadStoreData(&store); })) return list;
  finalizer_ = store.finalizer;
  Thread t;
  for (t.object = store.first; t.object != 0 && list.threads.size() < kMaxThreads;
       t.object = t.data.next) {
    if (!Succeeds([&] { return sos_->GetThreadData(t.object, &t.data); })) return list;
    list.threads.push_back(t);
  }
  list.whole = true;
  return list;
}

Runtime::ThreadList Runtime::Threads() {
  ThreadList list = ThreadsOnce();
  for (int i = 1; i < kReadings && !list.whole; ++i) {
    Forget();
    ThreadList again = ThreadsOnce();
    if (again.whole || again.threads.size() > list.threads.size()) list = std::move(again);
  }
  return list;
}

void Runtime::Forget() {
  remote_.Forget();
  Succeeds([&] { return process_->Flush(); });
}

Runtime::ThreadList Runtime::ThreadsOfSnapshot() {
  Forget();
  ThreadList list = Threads();
  managed_mode_.clear();
  for (const Thread& t : list.threads)
    if (t.data.preemptive_disabled != 0) managed_mode_.insert(t.data.os_id);
  return list;
}

Address Runtime::CoreModule() {
  UsefulGlobals globals;
  MethodTableData object;
  if (!Succeeds([&] { return sos_->GetUsefulGlobals(&globals); }) ||
      !Succeeds([&] { return sos_->GetMethodTableData(globals.object, &object); }))
    return 0;
  return object.module;
}

std::string Runtime::MethodName(Address method) {
  const auto [at, fresh] = methods_.try_emplace(method);
  if (!fresh) return at->second;
  std::array<char16_t, kMaxName> name{};
  uint32_t needed = 0;
  if (Succeeds([&] { return sos_->GetMethodDescName(method, kMaxName - 1, name.data(), &needed); }))
    at->second = Utf8(name.data(), kMaxName);
  return at->second;
}

std::string Runtime::TypeName(Address type) {
  const auto [at, fresh] = types_.try_emplace(type);
  if (!fresh) return at->second;
  std::array<char16_t, kMaxName> name{};
  uint32_t needed = 0;
  if (Succeeds([&] { return sos_->GetMethodTableName(type, kMaxName - 1, name.data(), &needed); }))
    at->second = Utf8(name.data(), kMaxName);
  return at->second;
}

Address Runtime::TypeOfMethod(Address method) {
  MethodDescData data;
  uint32_t needed = 0;
  return Succeeds([&] { return sos_->GetMethodDescData(method, 0, &data, 0, nullptr, &needed); })
             ? data.type
             : 0;
}

std::string Runtime::ModuleOf(Address method) {
  const auto [of_method, unasked] = module_of_.try_emplace(method);
  uint32_t needed = 0;
  if (unasked) {
    MethodDescData data;
    if (Succeeds([&] { return sos_->GetMethodDescData(method, 0, &data, 0, nullptr, &needed); }))
      of_method->second = data.module;
  }
  if (of_method->second == 0) return "";
  const auto [at, fresh] = modules_.try_emplace(of_method->second);
  if (!fresh) return at->second;
  ModuleData module;
  std::array<char16_t, kMaxName> name{};
  if (Succeeds([&] { return sos_->GetModuleData(of_method->second, &module); }) && Succeeds([&] {
        return sos_->GetPEFileName(module.file, kMaxName - 1, name.data(), &needed);
      }))
    at->second = FileNameOf(Utf8(name.data(), kMaxName));
  return at->second;
}

// A string is its type, its length and its characters.
std::string Runtime::StringAt(Address object) {
  int32_t length = 0;
  if (object == 0 || !remote_.Get(object + 8, &length) || length <= 0) return "";
  const size_t count = std::min(static_cast<size_t>(length), kMaxString);
  std::array<char16_t, kMaxString> text{};
  const uint32_t read =
      remote_.Read(object + 12, text.data(), static_cast<uint32_t>(count * sizeof text[0]));
  return Utf8(text.data(), read / sizeof text[0]);
}

}  // namespace clrscope::dac
