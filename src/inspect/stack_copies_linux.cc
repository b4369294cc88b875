// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/user.h>

#include <algorithm>
#include <chrono>

#include "capture/kernel/thread_stops.h"
#include "capture/kernel/trace_right.h"
#include "capture/proc/maps_line.h"
#include "inspect/stack_copies.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

constexpr uint64_t kMaxStack = 1 << 20;     // of one thread, from its leaf on
constexpr uint64_t kMaxStacks = 256 << 20;  // of all
constexpr uint64_t kRedZone = 128;          // below the stack pointer, used by leaf functions
constexpr size_t kThreadObject = 4096;      // more than the runtime's Thread of any version
constexpr int kQuietTries = 3;
constexpr std::chrono::milliseconds kAllStops{2000};

// Where a stack ends: the end of the mapping that it is in.
class Mappings {
 public:
  explicit Mappings(pid_t pid) {
    const Result<std::string> text =
        ipc::ReadFile(fmt::format("/proc/{}/maps", pid), size_t{64} << 20);
    if (!text.ok()) return;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      capture::MapsLine line;
      if (capture::ParseMapsLine(rest.substr(0, end), line)) ends_[line.start] = line.end;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  uint64_t EndOf(uint64_t address) const {
    auto at = ends_.upper_bound(address);
    if (at == ends_.begin()) return 0;
    --at;
    return address < at->second ? at->second : 0;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;
};

class Copier {
 public:
  Copier(pid_t pid, TargetMemory& memory, StackCopies& out, capture::ThreadStops& stops)
      : threads_(pid), maps_(pid), memory_(memory), out_(out), stops_(stops) {}

  void Copy(const dac::SnapshotThread& t) {
    const auto id = static_cast<pid_t>(t.os_id);
    stops_.LetGoLate();
    for (int i = 0; i < kQuietTries; ++i)
      if (CopyQuietly(id, t.object)) return;
    CopyStopped(id, t.object);
  }

 private:
  struct Piece {
    uint64_t stack_at = 0;
    std::vector<std::byte> stack, object;
  };

  bool Take(uint64_t sp, uint64_t object, Piece& piece) {
    const uint64_t end = maps_.EndOf(sp);
    if (end == 0 || total_ >= kMaxStacks) return false;
    piece.stack_at = sp - kRedZone;
    piece.stack.resize(std::min(end - piece.stack_at, kMaxStack));
    piece.object.resize(kThreadObject);
    piece.object.resize(memory_.ReadLive(object, piece.object));
    piece.stack.resize(memory_.ReadLive(piece.stack_at, piece.stack));
    return !piece.stack.empty();
  }

  void Keep(pid_t id, uint64_t object, Piece piece, const dac::ThreadRegisters& registers,
            KernelThread seen) {
    total_ += piece.stack.size();
    memory_.Keep(piece.stack_at, std::move(piece.stack));
    if (!piece.object.empty()) memory_.Keep(object, std::move(piece.object));
    out_.registers.push_back(registers);
    out_.seen.insert_or_assign(id, std::move(seen));
  }

  // Without touching it: it was in the same call, and was given no CPU, before and after the copy.
  bool CopyQuietly(pid_t id, uint64_t object) {
    const KernelThread before = threads_.ReadOne(id);
    if (before.call.kind != SystemCall::Kind::kInside) return false;
    Piece piece;
    if (!Take(before.call.sp, object, piece)) return false;
    KernelThread after = threads_.ReadOne(id);
    if (after.switches != before.switches || after.call != before.call) return false;
    dac::ThreadRegisters registers;
    registers.os_id = static_cast<uint64_t>(id);
    registers.have = dac::ThreadRegisters::kPointers;
    registers.rsp = before.call.sp;
    registers.rip = before.call.pc;
    Keep(id, object, std::move(piece), registers, std::move(after));
    return true;
  }

  void CopyStopped(pid_t id, uint64_t object) {
    using Stops = capture::ThreadStops;
    if (stops_.total() + late_ > kAllStops) {
      out_.missed[id] = "there was no time left to copy its stack";
      return;
    }
    Piece piece;
    bool taken = false;
    KernelThread seen;
    dac::ThreadRegisters registers;
    const Stops::End end = stops_.Stop(id, [&](const user_regs_struct& r) {
      taken = Take(r.rsp, object, piece);
      seen = threads_.ReadOne(id);
      registers = RegistersOf(id, r);
    });
    switch (end) {
      case Stops::End::kStood:
        break;
      case Stops::End::kRefused:
        out_.missed[id] = "it runs, and " + capture::WhyNoStop(id, stops_.error());
        return;
      case Stops::End::kLate:
        late_ += Stops::kPatience;
        [[fallthrough]];
      case Stops::End::kEnded:
        out_.missed[id] = "it could not be made to stand still";
        return;
    }
    ++out_.stopped;
    out_.longest_stop_us = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(stops_.longest()).count());
    if (taken)
      Keep(id, object, std::move(piece), registers, std::move(seen));
    else
      out_.missed[id] = "its stack could not be read";
  }

  static dac::ThreadRegisters RegistersOf(pid_t id, const user_regs_struct& r) {
    dac::ThreadRegisters registers;
    registers.os_id = static_cast<uint64_t>(id);
    registers.have = dac::ThreadRegisters::kAll;
    registers.rax = r.rax, registers.rcx = r.rcx, registers.rdx = r.rdx, registers.rbx = r.rbx;
    registers.rsp = r.rsp, registers.rbp = r.rbp, registers.rsi = r.rsi, registers.rdi = r.rdi;
    registers.r8 = r.r8, registers.r9 = r.r9, registers.r10 = r.r10, registers.r11 = r.r11;
    registers.r12 = r.r12, registers.r13 = r.r13, registers.r14 = r.r14, registers.r15 = r.r15;
    registers.rip = r.rip;
    return registers;
  }

  KernelThreads threads_;
  Mappings maps_;
  TargetMemory& memory_;
  StackCopies& out_;
  capture::ThreadStops& stops_;
  uint64_t total_ = 0;
  capture::ThreadStops::Clock::duration late_{};
};

}  // namespace

StackCopies CopyStacks(pid_t pid, const std::vector<dac::SnapshotThread>& threads,
                       TargetMemory& memory) {
  StackCopies copies;
  capture::TraceOnOwnThread(pid, [&](capture::ThreadStops& stops) {
    Copier copier(pid, memory, copies, stops);
    for (const dac::SnapshotThread& t : threads) copier.Copy(t);
  });
  return copies;
}

}  // namespace clrscope::inspect
