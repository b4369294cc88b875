// SPDX-License-Identifier: Apache-2.0
// The runtime of the target, read through its own data access library.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/com/metadata.h"
#include "dac/com/sos.h"
#include "dac/com/xclrdata.h"
#include "dac/remote.h"
#include "dac/target.h"

namespace clrscope::dac {

struct Thread {
  Address object = 0;
  ThreadData data;
};

// How often what changes while it is read is read anew at the most.
inline constexpr int kReadings = 3;

class Runtime {
 public:
  Runtime(Remote& remote, Address runtime_base) : remote_(remote), target_(remote, runtime_base) {}

  // Loads the library and asks it for its interfaces; "" or what failed.
  std::string Load(const char* library);

  Remote& remote() { return remote_; }
  ISOSDacInterface& sos() { return *sos_.get(); }
  ISOSDacInterface8* sos8() { return sos8_.get(); }  // null: an old runtime
  ISOSDacInterface14* sos14() { return sos14_.get(); }
  IXCLRDataProcess& process() { return *process_.get(); }

  // `whole`: the list was read to its end.
  struct ThreadList {
    std::vector<Thread> threads;
    bool whole = false;
  };
  // Read again, some times, while it changes as it is read.
  ThreadList Threads();
  // Reads it all again: what was known before the snapshot may be of another moment.
  ThreadList ThreadsOfSnapshot();
  // What is read from now on is of now.
  void Forget();
  // Of the snapshot: the thread ran code that the garbage collector waits for.
  bool InManagedMode(uint32_t os_id) const { return managed_mode_.contains(os_id); }
  // The runtime's Thread that runs finalizers.
  Address FinalizerThread() const { return finalizer_; }
  // System.Private.CoreLib, 0 when it cannot be told.
  Address CoreModule();

  // Names as the runtime writes them, "" where there is none.
  std::string MethodName(Address method);
  std::string TypeName(Address type);
  // The type that a method belongs to, 0 where it cannot be read.
  Address TypeOfMethod(Address method);
  // The file's name of the method's module, without its folder.
  std::string ModuleOf(Address method);
  std::string StringAt(Address object);

 private:
  ThreadList ThreadsOnce();

  Remote& remote_;
  Target target_;
  ComPtr<IXCLRDataProcess> process_;
  ComPtr<ISOSDacInterface> sos_;
  ComPtr<ISOSDacInterface8> sos8_;
  ComPtr<ISOSDacInterface14> sos14_;
  std::set<uint32_t> managed_mode_;
  Address finalizer_ = 0;
  std::map<Address, std::string> methods_, modules_, types_;
  std::map<Address, Address> module_of_;  // method → module, 0 where it could not be read
};

// At most `limit` UTF-16 units as UTF-8.
std::string Utf8(const char16_t* text, size_t limit);

}  // namespace clrscope::dac
