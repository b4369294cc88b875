// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/cpu_stacks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profile/stacks/made_up_frames.h"

namespace clrscope::capture {

bool CpuStacks::Walk(std::vector<uint64_t>& chain, const UserRegs& regs, Bytes stack,
                     int64_t time_ns, bool* callers_missed) {
  now_ns_ = std::max(now_ns_, time_ns);
  again_ = chain;
  Repair repair = unwinder_.Run(chain, regs, stack, code_.For(chain, now_ns_));
  if (const uint64_t reads = code_.reads(); unwinder_.met_unmapped()) {
    const CodeRanges& code = code_.Again(now_ns_);
    if (code_.reads() != reads) {
      chain.swap(again_);
      repair = unwinder_.Run(chain, regs, stack, code);
    }
  }
  *callers_missed = repair == Repair::kNotRepairable;
  return unwinder_.met_unknown();
}

void CpuStacks::OnSample(const Sample& s) {
  Waiting w;
  w.time_ns = s.time_ns;
  w.thread = s.thread;
  w.ns = s.ns;
  w.chain.assign(s.by_records.begin(), s.by_records.end());
  w.in_kernel = s.in_kernel;
  w.by_records_cut = w.cut = s.by_records_cut;
  const bool walks = !w.chain.empty() && !s.stack.empty();
  const bool again = walks && Walk(w.chain, s.regs, s.stack, s.time_ns, &w.callers_missed);
  if (walks) w.cut = w.by_records_cut && !unwinder_.at_root();
  if (again) {
    w.walked = std::move(w.chain);
    w.chain.assign(s.by_records.begin(), s.by_records.end());
    w.regs = s.regs;
    const Bytes walked = unwinder_.walked();  // with more than the sample has
    w.stack.assign(walked.begin(), walked.end());
    bytes_ += w.stack.size();
  }
  waiting_.push_back(std::move(w));
  while (bytes_ > kMostBytes) HandOnFirst();
}

void CpuStacks::OnMethod(const Method& method) {
  rules_.OnMethod(method);
  if (method.time_ns >= 0) QueueCode(method.start, method.size, method.time_ns);
}

void CpuStacks::OnUnload(const Method& method) {
  rules_.OnUnload(method);
  QueueCode(method.start, method.size, method.time_ns);
}

void CpuStacks::QueueCode(uint64_t start, uint64_t size, int64_t time_ns) {
  Waiting w;
  w.time_ns = time_ns;
  w.kind = Waiting::Kind::kCode;
  w.code_start = start;
  w.code_size = size;
  Insert(std::move(w));
}

void CpuStacks::OnTimes(int64_t time_ns, ThreadTimes times) {
  if (times.threads.empty()) return;
  Waiting w;
  w.time_ns = time_ns;
  w.kind = Waiting::Kind::kTimes;
  w.times = std::move(times);
  Insert(std::move(w));
}

void CpuStacks::OnEnd(int64_t time_ns, int64_t process_ns, double kernel) {
  Waiting w;
  w.time_ns = time_ns;
  w.kind = Waiting::Kind::kEnd;
  w.times.process_ns = process_ns;
  w.kernel = kernel;
  Insert(std::move(w));
}

void CpuStacks::Insert(Waiting w) {
  auto at = waiting_.end();
  while (at != waiting_.begin() && std::prev(at)->time_ns > w.time_ns) --at;
  waiting_.insert(at, std::move(w));
}

void CpuStacks::WalkAgain(Waiting& w) {
  bytes_ -= w.stack.size();
  const bool missed_at_first = w.callers_missed, cut_at_first = w.cut;
  (void)Walk(w.chain, w.regs, w.stack, w.time_ns, &w.callers_missed);
  w.cut = w.by_records_cut && !unwinder_.at_root();
  if (w.walked.size() <= w.chain.size()) return;
  // Code of a process that has ended cannot be read any more. While it ran, more was found.
  std::byte probe;
  (void)memory_.Read(w.regs.sp, {&probe, 1});
  if (!memory_.gone()) return;
  w.chain.swap(w.walked);
  w.callers_missed = missed_at_first;
  w.cut = cut_at_first;
}

void CpuStacks::HandOn(Waiting& w) {
  if (w.kind == Waiting::Kind::kCode) return retire_(w.code_start, w.code_size);
  if (w.kind == Waiting::Kind::kTimes)
    return fold_.OnTimes(w.time_ns, w.times.threads, w.times.process_ns);
  if (w.kind == Waiting::Kind::kEnd) return fold_.OnEnd(w.time_ns, w.times.process_ns, w.kernel);
  if (!w.stack.empty()) WalkAgain(w);
  addresses_.clear();
  if (w.in_kernel) addresses_.push_back(profile::kKernelAddress);
  const size_t natives = addresses_.size() + code_.For(w.chain, now_ns_).NativesOf(w.chain);
  addresses_.insert(addresses_.end(), w.chain.begin(), w.chain.end());
  fold_.OnSample({w.thread, w.time_ns, addresses_, natives, w.callers_missed, w.ns, w.cut});
}

void CpuStacks::HandOnFirst() {
  HandOn(waiting_.front());
  waiting_.pop_front();
}

bool CpuStacks::WaitsLonger(Waiting& w, int64_t now_ns) {
  if (w.stack.empty() || w.time_ns <= now_ns - kLatestNs) return false;
  if (now_ns < next_try_ns_) return true;
  next_try_ns_ = now_ns + kTryEveryNs;
  scratch_ = w.chain;
  bool missed = false;
  (void)Walk(scratch_, w.regs, w.stack, w.time_ns, &missed);
  return unwinder_.met_unknown_caller();
}

void CpuStacks::Advance(int64_t now_ns, bool naming) {
  now_ns_ = std::max(now_ns_, now_ns);
  const int64_t to_ns = now_ns - (naming ? kNamingNs : kLateNs);
  while (!waiting_.empty() && waiting_.front().time_ns <= to_ns) {
    if (WaitsLonger(waiting_.front(), now_ns)) return;
    next_try_ns_ = 0;
    HandOnFirst();
  }
}

void CpuStacks::Flush() {
  while (!waiting_.empty()) HandOnFirst();
  // Times may begin anew.
  now_ns_ = next_try_ns_ = 0;
  code_.Outdate();
}

}  // namespace clrscope::capture
