// SPDX-License-Identifier: Apache-2.0
// What every COM interface of the runtime begins with. On Linux its vtables are those of the
// Itanium C++ ABI, without a destructor's slots: interfaces have no virtual destructor.
#pragma once

#include <cstdint>

#include "base/guid.h"

namespace clrscope {

using HResult = int32_t;
inline constexpr HResult kOk = 0;
inline constexpr HResult kNotImplemented = static_cast<HResult>(0x80004001u);
inline constexpr HResult kNoInterface = static_cast<HResult>(0x80004002u);
inline constexpr HResult kFail = static_cast<HResult>(0x80004005u);
inline constexpr HResult kAbort = static_cast<HResult>(0x80004004u);
inline constexpr HResult kClassNotAvailable = static_cast<HResult>(0x80040111u);
// CORPROF_E_PROFILER_CANCEL_ACTIVATION: not loaded, and nothing is logged as an error.
inline constexpr HResult kCancelActivation = static_cast<HResult>(0x80131375u);

inline bool Succeeded(HResult hr) { return hr >= 0; }

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class IUnknown {
 public:
  virtual HResult QueryInterface(const Guid& iid, void** out) = 0;
  virtual uint32_t AddRef() = 0;
  virtual uint32_t Release() = 0;

 protected:
  ~IUnknown() = default;
};

class IClassFactory : public IUnknown {
 public:
  virtual HResult CreateInstance(IUnknown* outer, const Guid& iid, void** out) = 0;
  virtual HResult LockServer(int32_t lock) = 0;
};
// NOLINTEND(readability-identifier-naming)

inline constexpr Guid kUnknownIid = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
inline constexpr Guid kClassFactoryIid = {1, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

// Owns one reference.
template <class T>
class ComPtr {
 public:
  ComPtr() = default;
  explicit ComPtr(T* owned) : p_(owned) {}
  ComPtr(ComPtr&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  ComPtr& operator=(ComPtr&& o) noexcept {
    if (this != &o) {
      Reset();
      p_ = o.p_;
      o.p_ = nullptr;
    }
    return *this;
  }
  ComPtr(const ComPtr&) = delete;
  ComPtr& operator=(const ComPtr&) = delete;
  ~ComPtr() { Reset(); }
  void Reset() {
    if (p_ != nullptr) p_->Release();
    p_ = nullptr;
  }
  // Where a call puts the interface that it hands out.
  T** out() {
    Reset();
    return &p_;
  }
  void** raw_out() { return reinterpret_cast<void**>(out()); }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

}  // namespace clrscope
