// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "capture/proc/maps_line.h"
#include "inspect/stack_copies.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMaxStack = 1 << 20;     // of one thread, from its leaf on
constexpr uint64_t kMaxStacks = 256 << 20;  // of all
constexpr uint64_t kRedZone = 128;          // below the stack pointer, used by leaf functions
constexpr size_t kThreadObject = 4096;      // more than the runtime's Thread of any version
constexpr int kQuietTries = 3;
constexpr std::chrono::milliseconds kStopWait{50};
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
  Copier(pid_t pid, TargetMemory& memory, StackCopies& out)
      : threads_(pid), maps_(pid), memory_(memory), out_(out) {}

  void Copy(const dac::SnapshotThread& t) {
    const auto id = static_cast<pid_t>(t.os_id);
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

  bool WaitForStop(pid_t id, int* status) {
    const Clock::time_point deadline = Clock::now() + kStopWait;
    while (true) {
      const pid_t got = ::waitpid(id, status, __WALL | __WNOTHREAD | WNOHANG);
      if (got == id) return true;
      if ((got < 0 && errno != EINTR) || Clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void CopyStopped(pid_t id, uint64_t object) {
    if (stopping_ > kAllStops) {
      out_.missed[id] = "there was no time left to copy its stack";
      return;
    }
    if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
      out_.missed[id] = Refused(id, errno);
      return;
    }
    const Clock::time_point begin = Clock::now();
    int status = 0;
    if (::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr) != 0 || !WaitForStop(id, &status) ||
        !WIFSTOPPED(status)) {
      // It is let go when this thread ends.
      out_.missed[id] = "it could not be made to stand still";
      stopping_ += Clock::now() - begin;
      return;
    }
    user_regs_struct r;
    std::memset(&r, 0, sizeof r);
    Piece piece;
    const bool taken = ::ptrace(PTRACE_GETREGS, id, nullptr, &r) == 0 && Take(r.rsp, object, piece);
    KernelThread seen = threads_.ReadOne(id);
    // A signal that was on its way goes on.
    const uintptr_t signal = status >> 16 == 0 ? static_cast<uintptr_t>(WSTOPSIG(status)) : 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes the number so
    ::ptrace(PTRACE_DETACH, id, nullptr, reinterpret_cast<void*>(signal));
    const Clock::duration stood = Clock::now() - begin;
    stopping_ += stood;
    ++out_.stopped;
    out_.longest_stop_us =
        std::max(out_.longest_stop_us,
                 static_cast<uint64_t>(
                     std::chrono::duration_cast<std::chrono::microseconds>(stood).count()));
    if (!taken) {
      out_.missed[id] = "its stack could not be read";
      return;
    }
    dac::ThreadRegisters registers;
    registers.os_id = static_cast<uint64_t>(id);
    registers.have = dac::ThreadRegisters::kAll;
    registers.rax = r.rax, registers.rcx = r.rcx, registers.rdx = r.rdx, registers.rbx = r.rbx;
    registers.rsp = r.rsp, registers.rbp = r.rbp, registers.rsi = r.rsi, registers.rdi = r.rdi;
    registers.r8 = r.r8, registers.r9 = r.r9, registers.r10 = r.r10, registers.r11 = r.r11;
    registers.r12 = r.r12, registers.r13 = r.r13, registers.r14 = r.r14, registers.r15 = r.r15;
    registers.rip = r.rip;
    Keep(id, object, std::move(piece), registers, std::move(seen));
  }

  static std::string Refused(pid_t id, int error) {
    const Result<std::string> text = ipc::ReadFile(fmt::format("/proc/{}/status", id), 4096);
    if (text.ok()) {
      const size_t at = text->find("TracerPid:\t");
      if (at != std::string::npos) {
        const std::string_view number = std::string_view(*text).substr(at + 11);
        const std::string_view pid = number.substr(0, number.find('\n'));
        if (pid != "0")
          return fmt::format("it runs, and process {} traces it already (gdb, strace)", pid);
      }
    }
    return fmt::format("it runs, and may not be stopped: {}", std::strerror(error));
  }

  KernelThreads threads_;
  Mappings maps_;
  TargetMemory& memory_;
  StackCopies& out_;
  uint64_t total_ = 0;
  Clock::duration stopping_{};
};

}  // namespace

StackCopies CopyStacks(pid_t pid, const std::vector<dac::SnapshotThread>& threads,
                       TargetMemory& memory) {
  StackCopies copies;
  // A thread of its own: its end lets go whatever it still traces.
  std::thread([&] {
    Copier copier(pid, memory, copies);
    for (const dac::SnapshotThread& t : threads) copier.Copy(t);
  }).join();
  return copies;
}

}  // namespace clrscope::inspect
