// SPDX-License-Identifier: Apache-2.0
#include "report/text/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "inspect/findings.h"
#include "inspect/groups.h"
#include "inspect/states.h"
#include "report/text/shorten.h"
#include "report/text/wrap.h"

namespace clrscope::report {
namespace {

using inspect::Picture;
using inspect::Thread;
using inspect::ThreadGroup;

constexpr size_t kMaxListed = 6;  // threads of a group that are named

std::string HeadLine(const Picture& picture, const ipc::DotnetProcess& process,
                     const Style& style) {
  std::string head = fmt::format("{} ({})", Printable(process.name), picture.pid);
  std::string rest;
  if (!process.clr_version.empty()) rest += " · .NET " + Printable(process.clr_version);
  const auto managed = std::ranges::count_if(picture.threads, &Thread::managed);
  rest += fmt::format(" · {} threads, {} managed", picture.threads.size(), managed);
  if (picture.stopped_threads == 0)
    rest += " · none was stopped";
  else
    rest +=
        fmt::format(" · {} stopped for at most {} µs", picture.stopped_threads, picture.stopped_us);
  return style.Bold(head) + rest + "\n";
}

std::string PoolLine(const inspect::Pool& pool) {
  std::string line =
      fmt::format("Thread pool: {} workers (min {}, max {})", pool.threads, pool.min, pool.max);
  if (pool.queue_length)
    line += fmt::format(", {} work item{} queued", *pool.queue_length,
                        *pool.queue_length == 1 ? "" : "s");
  return line + "\n";
}

std::string StateWords(const Thread& t) {
  switch (t.state) {
    case inspect::ThreadState::kLock:
      return "waits for a lock";
    case inspect::ThreadState::kWait:
      return inspect::BlocksOnTask(t) ? "waits for a task" : "waits";
    case inspect::ThreadState::kSleep:
      return "sleeps";
    case inspect::ThreadState::kIo:
      return "waits for input or output";
    case inspect::ThreadState::kIdle:
      return "idle worker of the pool";
    case inspect::ThreadState::kBlockedUnknown:
      return "blocks";
    default:
      return fmt::format("{}, {:.0f} % of a CPU", Word(t.state), t.cpu_percent);
  }
}

std::string Title(const ThreadGroup& group) {
  const Thread& first = *group.threads.front();
  if (group.threads.size() == 1) {
    std::string who = inspect::Called(first);
    who[0] = static_cast<char>(who[0] - 'a' + 'A');
    return who + ": " + StateWords(first);
  }
  std::string who = fmt::format("{} threads: ", group.threads.size());
  for (size_t i = 0; i < std::min(kMaxListed, group.threads.size()); ++i) {
    const Thread& t = *group.threads[i];
    who += i > 0 ? ", " : "";
    who += std::to_string(t.managed() ? static_cast<int64_t>(t.managed_id) : t.os_id);
  }
  if (group.threads.size() > kMaxListed) who += ", …";
  who += first.name.empty() ? "" : fmt::format(" \"{}\"", first.name);
  if (std::ranges::any_of(group.threads, [&](const Thread* t) { return t->name != first.name; }))
    who += " and others";
  return who + ": " + StateWords(first);
}

// What the threads of a group wait for, and what one thread holds.
std::string LockLines(const Picture& picture, const ThreadGroup& group, size_t width) {
  std::map<uint64_t, const Thread*> wanted;
  for (const Thread* t : group.threads)
    if (t->waits_for != 0) wanted.try_emplace(t->waits_for, t);
  std::string lines;
  const auto add = [&](const std::string& text) {
    lines += "    " + Wrap(Printable(text), 4, 6, width);
  };
  for (const auto& [object, t] : wanted)
    add("waits for " + inspect::Awaited(picture, *picture.LockOf(object), t->behind));
  if (group.threads.size() == 1)
    for (const uint64_t object : group.threads.front()->holds)
      add(inspect::Held(*picture.LockOf(object)));
  return lines;
}

std::string StackLines(const Thread& t, const ThreadsTextOptions& options, const Style& style) {
  std::string lines;
  if (t.stack.empty())
    return t.error.empty() ? "" : "    " + style.Dim(Printable("no stack: " + t.error)) + "\n";
  size_t shown = 0, left = 0;
  for (const inspect::Frame& f : t.stack) {
    if (f.stub && !options.all) continue;
    if (options.max_frames != 0 && shown == options.max_frames) {
      ++left;
      continue;
    }
    ++shown;
    const std::string name = ShortenName(Printable(f.name), options.width - 4);
    lines += "    " + (inspect::IsFrameworkFile(f.file) ? style.Dim(name) : name) + "\n";
  }
  if (left > 0) lines += style.Dim(fmt::format("    … and {} more", left)) + "\n";
  if (!t.error.empty())
    lines += style.Dim(Printable("    … (" + t.error + ")")) + "\n";
  else if (t.cut)
    lines += style.Dim("    … (the rest was not read)") + "\n";
  return lines;
}

std::string FoldedLine(std::string_view what, const std::vector<const Thread*>& threads,
                       size_t width) {
  if (threads.empty()) return "";
  std::map<std::string, size_t> names;
  for (const Thread* t : threads) ++names[t->name.empty() ? "?" : t->name];
  std::string list;
  for (const auto& [name, count] : names) {
    list += list.empty() ? "" : ", ";
    if (count > 1) list += fmt::format("{}× ", count);
    list += name;
  }
  const std::string line =
      fmt::format("{} {}{}: {}", threads.size(), what, threads.size() == 1 ? "" : "s", list);
  return ShortenMiddle(Printable(line), width) + "\n";
}

}  // namespace

std::string ThreadsText(const Picture& picture, const ipc::DotnetProcess& process,
                        const ThreadsTextOptions& options, const Style& style) {
  std::string text = HeadLine(picture, process, style);
  for (const inspect::Finding& f : picture.findings) {
    const std::string line = Wrap(Printable(f.text), 0, 2, options.width);
    text += f.kind == inspect::FindingKind::kNoDeadlock ? line : style.Bad(line);
  }
  if (picture.pool) text += PoolLine(*picture.pool);
  for (const std::string& note : picture.notes)
    text += style.Caution(Wrap(Printable("Note: " + note), 0, 2, options.width));

  const inspect::GroupedThreads grouped = inspect::GroupThreads(picture, options.all);
  for (const ThreadGroup& group : grouped.groups) {
    text += "\n" + style.Bold(ShortenMiddle(Printable(Title(group)), options.width)) + "\n";
    text += LockLines(picture, group, options.width);
    text += StackLines(*group.threads.front(), options, style);
  }
  const std::string folded = FoldedLine("idle worker", grouped.idle_workers, options.width) +
                             FoldedLine("runtime thread", grouped.runtime_threads, options.width);
  if (!folded.empty()) text += "\n" + folded;
  return text;
}

}  // namespace clrscope::report
