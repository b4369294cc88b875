// SPDX-License-Identifier: Apache-2.0
// ISOSDacInterface up to the last method that is used, ISOSDacInterface8 (.NET 5 and later) and
// ISOSDacInterface14 (.NET 9 and later); what is not used only holds its slot. Their methods and
// structures are frozen: what is new comes as another interface. Checked on .NET 8.0, 9.0 and 10.0
// by tests/e2e/stacks.py. Source: dotnet/runtime src/coreclr/inc/sospriv.idl,
// src/coreclr/inc/dacprivate.h
#pragma once

#include "dac/com/address.h"

namespace clrscope::dac {

inline constexpr Guid kSosIid = {
    0x436f00f2, 0xb42a, 0x4b9f, {0x87, 0x0c, 0xe7, 0x3d, 0xb6, 0x6a, 0xe9, 0x30}};
inline constexpr Guid kSos8Iid = {
    0xc12f35a9, 0xe55c, 0x4520, {0xa8, 0x94, 0xb3, 0xdc, 0x51, 0x65, 0xdf, 0xce}};
inline constexpr Guid kSos14Iid = {
    0x9aa22aca, 0x6dc6, 0x4a0c, {0xb4, 0xe0, 0x70, 0xd2, 0x41, 0x6b, 0x98, 0x37}};

struct ThreadStoreData {
  int32_t threads = 0, unstarted = 0, background = 0, pending = 0, dead = 0;
  Address first = 0, finalizer = 0, gc = 0;
  uint32_t host_config = 0;
};
static_assert(sizeof(ThreadStoreData) == 0x38);

struct ThreadData {
  uint32_t managed_id = 0;
  uint32_t os_id = 0;
  int32_t state = 0;
  uint32_t preemptive_disabled = 0;
  Address alloc_ptr = 0, alloc_limit = 0, context = 0, domain = 0, frame = 0;
  uint32_t lock_count = 0;
  Address nested_exception = 0, teb = 0, fiber = 0, last_thrown = 0, next = 0;
};
static_assert(sizeof(ThreadData) == 0x68);

struct ModuleData {
  Address address = 0, file = 0, il_base = 0, metadata = 0;
  uint64_t metadata_size = 0;
  Address assembly = 0;
  int32_t is_reflection = 0, is_file = 0;
  uint64_t base_class_index = 0, module_id = 0;
  uint32_t flags = 0;
  Address maps[9] = {};
  uint64_t module_index = 0;
};
static_assert(sizeof(ModuleData) == 0xa0);

struct ReJitData {
  Address id = 0;
  uint32_t flags = 0;
  Address code = 0;
};
struct MethodDescData {
  int32_t has_code = 0, is_dynamic = 0;
  uint16_t slot = 0;
  Address code = 0, code_slot = 0, method = 0, type = 0, module = 0;
  uint32_t token = 0;
  Address gc_info = 0, gc_stress = 0, dynamic_object = 0, requested_ip = 0;
  ReJitData current, requested;
  uint32_t rejitted = 0;
};
static_assert(sizeof(MethodDescData) == 0x98);

struct MethodTableData {
  int32_t is_free = 0;
  Address module = 0, canonical = 0, parent = 0;
  uint16_t interfaces = 0, methods = 0, vtable_slots = 0, virtuals = 0;
  uint32_t base_size = 0, component_size = 0, token = 0, attributes = 0;
  int32_t is_shared = 0, is_dynamic = 0, has_pointers = 0;
};
static_assert(sizeof(MethodTableData) == 0x48);

struct MethodTableFieldData {
  uint16_t instance_fields = 0, static_fields = 0, thread_static_fields = 0;
  Address first = 0;
  uint16_t context_offset = 0, context_size = 0;
};
static_assert(sizeof(MethodTableFieldData) == 0x18);

struct FieldDescData {
  uint32_t type = 0, signature_type = 0;
  Address type_of_field = 0, module = 0;
  uint32_t type_token = 0, token = 0;
  Address owner = 0;
  uint32_t offset = 0;
  int32_t is_thread_local = 0, is_context_local = 0, is_static = 0;
  Address next = 0;
};
static_assert(sizeof(FieldDescData) == 0x40);

struct DomainLocalModuleData {
  Address domain = 0;
  uint64_t module_id = 0;
  Address class_data = 0, dynamic_classes = 0, gc_statics = 0, other_statics = 0;
};
static_assert(sizeof(DomainLocalModuleData) == 0x30);

struct ThreadLocalModuleData {
  Address thread = 0;
  uint64_t module_index = 0;
  Address class_data = 0, dynamic_classes = 0, gc_statics = 0, other_statics = 0;
};
static_assert(sizeof(ThreadLocalModuleData) == 0x30);

struct GcHeapData {
  int32_t is_server = 0, is_valid = 0;  // valid: no collection is about to change them
  uint32_t heaps = 0, max_generation = 0;
};
static_assert(sizeof(GcHeapData) == 0x10);

struct SyncBlockData {
  Address object = 0;
  int32_t is_free = 0;
  Address sync_block = 0;
  uint32_t com_flags = 0, held = 0, recursion = 0;
  Address owner = 0;
  uint32_t additional_threads = 0;
  Address domain = 0;
  uint32_t count = 0;
};
static_assert(sizeof(SyncBlockData) == 0x48);

struct UsefulGlobals {
  Address array = 0, string = 0, object = 0, exception = 0, free = 0;
};
static_assert(sizeof(UsefulGlobals) == 0x28);

inline constexpr int32_t kTypeDefToMethodTable = 0;
using ModuleMapVisitor = void (*)(uint32_t index, Address type, void* token);

// NOLINTBEGIN(readability-identifier-naming): the runtime's names
class ISOSDacInterface : public IUnknown {
 public:
  virtual HResult GetThreadStoreData(ThreadStoreData* data) = 0;
  virtual HResult GetAppDomainStoreData() = 0;
  virtual HResult GetAppDomainList() = 0;
  virtual HResult GetAppDomainData() = 0;
  virtual HResult GetAppDomainName() = 0;
  virtual HResult GetDomainFromContext() = 0;
  virtual HResult GetAssemblyList() = 0;
  virtual HResult GetAssemblyData() = 0;
  virtual HResult GetAssemblyName() = 0;
  virtual HResult GetModule(Address module, IUnknown** out) = 0;
  virtual HResult GetModuleData(Address module, ModuleData* data) = 0;
  virtual HResult TraverseModuleMap(int32_t map, Address module, ModuleMapVisitor visit,
                                    void* token) = 0;
  virtual HResult GetAssemblyModuleList() = 0;
  virtual HResult GetILForModule() = 0;
  virtual HResult GetThreadData(Address thread, ThreadData* data) = 0;
  virtual HResult GetThreadFromThinlockID() = 0;
  virtual HResult GetStackLimits() = 0;
  virtual HResult GetMethodDescData(Address method, Address ip, MethodDescData* data,
                                    uint32_t reverted_count, void* reverted, uint32_t* needed) = 0;
  virtual HResult GetMethodDescPtrFromIP(Address ip, Address* method) = 0;
  virtual HResult GetMethodDescName(Address method, uint32_t capacity, char16_t* name,
                                    uint32_t* needed) = 0;
  virtual HResult GetMethodDescPtrFromFrame(Address frame, Address* method) = 0;
  virtual HResult GetMethodDescFromToken() = 0;
  virtual HResult GetMethodDescTransparencyData() = 0;
  virtual HResult GetCodeHeaderData() = 0;
  virtual HResult GetJitManagerList() = 0;
  virtual HResult GetJitHelperFunctionName() = 0;
  virtual HResult GetJumpThunkTarget() = 0;
  virtual HResult GetThreadpoolData() = 0;
  virtual HResult GetWorkRequestData() = 0;
  virtual HResult GetHillClimbingLogEntry() = 0;
  virtual HResult GetObjectData() = 0;
  virtual HResult GetObjectStringData(Address object, uint32_t capacity, char16_t* text,
                                      uint32_t* needed) = 0;
  virtual HResult GetObjectClassName() = 0;
  virtual HResult GetMethodTableName(Address type, uint32_t capacity, char16_t* name,
                                     uint32_t* needed) = 0;
  virtual HResult GetMethodTableData(Address type, MethodTableData* data) = 0;
  virtual HResult GetMethodTableSlot() = 0;
  virtual HResult GetMethodTableFieldData(Address type, MethodTableFieldData* data) = 0;
  virtual HResult GetMethodTableTransparencyData() = 0;
  virtual HResult GetMethodTableForEEClass() = 0;
  virtual HResult GetFieldDescData(Address field, FieldDescData* data) = 0;
  virtual HResult GetFrameName() = 0;
  virtual HResult GetPEFileBase() = 0;
  virtual HResult GetPEFileName(Address file, uint32_t capacity, char16_t* name,
                                uint32_t* needed) = 0;
  virtual HResult GetGCHeapData(GcHeapData* data) = 0;
  virtual HResult GetGCHeapList(uint32_t capacity, Address* heaps, uint32_t* needed) = 0;
  virtual HResult GetGCHeapDetails() = 0;
  virtual HResult GetGCHeapStaticData() = 0;
  virtual HResult GetHeapSegmentData() = 0;
  virtual HResult GetOOMData() = 0;
  virtual HResult GetOOMStaticData() = 0;
  virtual HResult GetHeapAnalyzeData() = 0;
  virtual HResult GetHeapAnalyzeStaticData() = 0;
  virtual HResult GetDomainLocalModuleData() = 0;
  virtual HResult GetDomainLocalModuleDataFromAppDomain() = 0;
  virtual HResult GetDomainLocalModuleDataFromModule(Address module,
                                                     DomainLocalModuleData* data) = 0;
  virtual HResult GetThreadLocalModuleData(Address thread, uint32_t module_index,
                                           ThreadLocalModuleData* data) = 0;
  virtual HResult GetSyncBlockData(uint32_t number, SyncBlockData* data) = 0;
  virtual HResult GetSyncBlockCleanupData() = 0;
  virtual HResult GetHandleEnum() = 0;
  virtual HResult GetHandleEnumForTypes() = 0;
  virtual HResult GetHandleEnumForGC() = 0;
  virtual HResult TraverseEHInfo() = 0;
  virtual HResult GetNestedExceptionData() = 0;
  virtual HResult GetStressLogAddress() = 0;
  virtual HResult TraverseLoaderHeap() = 0;
  virtual HResult GetCodeHeapList() = 0;
  virtual HResult TraverseVirtCallStubHeap() = 0;
  virtual HResult GetUsefulGlobals(UsefulGlobals* data) = 0;
};

class ISOSDacInterface8 : public IUnknown {
 public:
  virtual HResult GetNumberGenerations() = 0;
  virtual HResult GetGenerationTable() = 0;
  virtual HResult GetFinalizationFillPointers(uint32_t capacity, Address* pointers,
                                              uint32_t* needed) = 0;
  virtual HResult GetGenerationTableSvr() = 0;
  virtual HResult GetFinalizationFillPointersSvr(Address heap, uint32_t capacity, Address* pointers,
                                                 uint32_t* needed) = 0;
};

class ISOSDacInterface14 : public IUnknown {
 public:
  virtual HResult GetStaticBaseAddress(Address type, Address* other, Address* gc) = 0;
  virtual HResult GetThreadStaticBaseAddress(Address type, Address thread, Address* other,
                                             Address* gc) = 0;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace clrscope::dac
