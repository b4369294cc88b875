// SPDX-License-Identifier: Apache-2.0
#include "inspect/parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "clr/method_name.h"
#include "clr/type_name.h"
#include "profile/shown_names.h"

namespace clrscope::inspect {
namespace {

using nlohmann::json;

constexpr size_t kMaxName = 1024;
constexpr size_t kMaxErrors = 20;
constexpr size_t kMaxOwners = 1000;  // of a lock

uint64_t NumberOf(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "";
  return found->get_ref<const std::string&>().substr(0, kMaxName);
}

// "List`1[[System.String, System.Private.CoreLib]]" as events have it: "List`1[System.String]".
std::string WithoutAssemblies(std::string_view raw) {
  std::string out;
  std::string open;  // what has been opened: '[' of a list, 'a' of one argument with its assembly
  bool skip = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\\' && i + 1 < raw.size()) {  // what follows is part of a name
      if (!skip) out.append(raw.substr(i, 2));
      ++i;
      continue;
    }
    const bool argument = c == '[' && i > 0 &&
                          (raw[i - 1] == '[' || (raw[i - 1] == ',' && !open.empty())) &&
                          i + 1 < raw.size() && raw[i + 1] != ']' && raw[i + 1] != ',';
    if (argument) {
      open += 'a';
    } else if (c == '[') {
      open += '[';
      if (!skip) out += c;
    } else if (c == ']' && !open.empty()) {
      const bool of_argument = open.back() == 'a';
      open.pop_back();
      if (of_argument)
        skip = false;
      else if (!skip)
        out += c;
    } else if (c == ',' && !open.empty() && open.back() == 'a') {
      skip = true;  // its assembly, up to the bracket
    } else if (!skip) {
      out += c;
    }
  }
  return out;
}

// `more`: set where there are too many.
std::vector<uint32_t> NumbersOf(const json& object, const char* name, bool& more) {
  std::vector<uint32_t> numbers;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const json& n : *found) {
    if (!n.is_number_unsigned()) continue;
    if (numbers.size() == kMaxOwners) {
      more = true;
      break;
    }
    numbers.push_back(n.get<uint32_t>());
  }
  return numbers;
}

std::vector<Thread>::iterator ByInnerId(Picture& picture, uint64_t id) {
  return std::ranges::find_if(
      picture.threads, [id](const Thread& t) { return t.inner_id == static_cast<pid_t>(id); });
}

Frame FrameOf(const json& object) {
  Frame frame;
  frame.raw = TextOf(object, "method");
  frame.file = TextOf(object, "module");
  frame.stub = frame.raw.find("IL_STUB") != std::string::npos;
  frame.name = ReadableMethod(frame.raw);
  // It could not be read, as the code was unloaded meanwhile.
  if (frame.raw.empty()) frame.raw = frame.name = profile::kUnknownMethod;
  return frame;
}

void TakeThread(const json& object, Picture& picture) {
  const auto at = ByInnerId(picture, NumberOf(object, "os_id"));
  if (at == picture.threads.end()) return;
  at->managed_id = static_cast<uint32_t>(NumberOf(object, "managed_id"));
  if (std::string name = TextOf(object, "name"); !name.empty()) at->name = std::move(name);
  at->error = TextOf(object, "error");
  at->cut = NumberOf(object, "cut") != 0;
  at->finalizer = NumberOf(object, "finalizer") != 0;
  at->waits_for = NumberOf(object, "waits_for");
  bool more = false;
  at->behind = NumbersOf(object, "behind", more);
  at->stack.clear();
  const auto frames = object.find("frames");
  if (frames == object.end() || !frames->is_array()) return;
  uint64_t last = 0;
  for (const json& f : *frames) {
    if (!f.is_object() || !f.contains("method") || !f["method"].is_string()) continue;
    Frame frame = FrameOf(f);
    // An explicit frame of a method that also has its own.
    const bool is_explicit = NumberOf(f, "explicit") != 0;
    if (last != 0 && !at->stack.empty() && at->stack.back().raw == frame.raw &&
        (is_explicit || last == 2)) {
      last = is_explicit ? 2 : 1;
      continue;
    }
    last = is_explicit ? 2 : 1;
    at->stack.push_back(std::move(frame));
  }
  if (!at->stack.empty() || at->error.empty()) picture.managed_stacks = true;
}

// Of a thread that came before: what is known only once all have come.
void TakeWait(const json& object, Picture& picture) {
  const auto at = ByInnerId(picture, NumberOf(object, "os_id"));
  if (at != picture.threads.end()) at->waits_for = NumberOf(object, "waits_for");
}

// Comes after all threads.
void TakeLock(const json& object, Picture& picture) {
  Lock lock;
  lock.object = NumberOf(object, "object");
  lock.kind = LockKindOf(TextOf(object, "kind"));
  lock.type = ReadableType(TextOf(object, "type"));
  lock.waiters = static_cast<uint32_t>(NumberOf(object, "waiters"));
  lock.more_owners = NumberOf(object, "more_owners") != 0;
  lock.owners = NumbersOf(object, "owners", lock.more_owners);
  if (NumberOf(object, "owners_are_os_ids") != 0 && !lock.owners.empty()) {
    const auto at = ByInnerId(picture, lock.owners.front());
    lock.owners = {at == picture.threads.end() ? 0 : at->managed_id};
  }
  std::erase(lock.owners, 0);
  if (lock.object != 0 && (!lock.owners.empty() || lock.more_owners))
    picture.locks.push_back(std::move(lock));
}

}  // namespace

std::string ReadableType(std::string_view raw) {
  return clr::CsharpTypeName(WithoutAssemblies(raw));
}

std::string ReadableMethod(std::string_view raw) {
  const std::string plain = WithoutAssemblies(raw);
  const clr::MethodNameParts parts = clr::SplitRawMethodName(plain);
  if (parts.name.empty()) return plain;
  // A generic method's arguments follow its name.
  std::string_view name = parts.name;
  name = name.substr(0, name.find('['));
  return clr::CsharpMethodName(parts.owner, name, "");
}

void TakePart(std::string_view text, Picture& picture) {
  const json part = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!part.is_object()) return;
  if (const auto thread = part.find("thread"); thread != part.end() && thread->is_object())
    TakeThread(*thread, picture);
  if (const auto lock = part.find("lock"); lock != part.end() && lock->is_object())
    TakeLock(*lock, picture);
  if (const auto wait = part.find("wait"); wait != part.end() && wait->is_object())
    TakeWait(*wait, picture);
  if (const auto f = part.find("finalizers"); f != part.end() && f->is_object())
    picture.finalizers_wait = NumberOf(*f, "waiting");
  if (const auto pool = part.find("pool"); pool != part.end() && pool->is_object()) {
    Pool p;
    p.threads = NumberOf(*pool, "threads");
    p.min = NumberOf(*pool, "min");
    p.max = NumberOf(*pool, "max");
    if (pool->contains("queue_length")) p.queue_length = NumberOf(*pool, "queue_length");
    picture.pool = p;
  }
  if (const std::string error = TextOf(part, "error");
      !error.empty() && picture.notes.size() < kMaxErrors)
    picture.notes.push_back("the runtime's library says: " + error);
}

}  // namespace clrscope::inspect
