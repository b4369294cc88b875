// SPDX-License-Identifier: Apache-2.0
// Writes nettrace V4, V5 and V6 streams block by block, right or deliberately wrong, so that tests
// need no recorded trace to say what a rule of the format means.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"

namespace clrscope::nettrace::testing {

// Little-endian bytes, growing at the end.
class ByteWriter {
 public:
  template <class T>
  ByteWriter& Put(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  ByteWriter& U8(uint8_t v) { return Put(v); }
  ByteWriter& U16(uint16_t v) { return Put(v); }
  ByteWriter& U32(uint32_t v) { return Put(v); }
  ByteWriter& U64(uint64_t v) { return Put(v); }
  ByteWriter& I64(int64_t v) { return Put(v); }
  ByteWriter& F64(double v) { return Put(v); }
  // A pointer of the target: 4 or 8 bytes.
  ByteWriter& Pointer(uint64_t v, uint32_t pointer_size) {
    return pointer_size == 4 ? U32(static_cast<uint32_t>(v)) : U64(v);
  }
  ByteWriter& Raw(std::string_view v) {
    out_.append(v);
    return *this;
  }
  ByteWriter& Var(uint64_t v);            // LEB128
  ByteWriter& Z16(std::string_view v);    // UTF-16 and a NUL
  ByteWriter& Utf8(std::string_view v) {  // V6: length and UTF-8
    return Var(v.size()).Raw(v);
  }
  std::string Take() { return std::move(out_); }
  const std::string& str() const { return out_; }
  size_t size() const { return out_.size(); }

 private:
  std::string out_;
};

struct WriterOptions {
  uint32_t version = 4;  // 4, 5 or 6
  bool compressed = true;
  uint32_t pointer_size = 8;
  uint32_t pid = 4711;
  uint32_t processors = 2;
  int64_t sync_ticks = 1000;
  int64_t ticks_per_second = 1'000'000'000;
  uint32_t sampling_ns = 1'000'000;
  std::array<int16_t, 8> utc = {2026, 2, 0, 28, 13, 14, 15, 167};
};

struct MetadataRow {
  uint32_t id = 0;
  std::string provider;
  uint32_t event_id = 0;
  uint32_t version = 0;
  std::string name;
  uint64_t keywords = 0;
  uint32_t level = 4;
  // V4, V5: bytes after the fields, e.g. OpcodeTag(). V6: bytes of the options, after ours.
  std::string tail;
  uint16_t fields = 0;  // how many u32 fields to announce
};
// V5 tags that follow a metadata payload's fields.
std::string OpcodeTag(uint8_t opcode);
std::string V2ParametersTag();

struct EventRowSpec {
  uint32_t metadata = 1;
  uint64_t thread = 100;                   // V6: index
  std::optional<uint64_t> capture_thread;  // = thread
  std::optional<uint32_t> sequence;        // the thread's next one
  uint32_t stack = 0;
  int64_t time = 0;  // ticks
  bool sorted = true;
  std::string payload;
  std::string activity, related;  // 16 bytes each; V4, V5
  uint32_t labels = 0;            // V6
};

struct ThreadRowSpec {
  uint64_t index = 0;
  uint64_t pid = 0, tid = 0;
  std::string name;
};

class SyntheticWriter {
 public:
  explicit SyntheticWriter(const WriterOptions& options = {});  // header and Trace

  SyntheticWriter& Metadata(const std::vector<MetadataRow>& rows);
  SyntheticWriter& Stacks(uint32_t first, const std::vector<std::vector<uint64_t>>& stacks);
  SyntheticWriter& Events(const std::vector<EventRowSpec>& rows);
  SyntheticWriter& Event(const EventRowSpec& row) { return Events({row}); }
  // The last sequence number that each thread gave out.
  SyntheticWriter& SequencePoint(int64_t time,
                                 const std::vector<std::pair<uint64_t, uint32_t>>& threads,
                                 uint32_t flags = 0);
  SyntheticWriter& Threads(const std::vector<ThreadRowSpec>& rows);                        // V6
  SyntheticWriter& RemoveThreads(const std::vector<std::pair<uint64_t, uint32_t>>& rows);  // V6
  // Each text is one list as ActivityLabels() makes it.
  SyntheticWriter& Labels(uint32_t first, const std::vector<std::string>& lists);  // V6
  SyntheticWriter& Trace();                                                        // once more
  // A block that no reader knows.
  SyntheticWriter& Unknown(std::string_view content);
  // A block with any content. V4, V5 take the name, V6 the kind.
  SyntheticWriter& Block(std::string_view name, uint8_t kind, std::string_view content);
  SyntheticWriter& Raw(std::string_view bytes);
  SyntheticWriter& End();

