// SPDX-License-Identifier: Apache-2.0
// The allocations of a real program in their order, as bench/sequence.cc reduces them from a trace:
// thread, type, size, site and when a GC found each dead, and which of them AllocationTick named in
// that very run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "profile/testing/program.h"

namespace clrscope::profile::testing {

struct RecordedTick {
  uint32_t object = 0;  // its place in the sequence
  uint32_t kind = 0;
  uint64_t size = 0, amount = 0;
};

struct Sequence {
  std::vector<SimObject> objects;
  std::vector<RecordedTick> ticks;
};

namespace internal {
inline constexpr char kSequenceMagic[] = "clrscope sequence 1\n";
using File = std::unique_ptr<FILE, int (*)(FILE*)>;
template <class T>
bool Put(FILE* f, const std::vector<T>& v) {
  const uint64_t n = v.size();
  return fwrite(&n, sizeof n, 1, f) == 1 && fwrite(v.data(), sizeof(T), n, f) == n;
}
template <class T>
bool Get(FILE* f, std::vector<T>* v) {
  uint64_t n = 0;
  if (fread(&n, sizeof n, 1, f) != 1 || n > uint64_t{1} << 28) return false;
  v->resize(n);
  return fread(v->data(), sizeof(T), n, f) == n;
}
}  // namespace internal

// A file of this machine, for this machine: the structs as they lie in memory.
inline bool WriteSequence(const std::string& path, const Sequence& s) {
  const internal::File f(fopen(path.c_str(), "wb"), fclose);
  return f != nullptr &&
         fwrite(internal::kSequenceMagic, sizeof internal::kSequenceMagic, 1, f.get()) == 1 &&
         internal::Put(f.get(), s.objects) && internal::Put(f.get(), s.ticks) &&
         fflush(f.get()) == 0;
}

inline bool ReadSequence(const std::string& path, Sequence* s) {
  const internal::File f(fopen(path.c_str(), "rb"), fclose);
  char magic[sizeof internal::kSequenceMagic];
  return f != nullptr && fread(magic, sizeof magic, 1, f.get()) == 1 &&
         memcmp(magic, internal::kSequenceMagic, sizeof magic) == 0 &&
         internal::Get(f.get(), &s->objects) && internal::Get(f.get(), &s->ticks);
}

}  // namespace clrscope::profile::testing
