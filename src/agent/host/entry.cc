// SPDX-License-Identifier: Apache-2.0
// What the runtime asks the library for, and the only symbol that it exports.
#include <new>

#include "agent/host/callback.h"

namespace clrscope::agent {
namespace {

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class Factory final : public IClassFactory {
 public:
  HResult QueryInterface(const Guid& iid, void** out) override {
    const bool known = iid == kUnknownIid || iid == kClassFactoryIid;
    *out = known ? static_cast<IClassFactory*>(this) : nullptr;
    return known ? kOk : kNoInterface;
  }
  uint32_t AddRef() override { return 2; }  // it is never freed
  uint32_t Release() override { return 1; }
  // Called for an attach that the runtime is about to refuse, too: it must disturb nothing.
  HResult CreateInstance(IUnknown*, const Guid& iid, void** out) override {
    auto* callback = new (std::nothrow) Callback;
    if (callback == nullptr) return kFail;
    const HResult hr = callback->QueryInterface(iid, out);
    callback->Release();
    return hr;
  }
  HResult LockServer(int32_t) override { return kOk; }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace
}  // namespace clrscope::agent

extern "C" __attribute__((visibility("default"))) int32_t DllGetClassObject(
    const clrscope::Guid& clsid, const clrscope::Guid& iid, void** out) {
  using namespace clrscope;  // NOLINT(google-build-using-namespace)
  // As the CLI's: {C15C0BE5-9A61-4B7E-8E5D-2F1F0A0C1A57}.
  constexpr Guid kClsid = {
      0xC15C0BE5, 0x9A61, 0x4B7E, {0x8E, 0x5D, 0x2F, 0x1F, 0x0A, 0x0C, 0x1A, 0x57}};
  static agent::Factory factory;
  *out = nullptr;
  return clsid == kClsid ? factory.QueryInterface(iid, out) : kClassNotAvailable;
}
