// SPDX-License-Identifier: Apache-2.0
#include "store/capture_writer.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "store/column_codec.h"
#include "store/schema.h"
#include "store/slice_codec.h"

namespace clrscope::store {
namespace {

constexpr int64_t kCompactEveryNs = 60 * kSecond;
// The first sets of a LabelTable mean the same everywhere.
constexpr uint32_t kFixedLabels = 2;

}  // namespace

Result<std::unique_ptr<CaptureWriter>> CaptureWriter::Create(const std::string& path,
                                                             profile::Recording* recording,
                                                             Readable readable) {
  ASSIGN_OR_RETURN(Database db, Database::Open(path, Database::Mode::kCreate));
  return Begin(std::move(db), recording, readable);
}

Result<std::unique_ptr<CaptureWriter>> CaptureWriter::CreateInMemory(
    profile::Recording* recording) {
  ASSIGN_OR_RETURN(Database db, Database::OpenImage());
  return Begin(std::move(db), recording, Readable::kWhenFinished);
}

Result<std::unique_ptr<CaptureWriter>> CaptureWriter::Begin(Database db,
                                                            profile::Recording* recording,
                                                            Readable readable) {
  RETURN_IF_ERROR(db.Execute("pragma page_size=8192"));
  // In KB: a recorder stays small, whoever converts a file is soon gone.
  RETURN_IF_ERROR(db.Execute(readable == Readable::kAlways ? "pragma cache_size=-512"
                                                           : "pragma cache_size=-4096"));
  // WAL: a commit is one append, and a reader may look while we write. NORMAL survives our death at
  // any moment; a power cut can cost the last commits but not the file.
  RETURN_IF_ERROR(db.Execute(readable == Readable::kAlways
                                 ? "pragma journal_mode=wal; pragma synchronous=normal"
                                 : "pragma journal_mode=off; pragma synchronous=off"));
  RETURN_IF_ERROR(db.Execute("begin"));
  RETURN_IF_ERROR(db.Execute(kSchema));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(std::move(db), recording));
  RETURN_IF_ERROR(writer->Prepare());
  RETURN_IF_ERROR(writer->WriteMeta("schema_version", kSchemaVersion));
  RETURN_IF_ERROR(writer->WriteMeta("complete", 0));
  RETURN_IF_ERROR(writer->db_.Execute("pragma application_id=1668051571"));  // kApplicationId
  static_assert(kApplicationId == 1668051571);
  RETURN_IF_ERROR(writer->db_.Execute("commit"));
  return writer;
}

