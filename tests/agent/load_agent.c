// SPDX-License-Identifier: Apache-2.0
// Loads the agent's library as a runtime does: on a thread, late, with all of its symbols at once; and has it make
// what the runtime talks to.
//   load_agent LIBRARY
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
  uint8_t bytes[16];
} Guid;
typedef struct Object {
  void** methods;
} Object;

static const Guid kAgent = {{0xE5, 0x0B, 0x5C, 0xC1, 0x61, 0x9A, 0x7E, 0x4B, 0x8E, 0x5D, 0x2F, 0x1F, 0x0A, 0x0C, 0x1A, 0x57}};
static const Guid kClassFactory = {{1, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
static const Guid kUnknown = {{0, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

static const char* Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return dlerror();
  int32_t (*get)(const Guid*, const Guid*, void**) =
      (int32_t(*)(const Guid*, const Guid*, void**))(intptr_t)dlsym(library, "DllGetClassObject");
  if (get == NULL) return "there is no DllGetClassObject";
  void* none = NULL;
  if (get(&kUnknown, &kClassFactory, &none) == 0) return "it takes a class for its own that it does not have";
  Object* factory = NULL;
  if (get(&kAgent, &kClassFactory, (void**)&factory) != 0) return "it does not know its class";
  Object* callback = NULL;
  // The slot after those of IUnknown: CreateInstance.
  int32_t (*create)(Object*, Object*, const Guid*, void**) =
      (int32_t(*)(Object*, Object*, const Guid*, void**))(intptr_t)factory->methods[3];
  if (create(factory, NULL, &kUnknown, (void**)&callback) != 0 || callback == NULL) return "it makes no callback";
  uint32_t (*release)(Object*) = (uint32_t(*)(Object*))(intptr_t)callback->methods[2];
  release(callback);
  return "";
}

static void* OnThread(void* path) { return (void*)(intptr_t)Load(path); }

int main(int argc, char** argv) {
  pthread_t thread;
  void* said = NULL;
  if (argc != 2 || pthread_create(&thread, NULL, OnThread, argv[1]) != 0) return 2;
  pthread_join(thread, &said);
  if (*(const char*)said == 0) return 0;
  printf("%s: %s\n", argv[1], (const char*)said);
  return 1;
}
