// SPDX-License-Identifier: Apache-2.0
// Somebody else's profiler, as small as one can be: it loads, asks for nothing and stays. For tests of
// what happens when the only slot is taken.
#include <stddef.h>
#include <stdint.h>

enum { kOk = 0, kSlots = 98 };  // IUnknown's 3 and the 95 of ICorProfilerCallback … 11

typedef struct Object {
  void** methods;
} Object;

static int32_t Ok(void) { return kOk; }
static int32_t Count(void) { return 2; }  // never freed
static int32_t LoadAsNotificationOnly(Object* self, int32_t* notification_only) {
  (void)self;
  *notification_only = 0;
  return kOk;
}

static int32_t QueryInterface(Object* self, const void* iid, void** out) {
  (void)iid;
  *out = self;
  return kOk;
}

static void* callback_methods[kSlots];
static Object callback = {callback_methods};

static int32_t CreateInstance(Object* self, Object* outer, const void* iid, void** out) {
  (void)self, (void)outer, (void)iid;
  *out = &callback;
  return kOk;
}

int32_t DllGetClassObject(const void* clsid, const void* iid, void** out) {
  (void)clsid, (void)iid;
  static void* factory_methods[5];
  static Object factory = {factory_methods};
  for (size_t i = 0; i < kSlots; ++i) callback_methods[i] = (void*)Ok;
  callback_methods[0] = factory_methods[0] = (void*)QueryInterface;
  callback_methods[1] = factory_methods[1] = (void*)Count;
  callback_methods[2] = factory_methods[2] = (void*)Count;
  callback_methods[kSlots - 1] = (void*)LoadAsNotificationOnly;
  factory_methods[3] = (void*)CreateInstance;
  factory_methods[4] = (void*)Ok;
  *out = &factory;
  return kOk;
}
