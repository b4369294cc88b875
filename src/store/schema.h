// SPDX-License-Identifier: Apache-2.0
// The tables of a capture file. docs/capture-format.md describes them for readers of other tools.
#pragma once

#include <cstdint>

namespace clrscope::store {

// Raised when a reader of the old version would misread a new file.
inline constexpr int64_t kSchemaVersion = 3;
// "clrs" in the SQLite header's application id, so that file(1) and we can tell.
inline constexpr int64_t kApplicationId = 0x636C7273;

inline constexpr const char* kSchema = R"sql(
create table meta(key text primary key, value) without rowid;
create table process(id integer primary key, pid integer, name text, command_line text,
  runtime text, os text, arch text, pointer_size integer, start_ns integer, end_ns integer,
  complete integer, sizes_unknown integer, measures integer);
create table thread(process integer, thread integer, name text, primary key(process, thread))
  without rowid;
create table message(process integer, id integer, text text, primary key(process, id))
  without rowid;
create table route(process integer, id integer, kind integer, method text, text text,
  max_ns integer, template integer, primary key(process, id)) without rowid;
create table operation(process integer, id integer, name text, primary key(process, id))
  without rowid;
create table slow_request(process integer, start_ns integer, duration_ns integer, route integer,
  path text, finished integer, samples integer, bytes integer, objects integer,
  exceptions integer, lock_wait_ns integer, gc_waited_ns integer, queued_ns integer,
  awaiting_ns integer);
create table module(process integer, module_id integer, path text, native_path text, mvid text,
  primary key(process, module_id)) without rowid;
create table method(process integer, start integer, load_ns integer, size integer, token integer,
  flags integer, method_id integer, module_id integer, owner text, name text, signature text,
  unload_ns integer, primary key(process, start, load_ns, method_id)) without rowid;
create table type(process integer, id integer, runtime_id integer, raw_name text,
  primary key(process, id)) without rowid;
create table mapping(process integer, start integer, end integer, file_offset integer, path text,
  build_id text, from_ns integer, to_ns integer, primary key(process, start, from_ns))
  without rowid;
create table place(process integer, address integer, symbol text, il_offset integer,
  il_next integer, file integer, line integer, approximate integer, primary key(process, address)) without rowid;
create table source_file(process integer, id integer, path text, hash text, url text, text text,
  primary key(process, id));
create table gc(process integer, number integer, generation integer, type integer, reason integer,
  start_ns integer, end_ns integer, gen0_bytes integer, gen1_bytes integer, gen2_bytes integer,
  loh_bytes integer, poh_bytes integer);
create table gc_detail(process integer, first integer, count integer, data blob);
create table gc_fact(process integer, name text, value integer, primary key(process, name))
  without rowid;
create table gc_type(process integer, kind text, type_id integer, name text, count integer,
  bytes integer);
create table counting(process integer primary key, mode integer, ended integer,
  loh_threshold integer, loh_known integer, events integer, aligned_low integer,
  aligned_high integer, added integer, added_bytes integer, guessed integer,
  guessed_bytes integer, threads integer, gaps integer, gc_known integer, gc_bytes integer,
  gc_heaps integer);
create table cpu_sampler(process integer primary key, sampler integer, hz integer);
create table thread_sample(process integer primary key, samples integer, managed integer);
create table overhead(process integer, part text, ns integer, windows integer,
  windows_ns integer, of_ns integer, limit_ppm integer, primary key(process, part)) without rowid;
create table memory(process integer, at_ns integer, rss_bytes integer, private_bytes integer,
  file_bytes integer, shared_bytes integer, swap_bytes integer, threads integer,
  primary key(process, at_ns)) without rowid;
create table loss(process integer, name text, count integer, primary key(process, name)) without
  rowid;
create table dictionary(process integer, kind text, first integer, count integer, data blob);
create table slice(id integer primary key, process integer, start_ns integer, end_ns integer,
  rows integer, samples integer, data blob);
create table agent_dictionary(id integer primary key, process integer, data blob);
create table agent_interval(id integer primary key, process integer, start_ns integer,
  end_ns integer, shift_ns integer, data blob);
create index slice_time on slice(process, start_ns);
create index dictionary_of on dictionary(process, kind, first);
)sql";

}  // namespace clrscope::store
