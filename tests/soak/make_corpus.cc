// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of fuzz/corpus/nettrace and fuzz/corpus/capture: make_corpus
// REPOSITORY/fuzz/corpus
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "analysis/trace_fold.h"
#include "import/trace_file.h"
#include "nettrace/testing/synthetic_writer.h"
#include "store/capture_writer.h"

namespace {

using namespace clrscope;
using namespace clrscope::nettrace::testing;

constexpr const char* kRuntime = "Microsoft-Windows-DotNETRuntime";
constexpr const char* kRundown = "Microsoft-Windows-DotNETRuntimeRundown";
constexpr const char* kHosting = "Microsoft.AspNetCore.Hosting";
constexpr const char* kMetrics = "System.Diagnostics.Metrics";

MetadataRow Kind(uint32_t metadata, const char* provider, uint32_t id, uint32_t version) {
  MetadataRow m;
  m.id = metadata;
  m.provider = provider;
  m.event_id = id;
  m.version = version;
  return m;
}

MetadataRow Counters(uint32_t metadata) {
  MetadataRow m = Kind(metadata, "System.Runtime", 0, 0);
  m.name = "EventCounters";
  return m;
}

std::string CounterPayload() {
  constexpr uint32_t kOneSecond = 0x3F800000;  // as a float
  return ByteWriter()
      .Z16("exception-count")
      .Z16("Exception Count")
      .Z16("00:00:01")
      .F64(12'345)
      .U32(kOneSecond)
      .Z16("")
      .Z16("Interval=1000")
      .Z16("Sum")
      .Z16("")
      .Take();
}

// The id of the request `n`, or of what it began.
std::string RequestId(char n, char child = 0) {
  std::string id(16, '\0');
  id[0] = 0x1C;
  id[1] = n;
  id[2] = child;
  return id;
}

std::string HistogramPayload(uint32_t version, std::string_view tags) {
  ByteWriter w;
  w.Z16("s1")
      .Z16("Microsoft.AspNetCore.Hosting")
      .Z16("")
      .Z16("http.server.request.duration")
      .Z16("s")
      .Z16(tags)
      .Z16("0.5=0.01;0.95=1E-05")
      .Put(int32_t{3})
      .F64(0.25);
  return version >= 2 ? w.U32(7).Take() : w.Take();
}

// A small stream with every event that is folded.
std::string Trace(uint32_t version, bool compressed, uint32_t pointer_size) {
  WriterOptions options;
  options.version = version;
  options.compressed = compressed;
  options.pointer_size = pointer_size;
  SyntheticWriter w(options);
  w.Metadata({Kind(1, kRuntime, 10, 4),
              Kind(2, kRuntime, 303, 0),
              Kind(3, kRuntime, 20, 0),
              Kind(4, kRuntime, 15, 0),
              Kind(5, kRuntime, 143, 2),
              Kind(6, kRuntime, 144, 1),
              Kind(7, kRuntime, 152, 2),
              Kind(8, kRuntime, 1, 2),
              Kind(9, kRuntime, 2, 1),
              Kind(10, kRuntime, 4, 2),
              Kind(11, kRundown, 144, 1),
              Kind(12, kRundown, 187, 0),
              Kind(13, "Microsoft-DotNETCore-EventPipe", 1, 1),
              Kind(14, kRundown, 152, 1),
              Kind(15, kRuntime, 80, 1),
              Kind(16, kRuntime, 81, 2),
              Kind(17, kRuntime, 91, 1),
              Kind(18, kRuntime, 301, 0),
              Kind(19, kRuntime, 302, 0),
              Counters(20),
              Kind(21, kHosting, 3, 0),
              Kind(22, kHosting, 4, 0),
              Kind(23, kMetrics, 6, 1),
              Kind(24, kMetrics, 6, 2),
              Kind(25, kMetrics, 3, 0),
              Kind(26, kMetrics, 15, 0)});
  if (version >= 6) w.Threads({{100, 7, 8, "main"}, {200, 9, 10, ""}});
  if (version >= 6)
    w.Labels(1,
             {ActivityLabels("aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"), ActivityLabels(RequestId(1)),
              ActivityLabels(RequestId(1, 0x30)), ActivityLabels(RequestId(2))});
  w.Stacks(1, {{0x10010, 0x20010}, {0x10020, 0x20010}, {0x30000}});
  int64_t time = 2000;
  const std::string ids[] = {{}, {}, RequestId(1), RequestId(1, 0x30), RequestId(2)};
  const auto event = [&](uint32_t kind, std::string payload, uint32_t stack = 0, bool sorted = true,
                         uint32_t id = 1) {
    EventRowSpec e;
    e.metadata = kind;
    e.time = time += 300'000'000;
    e.stack = stack;
    e.sorted = sorted;
    e.thread = kind % 2 == 0 ? 100 : 200;
    e.payload = std::move(payload);
    if (version >= 6)
      e.labels = id;
    else
      e.activity = ids[id];
    w.Event(e);
  };
  TickFields tick;
  SampledFields sampled;
  MethodFields method;
  method.start = 0x10000;
  event(13, ProcessInfoPayload("dotnet app.dll", "Linux", "x64"));
  event(5, MethodVerbosePayload(2, method));
  event(1, AllocationTickPayload(4, tick, pointer_size), 1);
  event(2, AllocationSampledPayload(sampled, pointer_size), 2, false);
  event(3, SampledObjectPayload(1, 0x7100, 5, 160, pointer_size), 3);
  event(4, BulkTypePayload({{0x7100, "App.Node`1[System.String]", {0x7000}, 1, 2, 3}}));
  event(8, GcStartPayload(2, 1, 2, 0, 1));
  event(9, GcEndPayload(1, 1, 2));
  event(10, HeapStatsPayload(2, {1, 2, 3, 4, 5}));
  event(6, MethodVerbosePayload(1, method));
  event(5, MethodVerbosePayload(2, method));
  event(1, AllocationTickPayload(4, tick, pointer_size), 1);
  event(15,
        ByteWriter().Z16("Shop.Error").Z16("no such user").U64(0).U32(0).U16(0x13).U16(0).Take(),
        1);
  event(16, ByteWriter().U8(0).U16(0).U64(5).U64(6).U64(99).Take(), 2);
  event(18, ByteWriter().U8(0).U64(0).U16(0).Take(), 3);
  event(17, ByteWriter().U8(0).U16(0).F64(1e6).Take());
  event(19, ByteWriter().U16(0).Take());
  event(20, CounterPayload());
  event(21, ByteWriter().Z16("GET").Z16("/items/17").Take(), 0, true, 2);
  event(2, AllocationSampledPayload(sampled, pointer_size), 2, true, 2);
  event(15, ByteWriter().Z16("Shop.Error").Z16("").U64(0).U32(0).U16(0x10).U16(0).Take(), 1, true,
        3);
  event(21, ByteWriter().Z16("POST").Z16("/orders/a%20b").Take(), 0, true, 4);
  event(16, ByteWriter().U8(0).U16(0).U64(5).U64(6).U64(99).Take(), 2, true, 4);
  event(17, ByteWriter().U8(0).U16(0).F64(1e6).Take(), 0, true, 4);
  event(22, "", 0, true, 2);
  event(1, AllocationTickPayload(4, tick, pointer_size), 1, true, 2);
  event(23, HistogramPayload(1,
                             "http.request.method=GET,http.response.status_code=200,"
                             "http.route=/items/{id:int}"));
  event(24, HistogramPayload(2,
                             "error.type=500,http.request.method=POST,"
                             "http.response.status_code=500,http.route=/orders/{name?}"));
  event(24, HistogramPayload(2, "http.request.method=GET,http.response.status_code=404"));
  event(25, ByteWriter().Z16("s1").I64(1).I64(2).Take());
  event(26, ByteWriter().Z16("other").Take());
  event(21, ByteWriter().Z16("GET").Z16("/items/18").Take(), 0, true, 2);
  w.SequencePoint(time + 1, w.Sequences());
  method.start = 0x20000;
  event(11, MethodVerbosePayload(1, method));
  event(7, ModulePayload(2, 2, "/app/App.dll", "0123456789abcdef"));
  event(14, DomainModulePayload(2, 1, "/app/App.dll"));
  event(12, RuntimeStartPayload(10, 0, 12, "dotnet app.dll"));
  w.Unknown("??").End();
  return w.str() + '\x00';
}

void Write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "make_corpus REPOSITORY/fuzz/corpus\n");
    return 2;
  }
  const std::filesystem::path corpus = argv[1];
  for (const uint32_t version : {4u, 5u, 6u})
    for (const bool compressed : {false, true})
      for (const uint32_t pointer : {4u, 8u}) {
        const std::string name = "v" + std::to_string(version) +
                                 (compressed ? "_compressed_" : "_plain_") +
                                 std::to_string(pointer * 8);
        Write(corpus / "nettrace" / name, Trace(version, compressed, pointer));
      }
  const std::filesystem::path capture = corpus / "capture" / "small";
  std::filesystem::create_directories(capture.parent_path());
  std::filesystem::remove(capture);
  profile::Recording recording;
  auto writer = store::CaptureWriter::Create(capture.string(), &recording);
  if (!writer.ok()) return 1;
  const auto summary = import::ReadTrace((corpus / "nettrace" / "v4_compressed_64").string(),
                                         &recording, writer->get());
  return summary.ok() && (*writer)->Finish(true).ok() ? 0 : 1;
}
