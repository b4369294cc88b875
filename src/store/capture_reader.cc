// SPDX-License-Identifier: Apache-2.0
#include "store/capture_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <type_traits>

#include "store/column_codec.h"
#include "store/damaged.h"
#include "store/schema.h"
#include "store/slice_codec.h"

namespace clrscope::store {
namespace {

// Of one kind in one process: more than any writer's cap, so that a small damaged file cannot ask
// for gigabytes.
constexpr uint64_t kMaxEntries = 2'000'000;
constexpr size_t kMaxProcesses = 4096;

// Damaged trees can lead SQLite in circles: it may work so long as the file's size explains.
constexpr int kWorkStep = 1000;
void Unbound(sqlite3* db) { sqlite3_progress_handler(db, 0, nullptr, nullptr); }
int SpendWork(void* left) { return (*static_cast<int64_t*>(left) -= kWorkStep) < 0 ? 1 : 0; }
}  // namespace

CaptureReader::WorkBound CaptureReader::BoundWork() {
  int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(recording_.origin + suffix, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  // A row takes 20 bytes or so and some 50 steps, and is read in two queries at most.
  WorkBound bound{std::make_unique<int64_t>(50'000'000 + 20 * bytes), {db_.raw(), &Unbound}};
  sqlite3_progress_handler(db_.raw(), kWorkStep, &SpendWork, bound.left.get());
  return bound;
}

bool LooksLikeCapture(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false;  // what is read of a pipe is gone
  char head[16] = {};
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (f == nullptr) return false;
  const size_t n = std::fread(head, 1, sizeof(head), f);
  std::fclose(f);
  return n == sizeof(head) && std::memcmp(head, "SQLite format 3", 16) == 0;
}

Result<std::unique_ptr<CaptureReader>> CaptureReader::Open(const std::string& path) {
  ASSIGN_OR_RETURN(Database db, Database::Open(path, Database::Mode::kReadOnly));
  // A capture from elsewhere may be hostile: no views, triggers or functions of its own, no huge
  // values.
  RETURN_IF_ERROR(db.Execute("pragma trusted_schema=off; pragma cell_size_check=on"));
  sqlite3_limit(db.raw(), SQLITE_LIMIT_LENGTH, 64 << 20);
  ASSIGN_OR_RETURN(
      Statement odd,
      db.Prepare("select count(*) from pragma_table_list where schema='main' and type<>'table'"));
  ASSIGN_OR_RETURN(const bool counted, odd.Step());
  if (!counted || odd.Int(0) != 0)
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: not a clrscope capture: it has views", path)};
  std::unique_ptr<CaptureReader> reader(new CaptureReader(std::move(db)));
  reader->recording_.origin = path;
  const auto budget = reader->BoundWork();
  if (Status status = reader->Load(); !status.ok()) {
    Error e = status.error();
    if (e.message.find(path) == std::string::npos)
      e.message = fmt::format("{}: {}", path, e.message);
    return e;
  }
  return reader;
}

profile::ProcessTables* CaptureReader::Process(int64_t index) const {
  return index >= 0 && static_cast<size_t>(index) < recording_.processes.size()
             ? recording_.processes[static_cast<size_t>(index)].get()
             : nullptr;
}

Status CaptureReader::Load() {
  ASSIGN_OR_RETURN(Statement id, db_.Prepare("pragma application_id"));
  ASSIGN_OR_RETURN(const bool has_id, id.Step());
  if (!has_id || id.Int(0) != kApplicationId)
    return Error{ErrorCode::kCorrupt, "an SQLite database, but not a clrscope capture"};
  ASSIGN_OR_RETURN(Statement meta, db_.Prepare("select key,value from meta"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, meta.Step());
    if (!row) break;
    const std::string_view key = meta.Text(0);
    const int64_t value = meta.Int(1);
    if (key == "schema_version" && value > kSchemaVersion)
      return Error{
          ErrorCode::kRefused,
          fmt::format(
              "written by a newer clrscope (schema {}, this one reads up to {}): update clrscope",
              value, kSchemaVersion)};
    if (key == "schema_version") version_ = value;
    if (key == "start_unix_ns") recording_.start_unix_ns = value;
    if (key == "end_ns") recording_.end_ns = value;
    if (key == "complete") recording_.complete = value != 0;
  }
  RETURN_IF_ERROR(LoadProcesses());
  RETURN_IF_ERROR(LoadTypes());
  RETURN_IF_ERROR(LoadDictionaries());
  RETURN_IF_ERROR(LoadCode());
  return LoadRest();
}

Status CaptureReader::LoadProcesses() {
  ASSIGN_OR_RETURN(Statement q,
                   db_.Prepare(fmt::format("select pid,name,command_line,runtime,os,arch,"
                                           "pointer_size,start_ns,end_ns,complete,"
                                           "sizes_unknown,{} from process order by id",
                                           version_ >= 2 ? "measures" : "0")
                                   .c_str()));
  StringPool& s = recording_.strings;
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    if (recording_.processes.size() >= kMaxProcesses) return Damaged("its processes");
    auto t = std::make_unique<profile::ProcessTables>(profile::StackTree::kDefaultMaxNodes,
                                                      profile::SeriesTable::kDefaultMax,
                                                      recording_.methods);
    t->info.pid = static_cast<uint32_t>(q.Int(0));
    t->info.name = s.Intern(q.Text(1));
    t->info.command_line = s.Intern(q.Text(2));
    t->info.runtime = s.Intern(q.Text(3));
    t->info.os = s.Intern(q.Text(4));
    t->info.arch = s.Intern(q.Text(5));
    t->pointer_size = static_cast<uint32_t>(q.Int(6));
    t->info.start_ns = q.Int(7);
    t->info.end_ns = q.Int(8);
    t->info.complete = q.Int(9) != 0;
    t->sizes_unknown = q.Int(10) != 0;
    t->info.measures = static_cast<uint32_t>(q.Int(11));
    t->types.clear();
    recording_.processes.push_back(std::move(t));
  }
}

Status CaptureReader::LoadTypes() {
  ASSIGN_OR_RETURN(
      Statement types,
      db_.Prepare("select process,id,runtime_id,raw_name from type order by process,id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, types.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(types.Int(0));
    if (t == nullptr || static_cast<size_t>(types.Int(1)) != t->types.size())
      return Damaged("its types");
    t->types.push_back(
        {static_cast<uint64_t>(types.Int(2)), recording_.strings.Intern(types.Text(3))});
  }
}

Status CaptureReader::LoadDictionaries() {
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare("select process,kind,first,count,data from dictionary order by rowid"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) return Damaged("a dictionary of no process");
    const std::string kind(q.Text(1));
    const auto first = static_cast<uint64_t>(q.Int(2));
    const auto count = static_cast<uint64_t>(q.Int(3));
    ASSIGN_OR_RETURN(ColumnReader r, ColumnReader::Open(q.Blob(4)));
    if (count == 0 || count > r.remaining() / 2 || count > kMaxEntries)
      return Damaged("a dictionary's size");
    const auto read = [&](auto&& value) {
      std::vector<uint64_t> v(static_cast<size_t>(count));
      for (uint64_t& x : v) x = value();
      return v;
    };
    const auto read_unsigned = [&] { return read([&r] { return r.Unsigned(); }); };
    const auto read_signed = [&] {
      return read([&r] { return static_cast<uint64_t>(r.Signed()); });
    };
    if (kind == "address") {
      const auto deltas = read_signed(), times = read_signed();
      if (!r.ok() || first != t->stacks.addresses().size() || first > kMaxEntries)
        return Damaged("its addresses");
      uint64_t address = 0;
      for (size_t i = 0; i < count; ++i) {
        address += deltas[i];
        t->stacks.RestoreAddress({address, static_cast<int64_t>(times[i])});
      }
    } else if (kind == "node") {
      const auto parents = read_unsigned(), addresses = read_unsigned();
      if (!r.ok() || first != t->stacks.size() || first > kMaxEntries) return Damaged("its stacks");
      for (size_t i = 0; i < count; ++i) {
        const uint64_t node = first + i;
        if (parents[i] == 0 || parents[i] > node || addresses[i] >= t->stacks.addresses().size())
          return Damaged("a stack");
        t->stacks.RestoreNode(static_cast<uint32_t>(node - parents[i]),
                              static_cast<uint32_t>(addresses[i]));
      }
    } else if (kind == "label") {
      if (count > profile::LabelTable::kMost) return Damaged("its labels");
      std::vector<profile::LabelSet> sets(static_cast<size_t>(count));
      // Keys that came later have no column in older captures.
      for (size_t label = 0; label < profile::kLabelKeys && (label == 0 || r.remaining() != 0);
           ++label)
        for (profile::LabelSet& set : sets) set.values[label] = r.Unsigned();
      if (!r.ok() || first != t->labels.sets().size()) return Damaged("its labels");
      for (const profile::LabelSet& set : sets)
        if (!t->labels.Restore(set)) return Damaged("its labels");
    } else if (kind == "series") {
      const auto nodes = read_unsigned(), series_types = read_unsigned();
      const auto attributes = read_unsigned();
      const auto labels =
          version_ >= 2 ? read_unsigned() : std::vector<uint64_t>(attributes.size());
      const auto nominal = read_unsigned();
      if (!r.ok() || first != t->series.keys().size() || first > kMaxEntries)
        return Damaged("its series");
      for (size_t i = 0; i < count; ++i) {
        if (nodes[i] >= t->stacks.size() || series_types[i] >= t->types.size())
          return Damaged("a series");
        const std::optional<uint16_t> known = SeriesAttributes(attributes[i], version_);
        if (!known) return Damaged("a series' event");
        if (labels[i] >= t->labels.sets().size()) return Damaged("a series' labels");
        t->series.Restore({static_cast<uint32_t>(nodes[i]), static_cast<uint32_t>(series_types[i]),
                           *known, static_cast<uint16_t>(labels[i])},
                          nominal[i]);
      }
    }
  }
}

Status CaptureReader::LoadCode() {
  StringPool& s = recording_.strings;
  ASSIGN_OR_RETURN(Statement modules,
                   db_.Prepare("select process,module_id,path,native_path,mvid from module"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, modules.Step());
    if (!row) break;
    if (profile::ProcessTables* t = Process(modules.Int(0)))
      t->code.AddModule({static_cast<uint64_t>(modules.Int(1)), s.Intern(modules.Text(2)),
                         s.Intern(modules.Text(3)), s.Intern(modules.Text(4))});
  }
  ASSIGN_OR_RETURN(Statement methods, db_.Prepare("select "
                                                  "process,start,size,token,flags,method_id,module_"
                                                  "id,owner,name,signature,load_ns,unload_ns "
                                                  "from method order by process,load_ns"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, methods.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(methods.Int(0));
    if (t == nullptr) continue;
    profile::MethodCode m;
    m.start = static_cast<uint64_t>(methods.Int(1));
    m.size = static_cast<uint32_t>(methods.Int(2));
    m.token = static_cast<uint32_t>(methods.Int(3));
    m.flags = static_cast<uint32_t>(methods.Int(4));
    m.method_id = static_cast<uint64_t>(methods.Int(5));
    m.module_id = static_cast<uint64_t>(methods.Int(6));
    m.owner = s.Intern(methods.Text(7));
    m.name = s.Intern(methods.Text(8));
    m.signature = s.Intern(methods.Text(9));
    m.load_ns = methods.Int(10);
    m.unload_ns = methods.Int(11);
    if (m.size == 0) {
      t->code.AddEntry(m);
    } else {
      t->code.Add(m);
    }
  }
}

Status CaptureReader::LoadRest() {
  StringPool& s = recording_.strings;
  ASSIGN_OR_RETURN(
      Statement mappings,
      db_.Prepare(fmt::format("select process,start,end,file_offset,path,{} from mapping",
                              version_ >= 2 ? "build_id,from_ns,to_ns" : "'',0,0")));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, mappings.Step());
    if (!row) break;
    profile::ProcessTables* t = Process(mappings.Int(0));
    if (t == nullptr) continue;
    profile::Image image{static_cast<uint64_t>(mappings.Int(1)),
                         static_cast<uint64_t>(mappings.Int(2)),
                         static_cast<uint64_t>(mappings.Int(3)), s.Intern(mappings.Text(4)),
                         s.Intern(mappings.Text(5))};
    if (version_ >= 2) {
      image.from_ns = mappings.Int(6);
      image.to_ns = mappings.Int(7);
    }
    t->images.Restore(image);
  }
  RETURN_IF_ERROR(LoadThreads());
  RETURN_IF_ERROR(LoadPlaces());
  RETURN_IF_ERROR(LoadMessages());
  RETURN_IF_ERROR(LoadRequests());
  RETURN_IF_ERROR(LoadGcs());
  RETURN_IF_ERROR(LoadCounting());
  RETURN_IF_ERROR(LoadSamplers());
  RETURN_IF_ERROR(LoadThreadSamples());
  RETURN_IF_ERROR(LoadOverhead());
  RETURN_IF_ERROR(LoadMemory());
  RETURN_IF_ERROR(LoadAgents());
  ASSIGN_OR_RETURN(Statement losses, db_.Prepare("select process,name,count from loss"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, losses.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(losses.Int(0));
    (t == nullptr ? recording_.losses : t->losses)
        .AddByName(losses.Text(1), static_cast<uint64_t>(losses.Int(2)));
  }
}

Status CaptureReader::LoadThreads() {
  ASSIGN_OR_RETURN(const bool there, HasTable("thread"));
  if (!there) return OkStatus();
  ASSIGN_OR_RETURN(Statement q, db_.Prepare("select process,thread,name from thread"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    if (profile::ProcessTables* t = Process(q.Int(0)))
      t->thread_names[static_cast<uint64_t>(q.Int(1))] = recording_.strings.Intern(q.Text(2));
  }
}

Status CaptureReader::LoadMessages() {
  ASSIGN_OR_RETURN(const bool there, HasTable("message"));
  if (!there) return OkStatus();
  ASSIGN_OR_RETURN(Statement q,
                   db_.Prepare("select process,id,text from message order by process,id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) continue;
    if (q.Int(1) != static_cast<int64_t>(t->messages.size())) return Damaged("its messages");
    t->messages.push_back(recording_.strings.Intern(q.Text(2)));
  }
}

Result<bool> CaptureReader::HasTable(std::string_view name) {
  ASSIGN_OR_RETURN(Statement q,
                   db_.Prepare("select 1 from sqlite_master where type='table' and name=?"));
  q.Bind(0, name);
  return q.Step();
}

Status CaptureReader::LoadAgents() {
  ASSIGN_OR_RETURN(const bool there, HasTable("agent_dictionary"));
  if (!there) return OkStatus();
  ASSIGN_OR_RETURN(Statement q,
                   db_.Prepare("select process,data from agent_dictionary order by id"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) return Damaged("an agent of no process");
    ASSIGN_OR_RETURN(profile::IntervalFrame f, DecodeIntervalBlob(q.Blob(1)));
    profile::AgentTables& a = t->agent;
    if (f.first_method != a.methods.size() || f.first_type != a.types.size() ||
        f.first_node != a.nodes.size() || a.nodes.size() > kMaxEntries ||
        a.types.size() > kMaxEntries || a.methods.size() > kMaxEntries)
      return Damaged("what its agent told");
    for (profile::IntervalNode& n : f.nodes)
      if (f.first_place != 0 || n.place > t->stacks.addresses().size()) n.place = 0;
    a.used = true;
    a.source = f.source;
    a.methods.insert(a.methods.end(), std::make_move_iterator(f.methods.begin()),
                     std::make_move_iterator(f.methods.end()));
    a.types.insert(a.types.end(), std::make_move_iterator(f.types.begin()),
                   std::make_move_iterator(f.types.end()));
    a.nodes.insert(a.nodes.end(), f.nodes.begin(), f.nodes.end());
  }
}

Status CaptureReader::ForEachInterval(
    const analysis::TimeRange& range,
    const std::function<void(const profile::AgentInterval&)>& visit) {
  ASSIGN_OR_RETURN(IntervalStream intervals, Intervals(range));
  const auto budget = BoundWork();
  for (;;) {
    ASSIGN_OR_RETURN(const profile::AgentInterval* interval, intervals.Next());
    if (interval == nullptr) return OkStatus();
    visit(*interval);
  }
}

Result<IntervalStream> CaptureReader::Intervals(const analysis::TimeRange& range) {
  ASSIGN_OR_RETURN(const bool there, HasTable("agent_interval"));
  if (!there) return IntervalStream(&recording_, std::nullopt);
  ASSIGN_OR_RETURN(Statement q,
                   db_.Prepare("select process,shift_ns,data from main.agent_interval where "
                               "end_ns>? and start_ns<? order by process,start_ns"));
  q.Bind(0, range.from_ns).Bind(1, range.to_ns);
  return IntervalStream(&recording_, std::move(q));
}

Result<const profile::AgentInterval*> IntervalStream::Next() {
  const profile::AgentInterval* none = nullptr;
  if (!rows_) return none;
  ASSIGN_OR_RETURN(const bool row, rows_->Step());
  if (!row) return none;
  const int64_t process = rows_->Int(0);
  if (process < 0 || static_cast<size_t>(process) >= recording_->processes.size())
    return Damaged("an interval of no process");
  const profile::AgentTables& t = recording_->processes[static_cast<size_t>(process)]->agent;
  interval_.process = static_cast<uint32_t>(process);
  interval_.shift_ns = rows_->Int(1);
  ASSIGN_OR_RETURN(interval_.frame, DecodeIntervalBlob(rows_->Blob(2)));
  const profile::IntervalFrame& f = interval_.frame;
  constexpr int64_t kFar = int64_t{1} << 61;  // sums of two times stay whole
  if (f.first_type > t.types.size() || f.first_node > t.nodes.size() || !f.types.empty() ||
      !f.nodes.empty() || interval_.shift_ns > kFar || interval_.shift_ns < -kFar ||
      f.start_ns < -kFar || f.end_ns > kFar || f.end_ns < f.start_ns)
    return Damaged("an interval of its agent");
  return static_cast<const profile::AgentInterval*>(&interval_);
}

Status CaptureReader::LoadOverhead() {
  ASSIGN_OR_RETURN(const bool there, HasTable("overhead"));
  if (!there) return OkStatus();  // files of earlier builds
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare("select process,part,ns,windows,windows_ns,of_ns,limit_ppm from overhead"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr || q.Int(2) < 0 || q.Int(3) < 0 || q.Int(4) < 0 || q.Int(5) < 0)
      return Damaged("what the recording took it");
    profile::Overhead& o = t->info.overhead;
    const std::string_view part = q.Text(1);
    if (part == "program") {
      constexpr double kMillion = 1e6;
      o.cpu_ns = q.Int(2);
      o.limit = static_cast<double>(q.Int(6)) / kMillion;
    }
    for (size_t i = 0; i < profile::kOverheadParts; ++i) {
      if (part != profile::OverheadName(static_cast<profile::OverheadPart>(i))) continue;
      o.cost_ns[i] = q.Int(2);
      o.windows[i] = {static_cast<uint64_t>(q.Int(3)), q.Int(4), q.Int(5)};
    }
  }
}

Status CaptureReader::LoadMemory() {
  ASSIGN_OR_RETURN(const bool there, HasTable("memory"));
  if (!there) return OkStatus();  // files of earlier builds
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare("select process,at_ns,rss_bytes,private_bytes,file_bytes,shared_bytes,"
                  "swap_bytes,threads from memory order by process,at_ns"));
  constexpr int64_t kMost = int64_t{1} << 56;  // figures are added up and compared
  constexpr int64_t kMostThreads = 1 << 22;    // Source: Linux include/linux/threads.h
  const auto number = [&](int column) { return std::clamp<int64_t>(q.Int(column), -1, kMost); };
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr || q.Int(2) < 0) return Damaged("the memory of its processes");
    t->info.memory.push_back({std::clamp(q.Int(1), -kMost, kMost), number(2), number(3), number(4),
                              number(5), number(6), std::min(number(7), kMostThreads)});
  }
}

