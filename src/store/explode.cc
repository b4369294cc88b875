// SPDX-License-Identifier: Apache-2.0
// The tables of `clrscope query` copied into real ones, and views that give them their names again.
#include "store/explode.h"

#include "store/query_tables.h"

namespace clrscope::store {
namespace {

constexpr const char* kCopy = R"sql(
create table recording as select * from recording;
create table process(process_id integer primary key, name text, pid integer, command_line text,
  runtime text, os text, arch text, start_s real, end_s real, complete integer, event text);
insert into process select process_key, process, pid, command_line, runtime, os, arch, start_s,
  end_s, complete, event from processes;
create table method(method_id integer primary key, method text, module text, raw text,
  token integer, framework integer, machinery integer);
insert into method select method_id, method, module, raw, token, framework, machinery from
  methods;
create table type(type_id integer primary key, type text, raw text, runtime_id integer,
  pid integer);
insert into type select type_key, type, raw, type_id, pid from types where thrown = 1;
create table stack(stack_id integer primary key, depth integer, site_method text,
  site_module text, leaf_method text, stack text);
insert into stack select stack_id, depth, method, module, leaf_method, stack from stacks;
create table frame(stack_id integer, depth integer, method_id integer, primary key(stack_id,
  depth)) without rowid;
insert into frame select stack_id, depth, method_id from frames;
create table sample(start_s real, end_s real, process_id integer, stack_id integer,
  type_id integer, kind text, event text, samples integer, bytes real, objects real,
  request text);
insert into sample select start_s, end_s, process_key, stack_id, type_key, kind, event, samples,
  bytes, objects, request from all_samples;
create table exception(start_s real, end_s real, process_id integer, stack_id integer,
  type_id integer, thread integer, count integer, rethrows integer, request text);
insert into exception select start_s, end_s, process_key, stack_id, type_key, thread, count,
  rethrows, request from exceptions;
create table lock_wait(start_s real, end_s real, process_id integer, stack_id integer,
  thread integer, owner integer, holding text, unfinished integer, count integer,
  wait_ns integer, request text);
insert into lock_wait select start_s, end_s, process_key, stack_id, thread, owner, holding,
  unfinished, count, wait_ns, request from locks;
create table wait(start_s real, end_s real, process_id integer, stack_id integer,
  thread integer, unfinished integer, count integer, wait_ns integer, request text);
insert into wait select start_s, end_s, process_key, stack_id, thread, unfinished, count, wait_ns,
  request from waits;
create table cpu_time(start_s real, end_s real, process_id integer, stack_id integer,
  thread integer, kind text, samples integer, cpu_ns integer);
insert into cpu_time select start_s, end_s, process_key, stack_id, thread, kind, samples, cpu_ns
  from cpu;
create table wall_time(start_s real, end_s real, process_id integer, stack_id integer,
  thread integer, kind text, state text, samples integer, wall_ns integer);
insert into wall_time select start_s, end_s, process_key, stack_id, thread, kind, state, samples,
  wall_ns from wall;
create table request_cost as select request, process_key process_id, count, unfinished, errors,
  mean_ns, p50_ns, p95_ns, p99_ns, max_ns, samples, bytes, bytes_low, bytes_high, objects,
  objects_low, objects_high, exceptions, lock_wait_ns, gc_waited_ns, gc_caused_ns,
  queue_ns, awaiting_ns, cpu_ns from request_costs;
create table slow_request as select start_s, duration_ns, request, path, process_key process_id,
  finished, samples, bytes, exceptions, lock_wait_ns, gc_waited_ns, queue_ns,
  awaiting_ns from requests;
create table thread as select thread, pid, kind, samples, bytes, objects from threads;
create table gc as select pid, number, generation, type, reason, start_s, end_s, gen0_bytes,
  gen1_bytes, gen2_bytes, loh_bytes, poh_bytes, type_name, reason_name, pause_s, suspend_s,
  before_bytes, peak_bytes, promoted_bytes, allocated_bytes, pinned_objects, heaps, complete
  from gcs;
create table gc_cause as select pid, number, type, method, bytes, all_bytes from gc_causes;
create table live_object(process_id integer, stack_id integer, type_id integer, kind text,
  generation text, age_from_s integer, age_to_s integer, gcs_survived_min integer,
  gcs_survived_max integer, gen2_survived_min integer, gen2_survived_max integer, at_s real,
  samples integer, bytes real, objects real, request text);
insert into live_object select process_key, stack_id, type_key, kind, generation, age_from_s,
  age_to_s, gcs_survived_min, gcs_survived_max, gen2_survived_min, gen2_survived_max, at_s, samples,
  bytes, objects, request from live;
create table live_age as select at_s, process_key process_id, kind, age_from_s, age_to_s, samples,
  bytes, bytes_low, bytes_high, objects, objects_low, objects_high from live_ages;
create table birth_and_death as select start_s, end_s, process_key process_id, stack_id,
  type_key type_id, born, born_bytes, born_objects, dead, dead_bytes, dead_objects,
  mean_age_at_death_s, request from turnover;
create table gc_cpu as select process_key process_id, start_s, end_s, gc_cpu_s, gc_share,
  server_gc_s, background_gc_s, workstation_gc_s, process_cpu_s from gc_cpu;
create table agent_interval as select process_key process_id, start_s, end_s, event, samples,
  sample_s, walk_fallbacks, agent_cpu_s, agent_bytes, handles, handle_scan_s, live_mean_bytes
  from agent_intervals;
create table memory_reading as select at_s, process_key process_id, rss_bytes, private_bytes, file_bytes,
  shared_bytes, swap_bytes, threads from memory_readings;
create table count as select * from counts;
create table loss as select name, count, sentence from losses;
create index sample_stack on sample(stack_id);
create index sample_type on sample(type_id);
create index frame_method on frame(method_id);

create view all_samples as
  select s.start_s, s.end_s, p.name process, p.pid, t.type, s.kind, k.site_method method,
    k.site_module module, k.leaf_method, s.samples, s.bytes, s.objects, s.event, s.stack_id, s.type_id,
    s.request
  from sample s join process p using(process_id) join type t using(type_id)
    join stack k using(stack_id);
create view samples as
  select s.start_s, s.end_s, p.name process, p.pid, t.type, s.kind, k.site_method method,
    k.site_module module, k.leaf_method, s.samples, s.bytes, s.objects, s.event, s.stack_id, s.type_id,
    s.request
  from sample s join process p using(process_id) join type t using(type_id)
    join stack k using(stack_id)
  where s.event = p.event;
create view exceptions as
  select e.start_s, e.end_s, p.name process, p.pid, t.type, k.site_method method,
    k.site_module module, k.leaf_method, e.thread, e.count, e.rethrows, e.stack_id, e.type_id, e.request
  from exception e join process p using(process_id) join type t using(type_id)
    join stack k using(stack_id);
create view locks as
  select l.start_s, l.end_s, p.name process, p.pid, k.site_method method, k.site_module module,
    k.leaf_method, l.thread, l.owner, l.holding, l.unfinished, l.count, l.wait_ns, l.stack_id,
    l.request
  from lock_wait l join process p using(process_id) join stack k using(stack_id);
create view waits as
  select w.start_s, w.end_s, p.name process, p.pid, k.site_method method, k.site_module module,
    k.leaf_method, w.thread, w.unfinished, w.count, w.wait_ns, w.stack_id, w.request
  from wait w join process p using(process_id) join stack k using(stack_id);
create view cpu as
  select c.start_s, c.end_s, p.name process, p.pid, k.site_method method, k.site_module module,
    k.leaf_method, c.kind, c.thread, c.samples, c.cpu_ns, c.stack_id
  from cpu_time c join process p using(process_id) join stack k using(stack_id);
create view wall as
  select w.start_s, w.end_s, p.name process, p.pid, k.site_method method, k.site_module module,
    k.leaf_method, w.kind, w.thread, w.state, w.samples, w.wall_ns, w.stack_id
  from wall_time w join process p using(process_id) join stack k using(stack_id);
create view live as
  select p.name process, p.pid, t.type, k.site_method method, k.site_module module, k.leaf_method,
    l.kind, l.generation, l.age_from_s, l.age_to_s, l.gcs_survived_min, l.gcs_survived_max,
    l.gen2_survived_min, l.gen2_survived_max, l.at_s, l.samples, l.bytes, l.objects, l.stack_id,
    l.type_id
  from live_object l join process p using(process_id) join type t using(type_id)
    join stack k using(stack_id);
create view sites as
  select type, method, module, process, pid, sum(samples) samples, sum(bytes) bytes,
    sum(objects) objects
  from samples group by type_id, method, module, pid order by bytes desc;
create view types as
  select type, kind, process, pid, sum(samples) samples, sum(bytes) bytes, sum(objects) objects
  from samples group by type_id, kind order by bytes desc;
create view frames as
  select f.stack_id, f.depth, m.method, m.module, m.raw, m.framework, m.machinery
  from frame f join method m using(method_id);
)sql";

}  // namespace

Status Explode(const Catalog& catalog, const std::string& path) {
  ASSIGN_OR_RETURN(Database db, Database::Open(path, Database::Mode::kCreate));
  RETURN_IF_ERROR(RegisterTables(db.raw(), catalog));
  // Nobody reads the file before it is whole, and a failed one is thrown away.
  RETURN_IF_ERROR(
      db.Execute("pragma journal_mode=off; pragma synchronous=off; pragma page_size=8192; begin"));
  RETURN_IF_ERROR(db.Execute(kCopy));
  return db.Execute("commit; analyze");
}

}  // namespace clrscope::store