  // The next events of `thread` get numbers from `sequence` + 1 on.
  void SetSequence(uint64_t thread, uint32_t sequence) { sequences_[thread] = sequence; }
  // What SequencePoint() takes to be consistent with what was written.
  std::vector<std::pair<uint64_t, uint32_t>> Sequences() const {
    return {sequences_.begin(), sequences_.end()};
  }
  // Moves out what was written; what follows continues the same stream.
  std::string Drain() {
    drained_ += out_.size();
    return std::exchange(out_, {});
  }
  const WriterOptions& options() const { return options_; }
  const std::string& str() const { return out_; }
  size_t size() const { return out_.size(); }
  Bytes bytes() const { return AsBytes(out_.data(), out_.size()); }

 private:
  std::string TraceContent() const;
  std::string EventBlockContent(const std::vector<EventRowSpec>& rows, bool metadata);
  void CompressedRow(ByteWriter& w, const EventRowSpec& row, bool metadata);
  void UncompressedRow(ByteWriter& w, const EventRowSpec& row, bool metadata);
  uint32_t NextSequence(const EventRowSpec& row, bool metadata);

  WriterOptions options_;
  std::string out_;
  size_t drained_ = 0;
  std::map<uint64_t, uint32_t> sequences_;
  // State of the compressed rows of one block.
  struct State {
    uint32_t metadata = 0, sequence = 0, stack = 0, labels = 0, payload = 0;
    uint64_t thread = 0, capture = 0;
    int64_t time = 0;
    std::string activity = std::string(16, '\0'), related = std::string(16, '\0');
  } state_;
};

// One label list: 1 ActivityId, 2 RelatedActivityId, and labels of every other kind around them.
std::string ActivityLabels(std::string_view activity, std::string_view related = {});

// Payloads of the runtime's events. `version` and `pointer_size` decide the layout.
struct TickFields {
  uint64_t amount = 102400;
  uint32_t kind = 0;
  uint64_t type_id = 0x7000;
  std::string type = "System.String";
  uint32_t heap = 0;
  uint64_t address = 0x5000;
  uint64_t object_size = 32;
};
std::string AllocationTickPayload(uint32_t version, const TickFields& f, uint32_t pointer_size = 8);
struct SampledFields {
  uint32_t kind = 0;
  uint64_t type_id = 0x7000;
  std::string type = "System.String";
  uint64_t address = 0x5000;
  uint64_t object_size = 32;
  uint64_t offset = 7;
};
std::string AllocationSampledPayload(const SampledFields& f, uint32_t pointer_size = 8);
std::string SampledObjectPayload(uint64_t address, uint64_t type_id, uint32_t count, uint64_t bytes,
                                 uint32_t pointer_size = 8);
std::string GcStartPayload(uint32_t version, uint32_t number, uint32_t generation, uint32_t reason,
                           uint32_t type, uint64_t client_sequence = 0);
std::string GcEndPayload(uint32_t version, uint32_t number, uint32_t generation);
// sizes: gen0, gen1, gen2, LOH and, from V2 on, POH. Promoted bytes are the sizes plus one.
std::string HeapStatsPayload(uint32_t version, const std::array<int64_t, 5>& sizes);
struct TypeFields {
  uint64_t type_id = 0;
  std::string name;
  std::vector<uint64_t> parameters;
  uint64_t module_id = 1;
  uint32_t token = 0x02000001;
  uint32_t flags = 0;
};
std::string BulkTypePayload(const std::vector<TypeFields>& types);
struct MethodFields {
  uint64_t method_id = 1, module_id = 2, start = 0;
  uint32_t size = 0x100, token = 0x06000001, flags = 8;
  std::string owner = "App.Program", name = "Main", signature = "void  ()";
  uint64_t rejit_id = 0;
};
std::string MethodVerbosePayload(uint32_t version, const MethodFields& f);
std::string MethodPayload(uint32_t version, const MethodFields& f);  // the short form
std::string ModulePayload(uint32_t version, uint64_t module_id, std::string_view il_path,
                          std::string_view pdb_guid = {}, std::string_view native_path = {});
std::string DomainModulePayload(uint64_t module_id, uint64_t domain_id, std::string_view il_path);
std::string RuntimeStartPayload(uint16_t major, uint16_t minor, uint16_t build,
                                std::string_view command_line);
std::string ProcessInfoPayload(std::string_view command_line, std::string_view os,
                               std::string_view arch);

}  // namespace clrscope::nettrace::testing
