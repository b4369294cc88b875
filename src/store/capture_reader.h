// SPDX-License-Identifier: Apache-2.0
// Reads a capture file: its dictionaries at once, its slices as they are asked for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/aggregate.h"
#include "profile/tables/process_tables.h"
#include "store/sqlite.h"

namespace clrscope::store {

// The agent's intervals by process and time, as they are asked for. Its reader must outlive it.
class IntervalStream {
 public:
  // The next one, valid until the next call; null at the end.
  Result<const profile::AgentInterval*> Next();

 private:
  friend class CaptureReader;
  IntervalStream(const profile::Recording* recording, std::optional<Statement> rows)
      : recording_(recording), rows_(std::move(rows)) {}

  const profile::Recording* recording_;
  std::optional<Statement> rows_;  // none: the capture is older than agents
  profile::AgentInterval interval_;
};

class CaptureReader {
 public:
  // A file that is not a capture, is damaged, or was written by a newer version is an error.
  static Result<std::unique_ptr<CaptureReader>> Open(const std::string& path);

  const profile::Recording& recording() const { return recording_; }
  // Moves the dictionaries out; ForEachSlice() needs them and must not be called afterwards.
  profile::Recording& mutable_recording() { return recording_; }
  // Calls `visit` for every slice of the range, by process and time.
  Status ForEachSlice(const analysis::TimeRange& range,
                      const std::function<void(const profile::Slice&)>& visit);
  // The same for the agent's intervals, of which any part lies in the range.
  Status ForEachInterval(const analysis::TimeRange& range,
                         const std::function<void(const profile::AgentInterval&)>& visit);
  // The same, to be asked for one after the other.
  Result<IntervalStream> Intervals(const analysis::TimeRange& range);
  Database& database() { return db_; }
  int64_t schema_version() const { return version_; }  // of the file

 private:
  explicit CaptureReader(Database db) : db_(std::move(db)) {}
  // How many steps SQLite may take while this lives; then queries of others are free again.
  struct WorkBound {
    std::unique_ptr<int64_t> left;
    std::unique_ptr<sqlite3, void (*)(sqlite3*)> unbound;  // destroyed before `left`
  };
  WorkBound BoundWork();
  Status Load();
  Status LoadProcesses();
  Status LoadTypes();
  Status LoadDictionaries();
  Status LoadCode();
  Status LoadRest();
  Status LoadThreads();
  Status LoadPlaces();
  Status LoadMessages();
  Status LoadRequests();
  Status LoadOperations();
  Status LoadGcs();
  struct GcRow;
  using GcRows = std::vector<std::vector<GcRow>>;  // by process
  Status LoadGcDetails(const GcRows& gc_rows);
  Status LoadCounting();
  Status LoadSamplers();
  Status LoadThreadSamples();
  Status LoadOverhead();
  Status LoadMemory();
  Status LoadAgents();
  Result<bool> HasTable(std::string_view name);
  profile::ProcessTables* Process(int64_t index) const;

  Database db_;
  int64_t version_ = 1;  // of the file's schema
  profile::Recording recording_;
};

// Whether the file begins like an SQLite database.
bool LooksLikeCapture(const std::string& path);

}  // namespace clrscope::store
