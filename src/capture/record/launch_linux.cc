// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cstdlib>

#include "capture/proc/program_file.h"
#include "capture/record/launch.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/release.h"

namespace clrscope::capture {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPorts = "DOTNET_DiagnosticPorts";
constexpr int kAdoptEveryMs = 100, kGuardEveryMs = 1000;

int PidFd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void ResetSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGTSTP}) ::signal(s, SIG_DFL);
}

// Whether its environment can be rewritten once it waits (DisarmChildren): what its native code
// starts would wait for ever otherwise. `child` is forked, and runs nothing yet.
bool MayBeDisarmed(const std::string& program, pid_t child) {
  if (::geteuid() == 0) return true;
  const std::string file = FindProgram(program);
  struct stat s {};
  // With more rights than ours its memory is out of reach.
  if (::stat(file.c_str(), &s) != 0 || (s.st_mode & (S_ISUID | S_ISGID)) != 0 ||
      ::getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    return false;
  return Fd(::open(fmt::format("/proc/{}/mem", child).c_str(), O_RDWR | O_CLOEXEC)).valid();
}

// The guardian's whole life. It holds nothing but its pipe; only when that ends without a word does
// it listen at our path and resume whoever dials, until it has resumed the program, or that ended.
[[noreturn]] void Guard(int pipe, pid_t program, const std::string& path) {
  ::setsid();  // a Ctrl-C is not meant for it
  ::prctl(PR_SET_NAME, "clrscope-guard");
  for (int fd = 0; fd < 256; ++fd)
    if (fd != pipe) ::close(fd);
  char word = 0;
  ssize_t n;
  do {
    n = ::read(pipe, &word, 1);
  } while (n < 0 && errno == EINTR);
  if (n > 0) ::_exit(0);
  const Fd program_fd(PidFd(program));
  // The kernel may end our pipe before our listening socket: then the place is not free at once.
  auto server = ipc::ReverseServer::Adopt(path);
  while (!server.ok() && ::kill(program, 0) == 0) {
    (void)::poll(nullptr, 0, kAdoptEveryMs);
    server = ipc::ReverseServer::Adopt(path);
  }
  std::vector<ipc::ReverseRuntime> waiting;
  bool over = !server.ok();
  while (!over) {
    pollfd wait[] = {{program_fd.get(), POLLIN, 0}, {(*server)->fd(), POLLIN, 0}};
    (void)::poll(wait, 2, kGuardEveryMs);
    (void)(*server)->KeepPath();
    for (const ipc::ReverseRuntime& runtime : (*server)->Pump()) waiting.push_back(runtime);
    for (const ipc::ReverseRuntime& runtime : ipc::ReleaseAll(**server, waiting))
      over |= runtime.pid == program;
    over |= wait[0].revents != 0 || ::kill(program, 0) != 0;
  }
  ::unlink(path.c_str());
  ::rmdir(path.substr(0, path.rfind('/')).c_str());
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<Launch>> Launch::Start(const std::vector<std::string>& command,
                                              const std::function<Status(pid_t)>& prepare,
                                              const Variables& environment) {
  std::unique_ptr<Launch> launch(new Launch);
  ASSIGN_OR_RETURN(launch->server_, ipc::ReverseServer::Create());
  const std::string path = launch->server_->path();
  const char* existing = std::getenv(kPorts);
  const auto ports = [&](bool waits) {
    return ipc::WithPort(existing == nullptr ? "" : existing, path, waits) +
           (waits ? std::string(ipc::kRoomToDisarm) : "");
  };

  int errors[2], go[2];
  if (::pipe2(errors, O_CLOEXEC) != 0 || ::pipe2(go, O_CLOEXEC) != 0)
    return Error{ErrorCode::kFailed,
                 fmt::format("cannot start {}: {}", command[0], strerror(errno))};
  const Fd errors_read(errors[0]);
  Fd errors_write(errors[1]);
  Fd go_read(go[0]), go_write(go[1]);

  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  launch->pid_ = ::fork();
  if (launch->pid_ < 0)
    return Error{ErrorCode::kFailed,
                 fmt::format("cannot start {}: {}", command[0], strerror(errno))};
  if (launch->pid_ == 0) {
    ResetSignals();
    go_write.reset();
    pid_t guardian = 0;  // 0: none
    if (::read(go_read.get(), &guardian, sizeof(guardian)) != sizeof(guardian)) ::_exit(127);
    // With kernel.yama.ptrace_scope 1 only ancestors may write what the guardian has to, and who is
    // named here. It holds until that one ends. Source: Linux security/yama/yama_lsm.c
    if (guardian != 0) (void)::prctl(PR_SET_PTRACER, guardian, 0, 0, 0);
    ::setenv(kPorts, ports(guardian != 0).c_str(), 1);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(argv[0], argv.data());
    const int error = errno;
    (void)!::write(errors_write.get(), &error, sizeof(error));
    ::_exit(127);
  }
  errors_write.reset();
  const bool waits = IsDotnetHost(command[0]) && MayBeDisarmed(command[0], launch->pid_);
  // Before the program is let go: from then on somebody has to stand by.
  if (Status status = waits ? launch->StartGuardian() : OkStatus(); !status.ok()) {
    go_write.reset();
    ::waitpid(launch->pid_, nullptr, 0);
    launch->pid_ = 0;
    return Error{ErrorCode::kFailed, fmt::format("cannot start a guardian beside {}: {}",
                                                 command[0], status.error().message)};
  }
  if (Status status = prepare(launch->pid_); !status.ok()) {
    go_write.reset();
    ::waitpid(launch->pid_, nullptr, 0);
    launch->pid_ = 0;
    return status.error();
  }
  (void)!::write(go_write.get(), &launch->guardian_pid_, sizeof(launch->guardian_pid_));
  int error = 0;
  if (::read(errors_read.get(), &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error))) {
    ::waitpid(launch->pid_, nullptr, 0);
    launch->pid_ = 0;
    return Error{error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission,
                 fmt::format("cannot run {}: {}", command[0], strerror(error))};
  }
  launch->pidfd_ = Fd(PidFd(launch->pid_));
  return launch;
}

Status Launch::StartGuardian() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::kFailed, strerror(errno)};
  const Fd read_end(ends[0]);
  guardian_ = Fd(ends[1]);
  guardian_pid_ = ::fork();
  if (guardian_pid_ < 0) {
    guardian_.reset();
    return Error{ErrorCode::kFailed, strerror(errno)};
  }
  if (guardian_pid_ == 0) {
    ResetSignals();
    guardian_.reset();
    Guard(read_end.get(), pid_, server_->path());
  }
  return OkStatus();
}

void Launch::Released() {
  if (!guardian_.valid()) return;
  (void)!::write(guardian_.get(), "x", 1);
  guardian_.reset();
  ::waitpid(guardian_pid_, nullptr, 0);
}

Launch::~Launch() {
  at_its_end_ = nullptr;
  if (pid_ == 0 || ExitCode()) Released();
}

std::optional<int> Launch::ExitCode() {
  if (exit_code_ || pid_ == 0) return exit_code_;
  int status = 0;
  // Looks first: a child whose threads are stopped by this process (ThreadStops) is told of at each
  // of these stops, and who takes that hides it from the thread that waits for it. Source: Linux
  // kernel/exit.c, wait_consider_task
  siginfo_t seen{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      seen.si_pid != pid_ || seen.si_code == CLD_TRAPPED || seen.si_code == CLD_STOPPED)
    return std::nullopt;
  if (at_its_end_) std::exchange(at_its_end_, nullptr)();
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

void Launch::Signal(int signal) const {
  if (pid_ > 0 && !exit_code_) ::kill(pid_, signal);
}

}  // namespace clrscope::capture
