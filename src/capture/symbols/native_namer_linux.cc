// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <numeric>

#include "capture/proc/maps_line.h"
#include "capture/symbols/native_namer.h"
#include "capture/symbols/native_names.h"

namespace clrscope::capture {
namespace {

// Of a thread that reads symbols, among those that record.
constexpr int kNice = 10;

// The files that are mapped at these places, by their inodes. A build id tells a file from another
// one of its name; those without it are compared by this.
std::map<uint64_t, uint64_t> InodesOf(pid_t pid) {
  std::map<uint64_t, uint64_t> out;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(
      std::fopen(fmt::format("/proc/{}/maps", pid).c_str(), "re"), &std::fclose);
  char text[8192];
  MapsLine line;
  while (maps && std::fgets(text, sizeof(text), maps.get()) != nullptr)
    if (ParseMapsLine(text, line) && line.executable()) out[line.start] = line.inode;
  return out;
}

void KnowSameFiles(std::vector<NativeQuery>& queries, pid_t pid,
                   const symbol_files::FileRoot& root) {
  std::map<uint64_t, uint64_t> inodes;
  for (NativeQuery& q : queries) {
    if (!q.file.build_id.empty() || !q.file.path.starts_with('/')) continue;
    if (inodes.empty()) inodes = InodesOf(pid);
    const auto mapped = inodes.find(q.start);
    const auto file = root.Open(q.file.path);
    q.file.same_file = mapped != inodes.end() && file.ok() && file->id().inode == mapped->second;
  }
}

}  // namespace

NameFinder::NameFinder(size_t threads, symbol_files::NativeSymbols::Options options)
    : state_(std::make_shared<State>(std::move(options))), thread_(threads) {
  state_->gives_way = threads == 0;
}

void NameFinder::Post(std::function<void(symbol_files::NativeSymbols&)> work) {
  thread_.Post([state = state_, work = std::move(work)] {
    if (!std::exchange(state->gives_way, true))
      (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    work(state->symbols);
  });
}

// Written by the finder's thread until `done`.
struct NativeNamer::Answers {
  std::atomic<bool> done{false};
  std::vector<NativeName> names;
  uint64_t unreadable = 0, left_out = 0;
  uint64_t asked = 0;
};

NativeNamer::NativeNamer(pid_t pid, NameFinder* finder) : pid_(pid), finder_(finder) {
  if (finder_ == nullptr) return;
  if (auto root = symbol_files::FileRoot::Of(pid); root.ok())
    root_ = std::make_shared<const symbol_files::FileRoot>(root.Take());
}

void NativeNamer::Look(profile::ProcessTables& tables, StringPool& strings) {
  Take(tables, strings);
  if (!idle() || root_ == nullptr) return;
  Ask(tables, strings);
  Take(tables, strings);
}

void NativeNamer::Take(profile::ProcessTables& tables, StringPool& strings) {
  if (answers_ == nullptr || !answers_->done) return;
  SetNames(answers_->names, tables, strings);
  tables.losses.Add(Loss::kNativeFilesUnread, answers_->unreadable);
  tables.losses.Add(Loss::kSymbolsCapped, answers_->left_out);
  answers_.reset();
}

void NativeNamer::Ask(const profile::ProcessTables& tables, const StringPool& strings) {
  const auto known = static_cast<uint32_t>(tables.stacks.addresses().size());
  std::vector<uint32_t> addresses;
  if (tables.images.images().size() != std::exchange(images_, tables.images.images().size()))
    addresses.swap(elsewhere_);
  const size_t again = addresses.size();
  addresses.resize(again + known - next_);
  std::iota(addresses.begin() + static_cast<std::ptrdiff_t>(again), addresses.end(), next_);
  next_ = known;
  std::vector<NativeQuery> queries = QueriesOf(tables, strings, addresses, &elsewhere_);
  if (queries.empty()) return;
  answers_ = std::make_shared<Answers>();
  for (const NativeQuery& q : queries) answers_->asked += q.addresses.size();
  finder_->Post([answers = answers_, root = root_, pid = pid_,
                 queries = std::move(queries)](symbol_files::NativeSymbols& symbols) mutable {
    KnowSameFiles(queries, pid, *root);
    const symbol_files::NativeSymbols::Counts before = symbols.counts();
    for (const NativeQuery& q : queries) {
      std::vector<NativeName> names = NamesOf(q, *root, symbols);
      std::move(names.begin(), names.end(), std::back_inserter(answers->names));
    }
    answers->unreadable = symbols.counts().unreadable - before.unreadable;
    answers->left_out = symbols.counts().left_out - before.left_out;
    answers->done = true;
  });
}

void NativeNamer::Restart() {
  next_ = 0;
  elsewhere_.clear();
  answers_.reset();
}

void NativeNamer::End(profile::ProcessTables& tables) {
  if (answers_ != nullptr) tables.losses.Add(Loss::kNamesLate, answers_->asked);
  answers_.reset();
  root_.reset();
}

}  // namespace clrscope::capture
