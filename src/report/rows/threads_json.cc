// SPDX-License-Identifier: Apache-2.0
#include "report/rows/threads_json.h"

#include <fmt/format.h>

#include <cmath>

#include "inspect/states.h"

namespace clrscope::report {
namespace {

using inspect::Picture;
using inspect::Thread;

std::string Hex(uint64_t address) { return fmt::format("0x{:x}", address); }

Json OrNull(uint64_t number) { return number == 0 ? Json() : Json(number); }

// Of its two numbers a thread without a managed one has the system's only.
Json OwnerJson(const Picture& picture, uint32_t managed_id) {
  const Thread* owner = picture.ByManagedId(managed_id);
  return owner == nullptr ? Json() : Json(owner->os_id);
}

// `some`: the owners that matter; all of them by default.
Json LockJson(const Picture& picture, uint64_t object,
              const std::vector<uint32_t>* some = nullptr) {
  const inspect::Lock* lock = picture.LockOf(object);
  Json json{{"object", Hex(object)}, {"type", lock == nullptr ? Json() : Json(lock->type)}};
  if (lock == nullptr) return json;
  const std::vector<uint32_t>& owners = some == nullptr ? lock->owners : *some;
  const uint32_t first = owners.empty() ? 0 : owners.front();
  json["kind"] = inspect::Word(lock->kind);
  json["owner_thread_id"] = OwnerJson(picture, first);
  json["owner_managed_id"] = OrNull(first);
  json["owners"] = owners;
  json["more_owners"] = lock->more_owners;
  return json;
}

std::string_view KindOf(const inspect::Frame& f) {
  return f.stub ? "stub" : inspect::IsFrameworkFile(f.file) ? "framework" : "managed";
}

}  // namespace

Json ThreadsHeadJson(const Picture& picture) {
  Json head;
  head["stopped_us"] = picture.stopped_us;
  head["stopped_threads"] = picture.stopped_threads;
  head["managed_stacks"] = picture.managed_stacks;
  head["findings"] = Json::array();
  head["deadlocks"] = Json::array();
  for (const inspect::Finding& f : picture.findings) {
    head["findings"].push_back({{"kind", Word(f.kind)}, {"text", f.text}, {"threads", f.threads}});
    if (f.kind != inspect::FindingKind::kDeadlock) continue;
    Json ring = Json::array();
    for (const uint32_t id : f.threads) {
      const Thread& t = *picture.ByManagedId(id);
      ring.push_back({{"id", t.os_id},
                      {"managed_id", id},
                      {"name", t.name},
                      {"waits_for", LockJson(picture, t.waits_for, &t.behind)}});
    }
    head["deadlocks"].push_back({{"threads", ring}});
  }
  head["finalizers_wait"] = picture.finalizers_wait ? Json(*picture.finalizers_wait) : Json();
  head["pool"] = Json();
  if (picture.pool) {
    const inspect::Pool& p = *picture.pool;
    head["pool"] = {{"threads", p.threads}, {"min", p.min}, {"max", p.max}};
    head["pool"]["queue_length"] = p.queue_length ? Json(*p.queue_length) : Json();
  }
  head["notes"] = picture.notes;
  return head;
}

Json ThreadJson(const Picture& picture, const Thread& t) {
  Json json{{"id", t.os_id}, {"managed_id", OrNull(t.managed_id)}, {"name", t.name}};
  json["state"] = Word(t.state);
  json["cpu_percent"] = std::round(10 * t.cpu_percent) / 10;
  json["pool_worker"] = t.pool_worker();
  json["waits_for"] = t.waits_for == 0 ? Json() : LockJson(picture, t.waits_for, &t.behind);
  json["holds"] = Json::array();
  for (const uint64_t object : t.holds) json["holds"].push_back(LockJson(picture, object));
  json["stack"] = Json::array();
  for (const inspect::Frame& f : t.stack) {
    Json frame{{"name", f.name}, {"kind", KindOf(f)}};
    if (!f.file.empty()) frame["file"] = f.file;
    json["stack"].push_back(std::move(frame));
  }
  json["stack_cut"] = t.cut;
  json["error"] = t.error.empty() ? Json() : Json(t.error);
  return json;
}

}  // namespace clrscope::report