Status CaptureReader::LoadSamplers() {
  ASSIGN_OR_RETURN(const bool there, HasTable("cpu_sampler"));
  if (!there) return OkStatus();  // files of earlier builds
  ASSIGN_OR_RETURN(Statement q, db_.Prepare("select process,sampler,hz from cpu_sampler"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    const int64_t sampler = q.Int(1);
    if (t == nullptr || sampler <= 0 || sampler >= profile::kCpuSamplers)
      return Damaged("who sampled its CPU time");
    t->info.sampler = static_cast<profile::CpuSampler>(sampler);
    t->info.sampler_hz = static_cast<uint32_t>(q.Int(2));
  }
}

Status CaptureReader::LoadThreadSamples() {
  ASSIGN_OR_RETURN(const bool there, HasTable("thread_sample"));
  if (!there) return OkStatus();  // files of earlier builds
  ASSIGN_OR_RETURN(Statement q, db_.Prepare("select process,samples,managed from thread_sample"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr || q.Int(2) < 0 || q.Int(1) < q.Int(2))
      return Damaged("how many samples of threads it holds");
    t->source_samples[static_cast<size_t>(profile::Source::kThreadWall)] =
        static_cast<uint64_t>(q.Int(1));
    t->source_samples[static_cast<size_t>(profile::Source::kThreadCpu)] =
        static_cast<uint64_t>(q.Int(2));
  }
}

Status CaptureReader::LoadCounting() {
  ASSIGN_OR_RETURN(const bool there, HasTable("counting"));
  if (!there) return OkStatus();  // captures of the first version have none
  ASSIGN_OR_RETURN(
      Statement q,
      db_.Prepare("select process,mode,ended,loh_threshold,loh_known,events,aligned_low,"
                  "aligned_high,added,added_bytes,guessed,guessed_bytes,threads,gaps,gc_known,"
                  "gc_bytes,gc_heaps from counting"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) return Damaged("a count of no process");
    const int64_t mode = q.Int(1);
    if (mode < 0 || mode > static_cast<int64_t>(profile::CountMode::kAll))
      return Damaged("what it counted");
    const auto number = [&q](int column) { return static_cast<uint64_t>(q.Int(column)); };
    profile::Counting& c = t->counting;
    c.mode = static_cast<profile::CountMode>(mode);
    c.ended = q.Int(2) != 0;
    c.loh_threshold = number(3);
    c.loh_known = q.Int(4) != 0;
    c.events = number(5);
    c.aligned_low = number(6);
    c.aligned_high = number(7);
    c.added = number(8);
    c.added_bytes = number(9);
    c.guessed = number(10);
    c.guessed_bytes = number(11);
    c.threads = number(12);
    c.gaps = number(13);
    c.gc_known = q.Int(14) != 0;
    c.gc_bytes = number(15);
    c.gc_heaps = static_cast<uint32_t>(q.Int(16));
  }
}

Status CaptureReader::ForEachSlice(const analysis::TimeRange& range,
                                   const std::function<void(const profile::Slice&)>& visit) {
  ASSIGN_OR_RETURN(Statement q, db_.Prepare("select process,start_ns,end_ns,data from slice where "
                                            "end_ns>? and start_ns<? order by process,start_ns"));
  q.Bind(0, range.from_ns).Bind(1, range.to_ns);
  const auto budget = BoundWork();
  profile::Slice slice;
  for (;;) {
    ASSIGN_OR_RETURN(const bool row, q.Step());
    if (!row) return OkStatus();
    profile::ProcessTables* t = Process(q.Int(0));
    if (t == nullptr) return Damaged("a slice of no process");
    slice.process = static_cast<uint32_t>(q.Int(0));
    slice.start_ns = q.Int(1);
    slice.end_ns = q.Int(2);
    if (!range.Contains(slice)) continue;
    RETURN_IF_ERROR(DecodeSlice(q.Blob(3), t->series, slice));
    visit(slice);
  }
}

}  // namespace clrscope::store
