// SPDX-License-Identifier: Apache-2.0
#include "capture/types/type_namer.h"

#include "clr/type_name.h"

namespace clrscope::capture {

std::vector<TypeNamer::Answer> TypeNamer::Shared::Do(const Job& job) {
  const std::lock_guard finding(finder_mutex);
  std::vector<symbol_files::LoadedModule> loaded;
  {
    const std::lock_guard lock(mutex);
    loaded.swap(modules);
  }
  for (symbol_files::LoadedModule& module : loaded) finder->Add(std::move(module));
  std::vector<Answer> out;
  out.reserve(job.questions.size());
  for (size_t i = 0; i < job.questions.size(); ++i)
    out.push_back({job.questions[i].type, finder->Find(job.questions[i]), job.last[i]});
  return out;
}

// Whoever asks next, this thread or a worker, knows of them.
void TypeNamer::AddModules(const profile::ProcessTables& tables, const StringPool& strings) {
  const std::vector<profile::ModuleImage>& all = tables.code.modules();
  modules_.resize(all.size());
  const std::lock_guard lock(shared_->mutex);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::pair<StringId, StringId> now{all[i].path, all[i].mvid};
    if (modules_[i] == now && now.first.value != 0) continue;
    modules_[i] = now;
    shared_->modules.push_back(
        {all[i].id, std::string(strings.Get(all[i].path)), std::string(strings.Get(all[i].mvid))});
  }
}

TypeNamer::Job TypeNamer::Ask(const analysis::ProcessFold& fold, const StringPool& strings,
                              Modules modules, int64_t now_ns, int64_t patience_ns) {
  Job job;
  const profile::ProcessTables& tables = fold.tables();
  for (const uint32_t type : fold.types().bare()) {
    const profile::RuntimeType& runtime_type = tables.types[type];
    auto name = clr::BareNameOf(strings.Get(runtime_type.raw_name));
    if (!name) continue;
    const int64_t first_ns = first_ns_.try_emplace(type, now_ns).first->second;
    const bool last = modules != Modules::kComing && now_ns - first_ns >= patience_ns;
    OwnerFinder::Question question{type, runtime_type.id, std::move(*name), std::nullopt,
                                   last && modules == Modules::kAll};
    if (const auto defined = fold.types().DefinitionOf(runtime_type.id))
      question.defined = DefinedAt{defined->module, defined->token};
    job.questions.push_back(std::move(question));
    job.last.push_back(last);
  }
  AddModules(tables, strings);
  return job;
}

void TypeNamer::Work(analysis::ProcessFold& fold, StringPool& strings, Modules modules,
                     int64_t now_ns, WorkerPool& workers) {
  if (taken_ != asked_) TakeAnswers(fold, strings);
  const size_t open = fold.types().bare().size();
  if (taken_ != asked_ || open == 0) return;
  const bool any_new = open > first_ns_.size();
  if (now_ns - asked_ns_ < (any_new ? kNewEveryNs : kAgainEveryNs)) return;
  asked_ns_ = now_ns;
  ++asked_;
  workers.Post(
      [shared = shared_, number = asked_, job = Ask(fold, strings, modules, now_ns, kPatienceNs)] {
        std::vector<Answer> answers = shared->Do(job);
        const std::lock_guard lock(shared->mutex);
        if (number < shared->answered) return;  // of a recording before
        shared->answers = std::move(answers);
        shared->answered = number;
      });
}

void TypeNamer::TakeAnswers(analysis::ProcessFold& fold, StringPool& strings) {
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->answered != asked_) return;
    answers.swap(shared_->answers);
  }
  taken_ = asked_;
  Take(fold, strings, answers);
}

void TypeNamer::Finish(analysis::ProcessFold& fold, StringPool& strings, Modules modules) {
  AskHere(fold, strings, modules, asked_ns_, /*patience_ns=*/0);
}

void TypeNamer::AskHere(analysis::ProcessFold& fold, StringPool& strings, Modules modules,
                        int64_t now_ns, int64_t patience_ns) {
  if (taken_ != asked_) TakeAnswers(fold, strings);
  if (fold.types().bare().empty()) return;
  Take(fold, strings, shared_->Do(Ask(fold, strings, modules, now_ns, patience_ns)));
}

void TypeNamer::Take(analysis::ProcessFold& fold, StringPool& strings,
                     const std::vector<Answer>& answers) {
  std::vector<analysis::TypeIndex::Owner> owners;
  std::vector<std::pair<uint32_t, StringId>> named;  // with the name so far
  for (const Answer& answer : answers) {
    if (!answer.owner && !answer.last) continue;
    first_ns_.erase(answer.type);
    owners.push_back({answer.type, answer.owner.value_or("")});
    if (!owners.back().text.empty())
      named.emplace_back(answer.type, fold.tables().types[answer.type].raw_name);
  }
  fold.SetOwners(owners);
  if (named.empty()) return;
  std::unordered_map<uint32_t, uint32_t> going_by;  // how many types go by a name, before and now
  for (const profile::RuntimeType& type : fold.tables().types) ++going_by[type.raw_name.value];
  for (const auto& [type, before] : named) ++going_by[before.value];
  for (const auto& [type, before] : named)
    renamed_.push_back({clr::CsharpTypeName(strings.Get(before)),
                        clr::CsharpTypeName(strings.Get(fold.tables().types[type].raw_name)),
                        going_by[before.value] == 1});
}

void TypeNamer::EndTables(analysis::ProcessFold& fold, StringPool& strings, Modules modules,
                          int64_t now_ns) {
  AskHere(fold, strings, modules, now_ns, kPatienceNs);
  taken_ = ++asked_;  // what is under way is of no use
  asked_ns_ = 0;
  first_ns_.clear();
  modules_.clear();
}

}  // namespace clrscope::capture
