// SPDX-License-Identifier: Apache-2.0
#include "nettrace/testing/synthetic_writer.h"

#include "base/utf.h"

namespace clrscope::nettrace::testing {

ByteWriter& ByteWriter::Var(uint64_t v) {
  while (v >= 0x80) {
    out_.push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out_.push_back(static_cast<char>(v));
  return *this;
}

ByteWriter& ByteWriter::Z16(std::string_view v) {
  for (const char16_t c : ToUtf16(v)) U16(c);
  return U16(0);
}

std::string OpcodeTag(uint8_t opcode) { return ByteWriter().U32(1).U8(1).U8(opcode).Take(); }

std::string V2ParametersTag() {
  ByteWriter field;
  field.Z16("Values").U32(19).U32(9);  // an array of Int32
  ByteWriter params;
  params.U32(1).U32(static_cast<uint32_t>(field.size()) + 4).Raw(field.str());
  return ByteWriter().U32(static_cast<uint32_t>(params.size())).U8(2).Raw(params.str()).Take();
}

SyntheticWriter::SyntheticWriter(const WriterOptions& options) : options_(options) {
  ByteWriter w;
  w.Raw("Nettrace");
  if (options_.version >= 6) {
    w.U32(0).U32(6).U32(0);
  } else {
    w.U32(20).Raw("!FastSerialization.1");
  }
  out_ = w.Take();
  Trace();
}

std::string SyntheticWriter::TraceContent() const {
  ByteWriter w;
  for (const int16_t v : options_.utc) w.Put(v);
  w.I64(options_.sync_ticks).I64(options_.ticks_per_second).U32(options_.pointer_size);
  if (options_.version < 6) {
    w.U32(options_.pid).U32(options_.processors).U32(options_.sampling_ns);
  } else {
    w.U32(4).Utf8("HardwareThreadCount").Utf8(std::to_string(options_.processors));
    w.Utf8("ProcessId").Utf8(std::to_string(options_.pid)).Utf8("x").Utf8("y");
    w.Utf8("ExpectedCPUSamplingRate").Utf8(std::to_string(options_.sampling_ns));
  }
  return w.Take();
}

SyntheticWriter& SyntheticWriter::Trace() {
  if (options_.version >= 6) return Block("", 1, TraceContent());
  ByteWriter w;  // an object without a length
  w.U8(5).U8(5).U8(1).U32(options_.version).U32(4).U32(5).Raw("Trace").U8(6);
  return Raw(w.Raw(TraceContent()).U8(6).str());
}

SyntheticWriter& SyntheticWriter::Block(std::string_view name, uint8_t kind,
                                        std::string_view content) {
  ByteWriter w;
  if (options_.version >= 6) {
    w.U32(static_cast<uint32_t>(content.size()) | uint32_t{kind} << 24).Raw(content);
  } else {
    w.U8(5).U8(5).U8(1).U32(2).U32(2).U32(static_cast<uint32_t>(name.size())).Raw(name).U8(6);
    w.U32(static_cast<uint32_t>(content.size()));
    while ((drained_ + out_.size() + w.size()) % 4 != 0) w.U8(0);
    w.Raw(content).U8(6);
  }
  return Raw(w.str());
}

SyntheticWriter& SyntheticWriter::Raw(std::string_view bytes) {
  out_.append(bytes);
  return *this;
}

SyntheticWriter& SyntheticWriter::End() {
  return options_.version >= 6 ? Raw(std::string(4, '\0')) : Raw("\x01");
}

SyntheticWriter& SyntheticWriter::Unknown(std::string_view content) {
  return Block("FutureBlock", 99, content);
}

SyntheticWriter& SyntheticWriter::Metadata(const std::vector<MetadataRow>& rows) {
  if (options_.version >= 6) {
    ByteWriter block;
    block.U16(3).Raw("abc");  // a header of a later version
    for (const MetadataRow& m : rows) {
      ByteWriter row;
      row.Var(m.id).Utf8(m.provider).Var(m.event_id).Utf8(m.name).U16(m.fields);
      for (uint16_t i = 0; i < m.fields; ++i) {
        ByteWriter field;
        field.Utf8("f").U8(10);
        row.U16(static_cast<uint16_t>(field.size())).Raw(field.str());
      }
      ByteWriter options;
      options.U8(1).U8(3).U8(4).Utf8("template").U8(5).Utf8("text").U8(6).Utf8("k").Utf8("v");
      options.U8(7).Raw(std::string(16, 'g')).U8(3).U64(m.keywords);
      options.U8(8).U8(static_cast<uint8_t>(m.level));
      options.U8(9).U8(static_cast<uint8_t>(m.version)).Raw(m.tail);
      row.U16(static_cast<uint16_t>(options.size())).Raw(options.str()).Raw("later");
      block.U16(static_cast<uint16_t>(row.size())).Raw(row.str());
    }
    return Block("", 3, block.str());
  }
  std::vector<EventRowSpec> specs;
  for (const MetadataRow& m : rows) {
    ByteWriter w;
    w.U32(m.id).Z16(m.provider).U32(m.event_id).Z16(m.name).U64(m.keywords);
    w.U32(m.version).U32(m.level).U32(m.fields);
    for (uint16_t i = 0; i < m.fields; ++i) w.U32(10).Z16("f");
    EventRowSpec e;
    e.metadata = 0;
    e.thread = 0;
    e.payload = w.Raw(m.tail).Take();
    specs.push_back(std::move(e));
  }
  return Block("MetadataBlock", 3, EventBlockContent(specs, true));
}

SyntheticWriter& SyntheticWriter::Stacks(uint32_t first,
                                         const std::vector<std::vector<uint64_t>>& stacks) {
  ByteWriter w;
  w.U32(first).U32(static_cast<uint32_t>(stacks.size()));
  for (const std::vector<uint64_t>& ips : stacks) {
    w.U32(static_cast<uint32_t>(ips.size()) * options_.pointer_size);
    for (const uint64_t ip : ips) w.Pointer(ip, options_.pointer_size);
  }
  return Block("StackBlock", 5, w.str());
}

SyntheticWriter& SyntheticWriter::Events(const std::vector<EventRowSpec>& rows) {
  return Block("EventBlock", 2, EventBlockContent(rows, false));
}

std::string SyntheticWriter::EventBlockContent(const std::vector<EventRowSpec>& rows,
                                               bool metadata) {
  int64_t first = rows.empty() ? 0 : rows.front().time, last = first;
  for (const EventRowSpec& e : rows) {
    first = std::min(first, e.time);
    last = std::max(last, e.time);
  }
  ByteWriter w;
  w.U16(24).U16(options_.compressed ? 1 : 0).I64(first).I64(last).U32(0xABABABAB);
  state_ = {};
  for (const EventRowSpec& e : rows)
    options_.compressed ? CompressedRow(w, e, metadata) : UncompressedRow(w, e, metadata);
  return w.Take();
}

uint32_t SyntheticWriter::NextSequence(const EventRowSpec& e, bool metadata) {
  if (metadata) return 0;
  uint32_t& s = sequences_[e.capture_thread.value_or(e.thread)];
  s = e.sequence.value_or(s + 1);
  return s;
}

void SyntheticWriter::CompressedRow(ByteWriter& w, const EventRowSpec& e, bool metadata) {
  const uint64_t capture = e.capture_thread.value_or(e.thread);
  const uint32_t sequence = NextSequence(e, metadata);
  const auto payload = static_cast<uint32_t>(e.payload.size());
  const auto guid = [](const std::string& g) { return g.empty() ? std::string(16, '\0') : g; };
  const bool v6 = options_.version >= 6;
  uint8_t flags = e.sorted ? 64 : 0;
  if (e.metadata != state_.metadata) flags |= 1;
  if (!metadata && (capture != state_.capture || sequence != state_.sequence + 1)) flags |= 2;
  if (e.thread != state_.thread) flags |= 4;
  if (e.stack != state_.stack) flags |= 8;
  if (v6 ? e.labels != state_.labels : guid(e.activity) != state_.activity) flags |= 16;
  if (!v6 && guid(e.related) != state_.related) flags |= 32;
  if (payload != state_.payload) flags |= 128;
  w.U8(flags);
  if (flags & 1) w.Var(e.metadata);
  if (flags & 2) w.Var(sequence - state_.sequence - 1).Var(capture).Var(1);
  if (flags & 4) w.Var(e.thread);
  if (flags & 8) w.Var(e.stack);
  w.Var(static_cast<uint64_t>(e.time) - static_cast<uint64_t>(state_.time));
  if (flags & 16) v6 ? w.Var(e.labels) : w.Raw(guid(e.activity));
  if (flags & 32) w.Raw(guid(e.related));
  if (flags & 128) w.Var(payload);
  w.Raw(e.payload);
  state_ = {e.metadata, sequence, e.stack, e.labels,         payload,
            e.thread,   capture,  e.time,  guid(e.activity), guid(e.related)};
}

void SyntheticWriter::UncompressedRow(ByteWriter& w, const EventRowSpec& e, bool metadata) {
  const auto guid = [](const std::string& g) { return g.empty() ? std::string(16, '\0') : g; };
  ByteWriter row;
  // V4, V5: the bit means "not sorted" (dotnet/runtime src/native/eventpipe/ep-block.c).
  row.U32(e.metadata | (e.sorted ? 0 : 0x80000000u)).U32(NextSequence(e, metadata)).U64(e.thread);
  row.U64(e.capture_thread.value_or(e.thread)).U32(1).U32(e.stack).I64(e.time);
  if (options_.version >= 6) {
    row.U32(e.labels);
  } else {
    row.Raw(guid(e.activity)).Raw(guid(e.related));
  }
  row.U32(static_cast<uint32_t>(e.payload.size())).Raw(e.payload);
  w.U32(static_cast<uint32_t>(row.size())).Raw(row.str());
  while (options_.version < 6 && w.size() % 4 != 0) w.U8(0);
}

SyntheticWriter& SyntheticWriter::SequencePoint(
    int64_t time, const std::vector<std::pair<uint64_t, uint32_t>>& threads, uint32_t flags) {
  const bool v6 = options_.version >= 6;
  ByteWriter w;
  w.I64(time);
  if (v6) w.U32(flags);
  w.U32(static_cast<uint32_t>(threads.size()));
  for (const auto& [thread, sequence] : threads)
    v6 ? w.Var(thread).Var(sequence) : w.U64(thread).U32(sequence);
  return Block("SPBlock", 4, w.str());
}

SyntheticWriter& SyntheticWriter::Threads(const std::vector<ThreadRowSpec>& rows) {
  ByteWriter w;
  for (const ThreadRowSpec& t : rows) {
    ByteWriter row;
    row.Var(t.index);
    if (!t.name.empty()) row.U8(1).Utf8(t.name);
    row.U8(2).Var(t.pid).U8(3).Var(t.tid).U8(4).Utf8("key").Utf8("value");
    w.U16(static_cast<uint16_t>(row.size())).Raw(row.str());
  }
  return Block("", 6, w.str());
}

SyntheticWriter& SyntheticWriter::RemoveThreads(
    const std::vector<std::pair<uint64_t, uint32_t>>& rows) {
  ByteWriter w;
  for (const auto& [thread, sequence] : rows) w.Var(thread).Var(sequence);
  return Block("", 7, w.str());
}

SyntheticWriter& SyntheticWriter::Labels(uint32_t first, const std::vector<std::string>& lists) {
  ByteWriter w;
  w.U32(first).U32(static_cast<uint32_t>(lists.size()));
  for (const std::string& list : lists) w.Raw(list);
  return Block("", 8, w.str());
}

std::string ActivityLabels(std::string_view activity, std::string_view related) {
  ByteWriter w;
  w.U8(3).Raw(std::string(16, 't')).U8(4).U64(1).U8(5).Utf8("k").Utf8("v").U8(6).Utf8("n").Var(300);
  w.U8(7).U8(1).U8(8).U64(2).U8(9).U8(4);
  if (!activity.empty()) w.U8(1).Raw(activity);
  if (!related.empty()) w.U8(2).Raw(related);
  return w.U8(10 | 0x80).U8(1).Take();
}

std::string AllocationTickPayload(uint32_t version, const TickFields& f, uint32_t p) {
  ByteWriter w;
  w.U32(static_cast<uint32_t>(f.amount)).U32(f.kind).U16(0);
  if (version >= 2) w.U64(f.amount).Pointer(f.type_id, p).Z16(f.type).U32(f.heap);
  if (version >= 3) w.Pointer(f.address, p);
  if (version >= 4) w.U64(f.object_size);
  return w.Take();
}

std::string AllocationSampledPayload(const SampledFields& f, uint32_t p) {
  ByteWriter w;
  w.U32(f.kind).U16(0).Pointer(f.type_id, p).Z16(f.type).Pointer(f.address, p);
  return w.U64(f.object_size).U64(f.offset).Take();
}

std::string SampledObjectPayload(uint64_t address, uint64_t type_id, uint32_t count, uint64_t bytes,
                                 uint32_t p) {
  ByteWriter w;
  return w.Pointer(address, p).Pointer(type_id, p).U32(count).U64(bytes).U16(0).Take();
}

std::string GcStartPayload(uint32_t version, uint32_t number, uint32_t generation, uint32_t reason,
                           uint32_t type, uint64_t client_sequence) {
  ByteWriter w;
  w.U32(number);
  if (version == 0) return w.U32(reason).Take();
  w.U32(generation).U32(reason).U32(type).U16(0);
  if (version >= 2) w.U64(client_sequence);
  return w.Take();
}

std::string GcEndPayload(uint32_t version, uint32_t number, uint32_t generation) {
  ByteWriter w;
  w.U32(number);
  if (version == 0) return w.U16(static_cast<uint16_t>(generation)).Take();
  return w.U32(generation).U16(0).Take();
}

std::string HeapStatsPayload(uint32_t version, const std::array<int64_t, 5>& sizes) {
  ByteWriter w;
  for (size_t g = 0; g < 4; ++g) w.I64(sizes[g]).I64(sizes[g] + 1);
  w.I64(11).I64(12).U32(13).U32(14).U32(15).U16(0);
  if (version >= 2) w.I64(sizes[4]).I64(sizes[4] + 1);
  return w.Take();
}

std::string BulkTypePayload(const std::vector<TypeFields>& types) {
  ByteWriter w;
  w.U32(static_cast<uint32_t>(types.size())).U16(0);
  for (const TypeFields& t : types) {
    w.U64(t.type_id).U64(t.module_id).U32(t.token).U32(t.flags).U8(0x12).Z16(t.name);
    w.U32(static_cast<uint32_t>(t.parameters.size()));
    for (const uint64_t p : t.parameters) w.U64(p);
  }
  return w.Take();
}

std::string MethodPayload(uint32_t version, const MethodFields& f) {
  ByteWriter w;
  w.U64(f.method_id).U64(f.module_id).U64(f.start).U32(f.size).U32(f.token).U32(f.flags);
  if (version >= 1) w.U16(0);
  if (version >= 2) w.U64(f.rejit_id);
  return w.Take();
}

std::string MethodVerbosePayload(uint32_t version, const MethodFields& f) {
  ByteWriter w;
  w.U64(f.method_id).U64(f.module_id).U64(f.start).U32(f.size).U32(f.token).U32(f.flags);
  w.Z16(f.owner).Z16(f.name).Z16(f.signature);
  if (version >= 1) w.U16(0);
  if (version >= 2) w.U64(f.rejit_id);
  return w.Take();
}

std::string ModulePayload(uint32_t version, uint64_t module_id, std::string_view il_path,
                          std::string_view pdb_guid, std::string_view native_path) {
  ByteWriter w;
  w.U64(module_id).U64(77).U32(0).U32(0).Z16(il_path).Z16(native_path);
  if (version >= 1) w.U16(0);
  if (version >= 2) {
    const std::string guid = pdb_guid.empty() ? std::string(16, '\0') : std::string(pdb_guid);
    w.Raw(guid).U32(1).Z16("app.pdb").Raw(std::string(16, '\0')).U32(0).Z16("");
  }
  return w.Take();
}

std::string DomainModulePayload(uint64_t module_id, uint64_t domain_id, std::string_view il_path) {
  ByteWriter w;
  w.U64(module_id).U64(77).U64(domain_id).U32(0).U32(0).Z16(il_path).Z16("").U16(0);
  return w.Take();
}

std::string RuntimeStartPayload(uint16_t major, uint16_t minor, uint16_t build,
                                std::string_view command_line) {
  ByteWriter w;
  w.U16(9).U16(2).U16(4).U16(0).U16(0).U16(0).U16(major).U16(minor).U16(build).U16(0);
  w.U32(1)
      .U8(1)
      .Z16(command_line)
      .Raw(std::string(16, '\0'))
      .Z16("/usr/share/dotnet/libcoreclr.so");
  return w.Take();
}

std::string ProcessInfoPayload(std::string_view command_line, std::string_view os,
                               std::string_view arch) {
  return ByteWriter().Z16(command_line).Z16(os).Z16(arch).Take();
}

}  // namespace clrscope::nettrace::testing
