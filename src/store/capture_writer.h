// SPDX-License-Identifier: Apache-2.0
// Writes a recording into a capture file while it goes on. Every Commit() is one transaction:
// killed at any moment, the file holds everything up to the last one and says how far it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "profile/tables/process_tables.h"
#include "profile/tables/slice.h"
#include "store/sqlite.h"

namespace clrscope::store {

// When a capture can be read: at any moment, also when its writer is killed; or, which is cheaper,
// once it is finished.
enum class Readable { kAlways, kWhenFinished };

class CaptureWriter final : public profile::SliceSink, public profile::IntervalSink {
 public:
  // Creates `path`, which must not exist. `recording` must outlive the writer.
  static Result<std::unique_ptr<CaptureWriter>> Create(const std::string& path,
                                                       profile::Recording* recording,
                                                       Readable readable = Readable::kAlways);
  // In memory: the file is Image() once it is finished.
  static Result<std::unique_ptr<CaptureWriter>> CreateInMemory(profile::Recording* recording);
  Bytes Image() const { return db_.Image(); }

  // Takes a slice; it is on disk after the next Commit().
  void Add(const profile::Slice& slice);
  void OnSlice(profile::Slice&& slice) override { Add(slice); }
  // An interval of the agent; analysis::IntervalFold makes them.
  void OnInterval(profile::AgentInterval&& interval) override;
  // The process has ended: after the next Commit() its tables are not looked at again, but for who
  // it is, and may be released.
  void Retire(uint32_t process);
  // Writes what is new since the last time; `end_ns`: how far the recording goes now.
  Status Commit(int64_t end_ns);
  // The last commit; `complete`: the recording ended as it should.
  Status Finish(bool complete);

  size_t pending_bytes() const { return pending_bytes_; }

 private:
  struct Encoded {
    uint32_t process;
    int64_t start_ns, end_ns;
    uint64_t rows, samples;
    std::string data;
  };
  struct EncodedInterval {
    uint32_t process;
    int64_t start_ns, end_ns, shift_ns;
    std::string data;
  };
  static EncodedInterval Encode(const profile::AgentInterval& interval);
  // How far each table of a process was written.
  struct Progress {
    uint32_t nodes = profile::StackTree::kFirstReal, addresses = 0, series = 0, types = 0,
             modules = 0, images = 0, labels = 0, messages = 0, source_files = 1;
    size_t places = 0;  // changes of what is known of addresses
    size_t agent_methods = 0, agent_types = 1, agent_nodes = 1;
    size_t methods_seen = 0;  // of the code map, when names were last looked up
    // Addresses without a method so far, or with one of which only the entry point is known: a
    // nearer entry point, which comes by a session of its own, or a rundown may still tell whose
    // they are. The first so many were looked at with this code.
    std::vector<uint32_t> unsettled;
    size_t looked_at = 0;
    std::vector<uint32_t> unnamed;     // types without a name so far
    std::vector<StringId> type_names;  // as they were written last
    uint64_t types_renamed = 0;
    std::unordered_set<uint32_t> methods;  // indexes that were written
    uint64_t gcs = 0;                      // rows of table gc
    uint64_t requests = 0;                 // changes of what is known of them
    std::vector<int64_t> gc_facts;         // as they were written last
    bool retiring = false, retired = false;
  };

  explicit CaptureWriter(Database db, profile::Recording* recording)
      : db_(std::move(db)), recording_(recording) {}
  static Result<std::unique_ptr<CaptureWriter>> Begin(Database db, profile::Recording* recording,
                                                      Readable readable);
  Status Prepare();
  Status Write(int64_t end_ns, bool last, bool complete);
  Status WriteProcess(uint32_t index, bool last);
  Status WriteDictionaries(uint32_t index);
  Status WriteBlob(uint32_t process, std::string_view kind, uint64_t first, uint64_t count,
                   const std::string& data);
  Status WriteTypes(uint32_t index);
  Status WriteMethods(uint32_t index, bool last);
  Status WriteMethod(uint32_t process, const profile::MethodCode& method);
  Status WriteMessages(uint32_t process);
  Status WriteRequests(uint32_t process);
  Status WriteThreads(uint32_t process);
  Status WritePlaces(uint32_t process);
  Status WriteModules(uint32_t index, bool last);
  Status WriteGcs(uint32_t index, bool last);
  Status WriteGcDetails(uint32_t index, uint64_t first, std::span<const profile::GcRecord> records);
  Status WriteGcFacts(uint32_t index, bool last);
  Status WriteSampler(uint32_t index);
  Status WriteOverhead(uint32_t index);
  Status WriteMemory(uint32_t index);
  Status WriteCounting(uint32_t index, const profile::Counting& counting);
  Status WriteLosses(int64_t process, const LossCounters& losses);
  Status WriteSlice(const Encoded& slice);
  Status WriteAgentDictionary(uint32_t index);
  Status WriteInterval(const EncodedInterval& interval);
  Status WriteMeta(std::string_view key, int64_t value);
  // Merges slices that are old into wider ones: 1 s for 10 minutes, 10 s for 2 hours, then 1
  // minute.
  Status Compact(int64_t end_ns);
  Status CompactTo(int64_t width_ns, int64_t before_ns);
  Status CompactMemoryTo(int64_t width_ns, int64_t before_ns);
  // Puts the small blobs of collections together.
  Status CompactGcs();
  Status CompactIntervalsTo(int64_t width_ns, int64_t before_ns);
  // For slices of a process whose tables were released.
  Result<profile::SeriesTable> ReadSeries(uint32_t process);

  Database db_;
  profile::Recording* recording_;
  std::vector<Progress> progress_;
  // A transaction that failed: what is written no longer matches progress_, so it was the last one.
  std::optional<Error> failed_;
  std::vector<Encoded> pending_;
  std::vector<EncodedInterval> pending_intervals_;
  size_t pending_bytes_ = 0;
  int64_t compacted_ns_ = 0;
  Statement insert_process_, insert_thread_, insert_message_, insert_module_, insert_method_,
      insert_type_, insert_mapping_, insert_gc_, insert_gc_detail_, insert_gc_fact_,
      insert_gc_type_, insert_counting_, insert_sampler_, insert_thread_sample_, insert_overhead_,
      insert_memory_, insert_loss_, insert_dictionary_, insert_slice_, insert_meta_,
      insert_agent_dictionary_, insert_interval_, insert_route_, insert_operation_, delete_slow_,
      insert_slow_, insert_place_, insert_source_file_;
};

}  // namespace clrscope::store
