// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "base/control_path.h"
#include "capture/agents/agent_heartbeat.h"
#include "capture/agents/agent_image.h"
#include "capture/agents/agent_libc.h"
#include "capture/agents/agent_link.h"
#include "capture/agents/agent_place.h"
#include "ipc/processes/clr_config.h"
#include "ipc/processes/proc_stat.h"
#include "ipc/processes/process_finder.h"
#include "ipc/protocol/client.h"
#include "ipc/protocol/hresult.h"
#include "ipc/transport/socket.h"
#include "profile/interval/interval_codec.h"

namespace clrscope::capture {
namespace {

constexpr uint32_t kMaxFrame = 256u << 20;
constexpr int kAgentSince = 8;
constexpr std::string_view kNoProfilerInAot =
    "it was compiled with NativeAOT, whose runtime has no profiling interface";
constexpr std::chrono::milliseconds kAttachTimeout{5000}, kReady{8000}, kConnect{200},
    kAnswers{2000};

std::string SocketName(const ipc::ProcessFacts& facts) {
  return ControlSocketName(static_cast<uint32_t>(facts.inner_pid),
                           StartTicks(fmt::format("/proc/{}/stat", facts.pid).c_str()));
}

std::string SocketOf(const ipc::ProcessFacts& facts) {
  std::string folder = facts.tmp_dir;
  while (!folder.empty() && folder.back() == '/') folder.pop_back();
  return facts.root + folder + "/" + SocketName(facts);
}

// A line without its end.
Result<std::string> ReadLine(int fd, ipc::Deadline deadline) {
  std::string line;
  for (;;) {
    std::byte b;
    RETURN_IF_ERROR(ipc::ReceiveExactly(fd, {&b, 1}, deadline));
    if (b == std::byte{'\n'}) return line;
    line += static_cast<char>(b);
  }
}

Status SendLine(int fd, std::string_view line, ipc::Deadline deadline) {
  const std::string text = std::string(line) + "\n";
  return ipc::SendAll(fd, AsBytes(text.data(), text.size()), deadline);
}

Result<Fd> Connect(pid_t pid, ipc::Deadline deadline) {
  ASSIGN_OR_RETURN(const std::string path, AgentSocket(pid));
  Result<Fd> fd = ipc::ConnectUnix(path, deadline);
  if (fd.ok()) return fd;
  if (fd.error().code == ErrorCode::kNotFound)
    return Error{ErrorCode::kNotFound, fmt::format("process {} has no clrscope agent", pid)};
  return fd;
}

bool Answered(const Status& attached, uint32_t hresult) {
  return !attached.ok() &&
         attached.error().message.find(ipc::NameHresult(hresult)) != std::string::npos;
}

bool SlotIsTaken(const Status& attached) { return Answered(attached, ipc::kProfilerAlreadyActive); }

Fd OpenSocketFolder(const ipc::ProcessFacts& facts) {
  return Fd(::open((facts.root + facts.tmp_dir).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Where other machines' processes may listen, who refuse to be connected to from here.
bool IsShared(const Fd& folder) {
  // Source: Linux include/uapi/linux/magic.h; NFS, CIFS, SMB2, 9p, FUSE (virtiofs), Ceph
  constexpr uint32_t kMagics[] = {0x6969,     0xff534d42, 0xfe534d42,
                                  0x01021997, 0x65735546, 0x00c36400};
  struct statfs system {};
  return ::fstatfs(folder.get(), &system) != 0 ||
         std::find(std::begin(kMagics), std::end(kMagics), static_cast<uint32_t>(system.f_type)) !=
             std::end(kMagics);
}

// A socket of that name, of that user.
std::optional<ino_t> SocketAt(const Fd& folder, const std::string& name, uid_t uid) {
  struct stat file {};
  if (::fstatat(folder.get(), name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISSOCK(file.st_mode) || file.st_uid != uid)
    return std::nullopt;
  return file.st_ino;
}

// An agent's socket has this name only once it can be connected to (Control::Listen). Another agent
// of the same process has the same name.
void RemoveDeadSocket(const Fd& folder, const std::string& name, uid_t uid,
                      ipc::Deadline deadline) {
  for (int tries = 0; tries < 2; ++tries) {
    const std::optional<ino_t> socket = SocketAt(folder, name, uid);
    if (!socket) return;
    const Result<Fd> fd =
        ipc::ConnectUnix(fmt::format("/proc/self/fd/{}/{}", folder.get(), name), deadline);
    if (!fd.ok()) {
      if (fd.error().code == ErrorCode::kNotFound && SocketAt(folder, name, uid) == socket &&
          !IsShared(folder))
        (void)::unlinkat(folder.get(), name.c_str(), 0);
      return;
    }
    // The end of a listener hangs up on who waits there.
    pollfd p{fd->get(), 0, 0};
    if (::poll(&p, 1, deadline.poll_timeout_ms()) <= 0) return;
  }
}

// Whether our library is, or was, loaded: its mapping stays when the agent is out.
bool HadAgent(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);)
    if (line.find("clrscope-agent-") != std::string::npos) return true;  // of any build
  return false;
}

Result<std::string> AskOn(int fd, std::string_view command, ipc::Deadline deadline) {
  RETURN_IF_ERROR(SendLine(fd, command, deadline));
  return ReadLine(fd, deadline);
}

Result<std::string> Ask(pid_t pid, std::string_view command, ipc::Deadline deadline) {
  ASSIGN_OR_RETURN(const Fd fd, Connect(pid, deadline));
  return AskOn(fd.get(), command, deadline);
}

bool Answers(pid_t pid) { return Ask(pid, "status", ipc::Deadline::After(kAnswers)).ok(); }

// What it means that the agent could not be asked, by its heartbeat.
Error Unanswered(pid_t pid, const Error& error) {
  const bool nobody_listens = error.code == ErrorCode::kNotFound;
  if (!nobody_listens && error.code != ErrorCode::kTimeout) return error;
  const Result<AgentHeartbeat> beat = ReadHeartbeat(pid);
  const auto silent = [&](std::string_view what) {
    return Error{ErrorCode::kTimeout,
                 fmt::format("the agent of process {} {}{}", pid, what, HeartbeatSuffix(beat))};
  };
  if (!nobody_listens) return silent("does not answer");
  // One that was let go is as good as gone, unless it hangs.
  if (!beat.ok() || (beat->leaves && !IsStuck(*beat, kAnswers))) return error;
  // One that began to listen meanwhile was not there when it was asked.
  if (!beat->leaves && Connect(pid, ipc::Deadline::After(kConnect)).ok()) return error;
  return silent(beat->leaves ? "does not go" : "has lost its socket");
}

void Pause(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

// A text of the agent's status, which it writes itself: no quotes within.
std::string TextOf(const std::string& status, std::string_view name) {
  const std::string key = fmt::format("\"{}\":\"", name);
  const size_t at = status.find(key);
  if (at == std::string::npos) return {};
  const size_t begin = at + key.size();
  return status.substr(begin, status.find('"', begin) - begin);
}

// It answers: but does it sample? One that cannot says why, and is taken out.
Status CheckStarted(pid_t pid, const std::string& status, ipc::Deadline deadline) {
  const std::string failure = TextOf(status, "failure");
  if (failure.empty() || status.find("\"sampling\":false") == std::string::npos) return OkStatus();
  (void)AskAgent(pid, "detach", deadline);
  return Error{ErrorCode::kRefused,
               fmt::format("the agent cannot sample process {}: {}", pid, failure)};
}

// A runtime takes one profiler, and has one.
Error WhoHasTheSlot(pid_t pid) {
  if (Answers(pid))
    return {ErrorCode::kRefused, fmt::format("process {} has a clrscope agent already: `clrscope "
                                             "detach -p {}` takes it out",
                                             pid, pid)};
  if (const Result<AgentHeartbeat> beat = ReadHeartbeat(pid); beat.ok())
    return {ErrorCode::kRefused,
            fmt::format("process {} has a clrscope agent that {}: {}", pid,
                        beat->leaves ? "has yet to go" : "does not answer", InWords(*beat))};
  return {ErrorCode::kRefused,
          fmt::format("process {} has another profiler loaded, and a runtime "
                      "takes only one: `clrscope record -p {}` works beside it",
                      pid, pid)};
}

// Its runtime has no place for one, whoever asks.
std::string WhyNoProfiler(const ipc::DotnetProcess& process) {
  if (process.native_aot) return std::string(kNoProfilerInAot);
  const int major = ipc::MajorVersion(process.clr_version);
  if (major == 0 || major >= kAgentSince) return {};
  return fmt::format("it runs .NET {}, and the agent needs .NET {} or later", process.clr_version,
                     kAgentSince);
}

Error Ended(pid_t pid) {
  return {ErrorCode::kNotFound,
          fmt::format("process {} ended while the agent was being loaded", pid)};
}

}  // namespace

AgentSocketFile::AgentSocketFile(pid_t pid) {
  const Result<ipc::ProcessFacts> facts = ipc::GatherSocketFacts(pid);
  if (!facts.ok()) return;
  folder_ = OpenSocketFolder(*facts);
  uid_ = facts->uid;
  name_ = SocketName(*facts);
}

void AgentSocketFile::RemoveIfDead(ipc::Deadline deadline) const {
  if (folder_.valid()) RemoveDeadSocket(folder_, name_, uid_, deadline);
}

void RemoveDeadSockets(const ipc::ProcessFacts& facts) {
  const Fd folder = OpenSocketFolder(facts);
  if (!folder.valid()) return;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/self/fd/{}", folder.get()), error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("clrscope-agent-") && name.ends_with(".socket"))
      RemoveDeadSocket(folder, name, facts.uid, ipc::Deadline::After({}));
  }
}

Result<std::string> AgentSocket(pid_t pid) {
  ASSIGN_OR_RETURN(const ipc::ProcessFacts facts, ipc::GatherSocketFacts(pid));
  return SocketOf(facts);
}

bool AgentSocketFits(const ipc::ProcessFacts& facts) {
  std::string folder = ipc::FindVariable(facts.environ, "TMPDIR").value_or("");
  if (folder.empty()) folder = "/tmp";
  if (folder.back() != '/') folder += '/';
  return folder.size() + SocketName(facts).size() <= kMostControlPath;
}

std::string WhyNoAgent(const ipc::DotnetProcess& process) {
  if (const std::string why = WhyNoProfiler(process); !why.empty()) return why;
  const Result<ipc::ProcessFacts> facts = ipc::GatherFacts(process.pid);
  if (!facts.ok()) return facts.error().message;
  if (!HasAgentFor(LibcOf(process, *facts)))
    return fmt::format("the process runs on musl, and {}", kNoAgentForMusl);
  const auto on = ipc::FindVariable(facts->environ, "CORECLR_ENABLE_PROFILING");
  if (on && *on == "1") return "another profiler was loaded when the process began";
  return WhyNoPlace(*facts);
}

std::string WhyNotAtStart(pid_t pid) {
  const Result<ipc::ProcessFacts> facts = ipc::GatherFacts(pid);
  if (!facts.ok()) return {};
  if (facts->runtime == ipc::RuntimeKind::kNativeAot) return std::string(kNoProfilerInAot);
  if (facts->environ_readable && !facts->environ.empty()) {
    if (const std::string by = ipc::SwitchedOffBy(facts->environ, ipc::kProfilers); !by.empty())
      return fmt::format("{} stands in its environment", by);
    const auto on = ipc::FindVariable(facts->environ, "CORECLR_ENABLE_PROFILING");
    const auto clsid = ipc::FindVariable(facts->environ, "CORECLR_PROFILER");
    if (on != "1" || clsid != kAgentClsidText)
      return "it was started with another environment, which does not name the agent "
             "(CORECLR_PROFILER)";
  }
  if (!AgentSocketFits(*facts))
    return fmt::format("its TMPDIR ({}) is too long for the path of a socket", facts->tmp_dir);
  if (facts->socket_path.empty() && !facts->root_denied && !facts->tmp_dir_exists)
    return fmt::format("its TMPDIR ({}) does not exist", facts->tmp_dir);
  return {};
}

Status AttachAgent(pid_t pid, std::string_view options, ipc::Deadline deadline) {
  ASSIGN_OR_RETURN(const ipc::DotnetProcess process, ipc::FindProcess(pid));
  ASSIGN_OR_RETURN(const std::unique_ptr<ipc::Transport> transport, ipc::OpenTransport(process));
  if (const std::string why = WhyNoProfiler(process); !why.empty())
    return Error{ErrorCode::kRefused, fmt::format("process {} takes no agent: {}", pid, why)};
  ASSIGN_OR_RETURN(ipc::ProcessFacts facts, ipc::GatherFacts(pid));
  RemoveDeadSockets(facts);
  ASSIGN_OR_RETURN(const PlacedAgent placed, PlaceAgent(facts, LibcOf(process, facts)));
  ipc::Client client(*transport);
  const auto attach = [&] {
    return client.AttachProfiler(kAgentClsid, placed.path(),
                                 AsBytes(options.data(), options.size()), kAttachTimeout, deadline);
  };
  Status attached = attach();
  // A runtime listens before it has started, and takes no profiler until then. It lets go of an
  // agent some time after that has gone quiet.
  const auto ready = ipc::Deadline::After(kReady);
  while (!deadline.expired() && !ready.expired() &&
         (Answered(attached, ipc::kNotYetAvailable) ||
          (SlotIsTaken(attached) && HadAgent(pid) && !Answers(pid)))) {
    Pause(std::chrono::milliseconds(50));
    attached = attach();
  }
  if (!attached.ok()) {
    const Error& error = attached.error();
    if (SlotIsTaken(attached)) return WhoHasTheSlot(pid);
    if (error.code != ErrorCode::kRefused && ipc::IsEnding(pid, std::chrono::milliseconds(500)))
      return Ended(pid);
    return error;
  }
  for (;;) {
    if (const Result<std::string> status = Ask(pid, "status", deadline); status.ok())
      return CheckStarted(pid, *status, deadline);
    if (ipc::IsEnding(pid, {})) return Ended(pid);
    if (deadline.expired())
      return Error{ErrorCode::kTimeout,
                   fmt::format("the agent was loaded into process {} but does not answer{}", pid,
                               HeartbeatSuffix(ReadHeartbeat(pid)))};
    Pause(std::chrono::milliseconds(5));
  }
}

Result<std::string> AskAgent(pid_t pid, std::string_view command, ipc::Deadline deadline) {
  Result<std::string> answer = Ask(pid, command, deadline);
  if (!answer.ok()) return Unanswered(pid, answer.error());
  if (answer->starts_with("error "))
    return Error{ErrorCode::kRefused, "the agent says: " + answer->substr(6)};
  return answer;
}

Result<std::unique_ptr<AgentSubscription>> AgentSubscription::Open(pid_t pid,
                                                                   ipc::Deadline deadline) {
  ASSIGN_OR_RETURN(Fd fd, Connect(pid, deadline));
  const Result<std::string> answer = AskOn(fd.get(), "subscribe", deadline);
  if (!answer.ok()) return Unanswered(pid, answer.error());
  if (*answer != "ok")
    return Error{ErrorCode::kRefused,
                 fmt::format("the agent of process {} says: {}", pid,
                             answer->starts_with("error ") ? answer->substr(6) : *answer)};
  return std::unique_ptr<AgentSubscription>(new AgentSubscription(std::move(fd)));
}

Status AgentSubscription::Command(std::string_view line, ipc::Deadline deadline) {
  return SendLine(fd_.get(), line, deadline);
}

Result<bool> AgentSubscription::Next(profile::IntervalFrame& frame) {
  for (;;) {
    uint32_t size = 0;
    if (in_.size() >= sizeof size) {
      std::memcpy(&size, in_.data(), sizeof size);
      if (size > kMaxFrame) return Error{ErrorCode::kCorrupt, "the agent sent an absurd length"};
      if (in_.size() - sizeof size >= size) {
        const Bytes bytes = AsBytes(in_.data() + sizeof size, size);
        ASSIGN_OR_RETURN(frame, profile::DecodeInterval(bytes));
        in_.erase(0, sizeof size + size);
        return true;
      }
    }
    char buffer[64 * 1024];
    const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) {
      in_.append(buffer, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    return Error{ErrorCode::kTruncated, "the agent is gone"};
  }
}

}  // namespace clrscope::capture
