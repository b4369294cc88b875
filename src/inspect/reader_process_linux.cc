// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/fd.h"
#include "inspect/reader_image.h"
#include "inspect/reader_process.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReaderTime{20};
constexpr rlim_t kReaderCpuSeconds = 20;
constexpr rlim_t kReaderMemory = rlim_t{1} << 30;
constexpr size_t kMaxLibrary = 64 << 20;
constexpr size_t kMaxParts = 64 << 20;  // bytes of all of them

Result<Fd> MemoryFile(const char* name, Bytes bytes) {
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, Linux 6.3 and later
  int fd = ::memfd_create(name, MFD_CLOEXEC | kExecutable);
  if (fd < 0) fd = ::memfd_create(name, MFD_CLOEXEC);
  Fd file(fd);
  if (!file.valid())
    return Error{ErrorCode::kIo, fmt::format("memfd_create: {}", std::strerror(errno))};
  const auto* at = reinterpret_cast<const char*>(bytes.data());
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file.get(), at + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{ErrorCode::kIo, fmt::format("{}: {}", name, std::strerror(errno))};
    done += static_cast<size_t>(n);
  }
  ::fchmod(file.get(), 0555);
  return file;
}

// Between fork and exec: system calls only. Returns on failure.
void BecomeReader(const ReaderRights& rights, int socket, int library, char* const* arguments,
                  char* const* environment, pid_t parent) {
  const auto limit = [](int what, rlim_t value) {
    const rlimit both{value, value};
    return ::setrlimit(static_cast<__rlimit_resource>(what), &both) == 0;
  };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return;
  if (!limit(RLIMIT_AS, kReaderMemory) || !limit(RLIMIT_CPU, kReaderCpuSeconds) ||
      !limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0))
    return;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd)
    if (::dup2(null, fd) < 0) return;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (rights.change_user && (::setgroups(0, nullptr) != 0 || ::setgid(rights.gid) != 0 ||
                             ::setuid(rights.uid) != 0 || ::setuid(0) == 0))
    return;
  // After a change of the user the kernel forgets that the parent's end is to end it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::getppid() != parent) return;
  ::fcntl(socket, F_SETFD, 0);
  ::fcntl(library, F_SETFD, 0);
  ::execve(arguments[0], arguments, environment);
}

class Reader {
 public:
  Reader(Fd socket, pid_t child, const ReaderAnswers& answers)
      : socket_(std::move(socket)), child_(child), answers_(answers) {}
  ~Reader() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  std::string Serve() {
    while (true) {
      dac::Request request;
      if (!Receive(&request, sizeof request)) return Ended();
      switch (request.op) {
        case dac::Op::kRead:
          if (!AnswerRead(request)) return Ended();
          break;
        case dac::Op::kSnapshot:
          if (!AnswerSnapshot(request)) return Ended();
          break;
        case dac::Op::kPart:
          if (!TakePart(request)) return Ended();
          break;
        case dac::Op::kDone:
          return "";
        default:
          return "it said what makes no sense";
      }
    }
  }

 private:
  bool Receive(void* data, size_t size) {
    auto* at = static_cast<char*>(data);
    while (size > 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
      pollfd p{socket_.get(), POLLIN, 0};
      const int ready = left.count() <= 0 ? 0 : ::poll(&p, 1, static_cast<int>(left.count()));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) {
        late_ = true;
        return false;
      }
      const ssize_t n = ::recv(socket_.get(), at, size, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  // It asks for one thing at a time and reads the answer, so that little is ever on its way.
  bool Send(const void* data, size_t size) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = ::send(socket_.get(), at, size, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }

  bool AnswerRead(const dac::Request& request) {
    if (request.size > dac::kPageBytes) return false;
    std::array<std::byte, dac::kPageBytes + sizeof(uint32_t)> reply;
    const size_t n =
        answers_.read(request.address, std::span(reply).subspan(sizeof(uint32_t), request.size));
    const auto count = static_cast<uint32_t>(n);
    std::memcpy(reply.data(), &count, sizeof count);
    return Send(reply.data(), sizeof count + n);
  }
  bool AnswerSnapshot(const dac::Request& request) {
    if (request.size > dac::kMaxThreads) return false;
    std::vector<dac::SnapshotThread> threads(request.size);
    if (!Receive(threads.data(), threads.size() * sizeof threads[0])) return false;
    const std::vector<dac::ThreadRegisters> registers = answers_.snapshot(threads);
    const auto count = static_cast<uint32_t>(registers.size());
    return Send(&count, sizeof count) &&
           Send(registers.data(), registers.size() * sizeof registers[0]);
  }
  bool TakePart(const dac::Request& request) {
    taken_ += request.size;
    if (request.size > dac::kMaxPartBytes || taken_ > kMaxParts) return false;
    std::string text(request.size, '\0');
    if (!Receive(text.data(), text.size())) return false;
    answers_.part(text);
    return true;
  }

  std::string Ended() {
    if (late_) return fmt::format("it took more than {} s", kReaderTime.count());
    int status = 0;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &status, 0);
    child_ = -1;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
      return fmt::format("it ended by signal {}", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      return "it cannot be started here: it needs the loader and the C library of glibc 2.34 or "
             "later";
    return "it ended early";
  }

  Fd socket_;
  pid_t child_;
  const ReaderAnswers& answers_;
  Clock::time_point deadline_ = Clock::now() + kReaderTime;
  size_t taken_ = 0;
  bool late_ = false;
};

}  // namespace

std::string RunReader(const std::string& library, uint64_t runtime_base, const ReaderRights& rights,
                      const ReaderAnswers& answers) {
  const Result<std::string> code = ipc::ReadFile(library, kMaxLibrary);
  if (!code.ok()) return code.error().message;
  Result<Fd> library_file =
      MemoryFile("libmscordaccore.so", std::as_bytes(std::span(code->data(), code->size())));
  if (!library_file.ok()) return library_file.error().message;
  Result<Fd> image = MemoryFile("clrscope-dac", ReaderImage());
  if (!image.ok()) return image.error().message;
  // A file that is open for writing is not executed: both are opened anew.
  const auto reopened = [](Fd& file) {
    Fd again(::open(fmt::format("/proc/self/fd/{}", file.get()).c_str(), O_RDONLY | O_CLOEXEC));
    file = std::move(again);
    return file.valid();
  };
  if (!reopened(*library_file) || !reopened(*image))
    return fmt::format("/proc/self/fd: {}", std::strerror(errno));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fmt::format("socketpair: {}", std::strerror(errno));
  Fd ours(ends[0]);
  Fd theirs(ends[1]);

  std::string program = fmt::format("/proc/self/fd/{}", image->get());
  std::string socket = std::to_string(theirs.get());
  std::string file = fmt::format("/proc/self/fd/{}", library_file->get());
  std::string base = fmt::format("{:x}", runtime_base);
  char* const arguments[] = {program.data(), socket.data(), file.data(), base.data(), nullptr};
  char* const environment[] = {nullptr};
  const pid_t us = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("fork: {}", std::strerror(errno));
  if (child == 0) {
    BecomeReader(rights, theirs.get(), library_file->get(), arguments, environment, us);
    ::_exit(127);
  }
  Reader reader(std::move(ours), child, answers);
  theirs.reset();  // its end is to be seen
  return reader.Serve();
}

}  // namespace clrscope::inspect