Status CaptureWriter::Prepare() {
  const auto prepare = [this](Statement& s, const char* sql) -> Status {
    ASSIGN_OR_RETURN(s, db_.Prepare(sql));
    return OkStatus();
  };
  RETURN_IF_ERROR(
      prepare(insert_process_, "insert or replace into process values(?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_thread_, "insert or replace into thread values(?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_message_, "insert into message values(?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_route_, "insert or replace into route values(?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_operation_, "insert or replace into operation values(?,?,?)"));
  RETURN_IF_ERROR(prepare(delete_slow_, "delete from slow_request where process=?"));
  RETURN_IF_ERROR(
      prepare(insert_slow_, "insert into slow_request values(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_module_, "insert or replace into module values(?,?,?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_method_, "insert or replace into method values(?,?,?,?,?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_type_, "insert or replace into type values(?,?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_mapping_, "insert or replace into mapping values(?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_place_, "insert or replace into place values(?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_source_file_, "insert into source_file values(?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_gc_, "insert into gc values(?,?,?,?,?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_gc_detail_, "insert into gc_detail values(?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_gc_fact_, "insert or replace into gc_fact values(?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_gc_type_, "insert into gc_type values(?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_sampler_, "insert or replace into cpu_sampler values(?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_thread_sample_, "insert or replace into thread_sample values(?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_overhead_, "insert or replace into overhead values(?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_memory_, "insert or replace into memory values(?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_counting_,
              "insert or replace into counting values(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_loss_, "insert or replace into loss values(?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_dictionary_, "insert into dictionary values(?,?,?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_slice_,
              "insert into slice(process,start_ns,end_ns,rows,samples,data) values(?,?,?,?,?,?)"));
  RETURN_IF_ERROR(
      prepare(insert_agent_dictionary_, "insert into agent_dictionary(process,data) values(?,?)"));
  RETURN_IF_ERROR(prepare(insert_interval_,
                          "insert into agent_interval(process,start_ns,end_ns,shift_ns,data) "
                          "values(?,?,?,?,?)"));
  RETURN_IF_ERROR(prepare(insert_meta_, "insert or replace into meta values(?,?)"));
  return OkStatus();
}

void CaptureWriter::Add(const profile::Slice& slice) {
  Encoded e{slice.process, slice.start_ns, slice.end_ns, slice.rows.size(), 0, {}};
  for (const profile::SliceRow& r : slice.rows) e.samples += r.sums.samples;
  e.data = EncodeSlice(slice, recording_->processes[slice.process]->series);
  pending_bytes_ += e.data.size();
  pending_.push_back(std::move(e));
}

void CaptureWriter::Retire(uint32_t process) {
  if (process >= progress_.size()) progress_.resize(process + 1);
  progress_[process].retiring = true;
}

Status CaptureWriter::Commit(int64_t end_ns) { return Write(end_ns, false, false); }

Status CaptureWriter::Finish(bool complete) {
  RETURN_IF_ERROR(Write(recording_->end_ns, true, complete));
  // One file is left, without its write-ahead log; while somebody reads it, the log has to stay.
  (void)db_.Execute("pragma wal_checkpoint(truncate); pragma journal_mode=delete");
  return OkStatus();
}

Status CaptureWriter::Write(int64_t end_ns, bool last, bool complete) {
  if (failed_) return *failed_;
  RETURN_IF_ERROR(db_.Execute("begin immediate"));
  const auto body = [&]() -> Status {
    progress_.resize(recording_->processes.size());
    for (uint32_t p = 0; p < progress_.size(); ++p)
      if (!progress_[p].retired) RETURN_IF_ERROR(WriteProcess(p, last || progress_[p].retiring));
    for (const Encoded& e : pending_) RETURN_IF_ERROR(WriteSlice(e));
    for (const EncodedInterval& e : pending_intervals_) RETURN_IF_ERROR(WriteInterval(e));
    RETURN_IF_ERROR(WriteLosses(-1, recording_->losses));
    RETURN_IF_ERROR(WriteMeta("start_unix_ns", recording_->start_unix_ns));
    RETURN_IF_ERROR(WriteMeta("end_ns", end_ns));
    RETURN_IF_ERROR(WriteMeta("complete", complete ? 1 : 0));
    if (end_ns - compacted_ns_ >= kCompactEveryNs || last) {
      RETURN_IF_ERROR(Compact(end_ns));
      compacted_ns_ = end_ns;
    }
    return OkStatus();
  };
  if (Status status = body(); !status.ok()) {
    (void)db_.Execute("rollback");
    failed_ = status.error();
    return status;
  }
  if (Status status = db_.Execute("commit"); !status.ok()) {
    (void)db_.Execute("rollback");
    failed_ = status.error();
    return status;
  }
  pending_.clear();
  pending_intervals_.clear();
  pending_bytes_ = 0;
  for (Progress& p : progress_) {
    if (!p.retiring || p.retired) continue;
    p = {};
    p.retiring = p.retired = true;
  }
  return OkStatus();
}

Status CaptureWriter::WriteProcess(uint32_t index, bool last) {
  const profile::ProcessTables& t = *recording_->processes[index];
  const auto text = [this](StringId id) { return recording_->strings.Get(id); };
  insert_process_.Bind(0, int64_t{index})
      .Bind(1, int64_t{t.info.pid})
      .Bind(2, text(t.info.name))
      .Bind(3, text(t.info.command_line));
  insert_process_.Bind(4, text(t.info.runtime))
      .Bind(5, text(t.info.os))
      .Bind(6, text(t.info.arch))
      .Bind(7, int64_t{t.pointer_size});
  insert_process_.Bind(8, t.info.start_ns)
      .Bind(9, t.info.end_ns)
      .Bind(10, int64_t{t.info.complete})
      .Bind(11, int64_t{t.sizes_unknown})
      .Bind(12, int64_t{t.info.measures});
  RETURN_IF_ERROR(insert_process_.Run());
  RETURN_IF_ERROR(WriteDictionaries(index));
  RETURN_IF_ERROR(WriteAgentDictionary(index));
  RETURN_IF_ERROR(WriteTypes(index));
  RETURN_IF_ERROR(WriteMethods(index, last));
  RETURN_IF_ERROR(WriteModules(index, last));
  RETURN_IF_ERROR(WritePlaces(index));
  RETURN_IF_ERROR(WriteMessages(index));
  RETURN_IF_ERROR(WriteRequests(index));
  if (last) RETURN_IF_ERROR(WriteThreads(index));
  RETURN_IF_ERROR(WriteGcs(index, last));
  RETURN_IF_ERROR(WriteGcFacts(index, last));
  RETURN_IF_ERROR(WriteCounting(index, t.counting));
  RETURN_IF_ERROR(WriteSampler(index));
  RETURN_IF_ERROR(WriteOverhead(index));
  RETURN_IF_ERROR(WriteMemory(index));
  return WriteLosses(index, t.losses);
}

Status CaptureWriter::WriteSampler(uint32_t index) {
  const profile::Process& info = recording_->processes[index]->info;
  const auto samples = [&](profile::Source source) {
    return static_cast<int64_t>(
        recording_->processes[index]->source_samples[static_cast<size_t>(source)]);
  };
  if (samples(profile::Source::kThreadWall) != 0) {
    insert_thread_sample_.Bind(0, int64_t{index})
        .Bind(1, samples(profile::Source::kThreadWall))
        .Bind(2, samples(profile::Source::kThreadCpu));
    RETURN_IF_ERROR(insert_thread_sample_.Run());
  }
  if (info.sampler == profile::CpuSampler::kNone) return OkStatus();
  insert_sampler_.Bind(0, int64_t{index})
      .Bind(1, static_cast<int64_t>(info.sampler))
      .Bind(2, int64_t{info.sampler_hz});
  return insert_sampler_.Run();
}

// A row for each measure that took something, and one for the program.
Status CaptureWriter::WriteOverhead(uint32_t index) {
  const profile::Overhead& o = recording_->processes[index]->info.overhead;
  if (!o.known() && o.limit <= 0) return OkStatus();
  const auto write = [&](std::string_view part, int64_t ns, const profile::Overhead::Windows& w,
                         double limit) {
    constexpr double kMillion = 1e6;
    insert_overhead_.Bind(0, int64_t{index})
        .Bind(1, part)
        .Bind(2, ns)
        .Bind(3, Signed(w.windows))
        .Bind(4, w.ns)
        .Bind(5, w.of_ns)
        .Bind(6, int64_t{std::llround(limit * kMillion)});
    return insert_overhead_.Run();
  };
  RETURN_IF_ERROR(write("program", o.cpu_ns, {}, o.limit));
  for (size_t i = 0; i < profile::kOverheadParts; ++i) {
    const auto part = static_cast<profile::OverheadPart>(i);
    if (o.of(part) == 0 && o.windows[i].windows == 0) continue;
    RETURN_IF_ERROR(write(profile::OverheadName(part), o.of(part), o.windows[i], 0));
  }
  return OkStatus();
}

Status CaptureWriter::WriteMemory(uint32_t index) {
  std::vector<profile::MemoryReading>& readings = recording_->processes[index]->info.memory;
  for (const profile::MemoryReading& r : readings) {
    insert_memory_.Bind(0, int64_t{index})
        .Bind(1, r.at_ns)
        .Bind(2, r.rss_bytes)
        .Bind(3, r.private_bytes)
        .Bind(4, r.file_bytes)
        .Bind(5, r.shared_bytes)
        .Bind(6, r.swap_bytes)
        .Bind(7, r.threads);
    RETURN_IF_ERROR(insert_memory_.Run());
  }
  readings.clear();
  return OkStatus();
}

Status CaptureWriter::WriteCounting(uint32_t index, const profile::Counting& c) {
  if (c.mode == profile::CountMode::kUnknown && c.events == 0) return OkStatus();
  const int64_t values[] = {int64_t{index},
                            static_cast<int64_t>(c.mode),
                            c.ended,
                            Signed(c.loh_threshold),
                            c.loh_known,
                            Signed(c.events),
                            Signed(c.aligned_low),
                            Signed(c.aligned_high),
                            Signed(c.added),
                            Signed(c.added_bytes),
                            Signed(c.guessed),
                            Signed(c.guessed_bytes),
                            Signed(c.threads),
                            Signed(c.gaps),
                            c.gc_known,
                            Signed(c.gc_bytes),
                            int64_t{c.gc_heaps}};
  int column = 0;
  for (const int64_t value : values) insert_counting_.Bind(column++, value);
  return insert_counting_.Run();
}

Status CaptureWriter::WriteBlob(uint32_t process, std::string_view kind, uint64_t first,
                                uint64_t count, const std::string& data) {
  insert_dictionary_.Bind(0, int64_t{process})
      .Bind(1, kind)
      .Bind(2, Signed(first))
      .Bind(3, Signed(count))
      .Bind(4, BytesOf(data));
  return insert_dictionary_.Run();
}

Status CaptureWriter::WriteDictionaries(uint32_t index) {
  const profile::ProcessTables& t = *recording_->processes[index];
  Progress& done = progress_[index];
  ColumnWriter w;
  if (const auto n = static_cast<uint32_t>(t.stacks.addresses().size()); n > done.addresses) {
    uint64_t previous = 0;
    for (uint32_t i = done.addresses; i < n; ++i) {
      w.Signed(static_cast<int64_t>(t.stacks.addresses()[i].address - previous));
      previous = t.stacks.addresses()[i].address;
    }
    for (uint32_t i = done.addresses; i < n; ++i) w.Signed(t.stacks.addresses()[i].first_ns);
    RETURN_IF_ERROR(WriteBlob(index, "address", done.addresses, n - done.addresses, w.Finish()));
    for (uint32_t i = done.addresses; i < n; ++i) done.unsettled.push_back(i);
    done.addresses = n;
  }
  if (const uint32_t n = t.stacks.size(); n > done.nodes) {
    for (uint32_t i = done.nodes; i < n; ++i) w.Unsigned(i - t.stacks.parent(i));
    for (uint32_t i = done.nodes; i < n; ++i) w.Unsigned(t.stacks.address_index(i));
    RETURN_IF_ERROR(WriteBlob(index, "node", done.nodes, n - done.nodes, w.Finish()));
    done.nodes = n;
  }
  const std::vector<profile::LabelSet>& labels = t.labels.sets();
  done.labels = std::max(done.labels, kFixedLabels);
  if (const auto n = static_cast<uint32_t>(labels.size()); n > done.labels) {
    for (size_t key = 0; key < profile::kLabelKeys; ++key)
      for (uint32_t i = done.labels; i < n; ++i) w.Unsigned(labels[i].values[key]);
    RETURN_IF_ERROR(WriteBlob(index, "label", done.labels, n - done.labels, w.Finish()));
    done.labels = n;
  }
  if (const auto n = static_cast<uint32_t>(t.series.keys().size()); n > done.series) {
    for (uint32_t i = done.series; i < n; ++i) w.Unsigned(t.series.keys()[i].node);
    for (uint32_t i = done.series; i < n; ++i) w.Unsigned(t.series.keys()[i].type);
    for (uint32_t i = done.series; i < n; ++i) w.Unsigned(t.series.keys()[i].attributes);
    for (uint32_t i = done.series; i < n; ++i) w.Unsigned(t.series.keys()[i].labels);
    for (uint32_t i = done.series; i < n; ++i) w.Unsigned(t.series.nominal_sizes()[i]);
    RETURN_IF_ERROR(WriteBlob(index, "series", done.series, n - done.series, w.Finish()));
    done.series = n;
  }
  return OkStatus();
}

Status CaptureWriter::WriteTypes(uint32_t index) {
  const profile::ProcessTables& t = *recording_->processes[index];
  Progress& done = progress_[index];
  const auto write = [&](uint32_t i) -> Status {
    const profile::RuntimeType& type = t.types[i];
    done.type_names[i] = type.raw_name;
    insert_type_.Bind(0, int64_t{index})
        .Bind(1, int64_t{i})
        .Bind(2, Signed(type.id))
        .Bind(3, recording_->strings.Get(type.raw_name));
    return insert_type_.Run();
  };
  done.type_names.resize(t.types.size());
  if (done.types_renamed != t.types_renamed) {
    for (uint32_t i = 0; i < done.types; ++i)
      if (t.types[i].raw_name != done.type_names[i]) RETURN_IF_ERROR(write(i));
    done.types_renamed = t.types_renamed;
  }
  for (size_t i = 0; i < done.unnamed.size();) {
    const uint32_t type = done.unnamed[i];
    if (t.types[type].raw_name.value == 0) {
      ++i;
      continue;
    }
    RETURN_IF_ERROR(write(type));
    done.unnamed[i] = done.unnamed.back();
    done.unnamed.pop_back();
  }
  for (; done.types < t.types.size(); ++done.types) {
    RETURN_IF_ERROR(write(done.types));
    if (t.types[done.types].raw_name.value == 0) done.unnamed.push_back(done.types);
  }
  return OkStatus();
}

Status CaptureWriter::WriteMethods(uint32_t index, bool last) {
  const profile::ProcessTables& t = *recording_->processes[index];
  Progress& done = progress_[index];
  // Only methods that own an address that was seen: a capture does not need the whole rundown.
  size_t kept = done.methods_seen == t.code.size() ? done.looked_at : 0;
  done.methods_seen = t.code.size();
  for (size_t i = kept; i < done.unsettled.size(); ++i) {
    const uint32_t a = done.unsettled[i];
    bool settled = false;
    for (const auto& [m, method] : t.code.Owners(t.stacks.addresses()[a].address)) {
      settled |= method.size != 0;
      if (done.methods.insert(m).second) RETURN_IF_ERROR(WriteMethod(index, method));
    }
    if (!settled) done.unsettled[kept++] = a;
  }
  done.unsettled.resize(kept);
  done.looked_at = kept;
  if (last && t.code.any_unloaded()) {  // unload times became known after the first write
    Status status = OkStatus();
    t.code.ForEach([&](uint32_t m, const profile::MethodCode& method) {
      if (status.ok() && t.code.unloaded(m) && done.methods.contains(m))
        status = WriteMethod(index, method);
    });
    RETURN_IF_ERROR(status);
  }
  return OkStatus();
}

Status CaptureWriter::WriteMethod(uint32_t process, const profile::MethodCode& m) {
  const auto text = [this](StringId id) { return recording_->strings.Get(id); };
  insert_method_.Bind(0, int64_t{process})
      .Bind(1, Signed(m.start))
      .Bind(2, m.load_ns)
      .Bind(3, int64_t{m.size})
      .Bind(4, int64_t{m.token});
  insert_method_.Bind(5, int64_t{m.flags})
      .Bind(6, Signed(m.method_id))
      .Bind(7, Signed(m.module_id));
  insert_method_.Bind(8, text(m.owner))
      .Bind(9, text(m.name))
      .Bind(10, text(m.signature))
      .Bind(11, m.unload_ns);
  return insert_method_.Run();
}

Status CaptureWriter::WriteModules(uint32_t index, bool last) {
  const profile::ProcessTables& t = *recording_->processes[index];
  Progress& done = progress_[index];
  const auto text = [this](StringId id) { return recording_->strings.Get(id); };
  for (size_t i = last ? 0 : done.modules; i < t.code.modules().size(); ++i) {
    const profile::ModuleImage& m = t.code.modules()[i];
    insert_module_.Bind(0, int64_t{index})
        .Bind(1, Signed(m.id))
        .Bind(2, text(m.path))
        .Bind(3, text(m.native_path))
        .Bind(4, text(m.mvid));
    RETURN_IF_ERROR(insert_module_.Run());
  }
  done.modules = static_cast<uint32_t>(t.code.modules().size());
  // Their ends become known after the first write.
  for (size_t i = last ? 0 : done.images; i < t.images.images().size(); ++i) {
    const profile::Image& m = t.images.images()[i];
    insert_mapping_.Bind(0, int64_t{index})
        .Bind(1, Signed(m.start))
        .Bind(2, Signed(m.end))
        .Bind(3, Signed(m.offset))
        .Bind(4, text(m.path))
        .Bind(5, text(m.build_id))
        .Bind(6, m.from_ns)
        .Bind(7, m.to_ns);
    RETURN_IF_ERROR(insert_mapping_.Run());
  }
  done.images = static_cast<uint32_t>(t.images.images().size());
  return OkStatus();
}

Status CaptureWriter::WriteThreads(uint32_t index) {
  for (const auto& [thread, name] : recording_->processes[index]->thread_names) {
    insert_thread_.Bind(0, int64_t{index})
        .Bind(1, Signed(thread))
        .Bind(2, recording_->strings.Get(name));
    RETURN_IF_ERROR(insert_thread_.Run());
  }
  return OkStatus();
}

Status CaptureWriter::WriteMessages(uint32_t index) {
  const std::vector<StringId>& messages = recording_->processes[index]->messages;
  for (uint32_t& done = progress_[index].messages; done < messages.size(); ++done) {
    insert_message_.Bind(0, int64_t{index})
        .Bind(1, int64_t{done})
        .Bind(2, recording_->strings.Get(messages[done]));
    RETURN_IF_ERROR(insert_message_.Run());
  }
  return OkStatus();
}

Status CaptureWriter::WriteLosses(int64_t process, const LossCounters& losses) {
  Status status = OkStatus();
  losses.ForEach([&](Loss loss, uint64_t count) {
    if (!status.ok()) return;
    insert_loss_.Bind(0, process).Bind(1, Describe(loss).name).Bind(2, Signed(count));
    status = insert_loss_.Run();
  });
  return status;
}

Status CaptureWriter::WriteSlice(const Encoded& e) {
  insert_slice_.Bind(0, int64_t{e.process})
      .Bind(1, e.start_ns)
      .Bind(2, e.end_ns)
      .Bind(3, Signed(e.rows))
      .Bind(4, Signed(e.samples))
      .Bind(5, BytesOf(e.data));
  return insert_slice_.Run();
}

Status CaptureWriter::WriteMeta(std::string_view key, int64_t value) {
  insert_meta_.Bind(0, key).Bind(1, value);
  return insert_meta_.Run();
}

}  // namespace clrscope::store
