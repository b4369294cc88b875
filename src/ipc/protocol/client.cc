// SPDX-License-Identifier: Apache-2.0
// One function per command; the ladders over a command's versions are here too.
#include "ipc/protocol/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ipc/protocol/hresult.h"
#include "ipc/protocol/message.h"
#include "ipc/transport/socket.h"

namespace clrscope::ipc {
namespace {

// An environment larger than this is not one: Linux lets strings take a quarter of the stack limit.
constexpr uint32_t kMaxEnvironmentBytes = 64u << 20;
constexpr size_t kChunk = 64u << 10;

// Reads `size` bytes that the peer promised, taking memory only for what really comes.
Result<std::vector<std::byte>> ReceiveBlock(int fd, size_t size, Deadline deadline) {
  std::vector<std::byte> block;
  while (block.size() < size) {
    const size_t old = block.size();
    block.resize(old + std::min(kChunk, size - old));
    RETURN_IF_ERROR(ReceiveExactly(fd, std::span(block).subspan(old), deadline));
  }
  return block;
}

}  // namespace

struct Client::Reply {
  Fd connection;
  std::vector<std::byte> payload;
};

Error Client::Explain(std::string_view command, Error error) const {
  error.message = fmt::format("{}: {}: {}", transport_.description(), command, error.message);
  return error;
}

Result<Client::Reply> Client::Call(std::string_view command, Bytes request, Deadline deadline,
                                   uint32_t* hresult) {
  if (hresult != nullptr) *hresult = 0;
  const auto exchange = [&]() -> Result<Reply> {
    ASSIGN_OR_RETURN(Fd fd, transport_.Open(deadline));
    // A runtime may refuse and close before it has read all: then its answer still counts.
    const Status sent = SendAll(fd.get(), request, deadline);
    if (!sent.ok() && sent.error().code != ErrorCode::kIo) return sent.error();
    std::array<std::byte, kHeaderSize> head;
    const Status received = ReceiveExactly(fd.get(), head, deadline);
    if (!received.ok()) return sent.ok() ? received.error() : sent.error();
    ASSIGN_OR_RETURN(const Header header, ParseHeader(head));
    ASSIGN_OR_RETURN(auto payload, ReceiveBlock(fd.get(), header.payload_size(), deadline));
    if (header.command == Command::kOk) return Reply{std::move(fd), std::move(payload)};
    if (header.command != Command::kError)
      return Error{ErrorCode::kCorrupt, fmt::format("the reply has the unknown code {:#06x}",
                                                    static_cast<unsigned>(header.command))};
    ASSIGN_OR_RETURN(const Refusal refusal, ParseRefusal(payload));
    if (hresult != nullptr) *hresult = refusal.hresult;
    return Error{ErrorCode::kRefused,
                 fmt::format("the runtime answered {}{}{}", NameHresult(refusal.hresult),
                             refusal.text.empty() ? "" : ": ", refusal.text)};
  };
  Result<Reply> reply = exchange();
  if (!reply.ok()) return Explain(command, std::move(reply.error()));
  return reply;
}

Status Client::Do(std::string_view command, MessageWriter& request, Deadline deadline,
                  uint32_t* hresult) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, request.Finish());
  ASSIGN_OR_RETURN(const Reply reply, Call(command, bytes, deadline, hresult));
  const uint32_t outcome = ParseOutcome(reply.payload);
  if (!IsFailure(outcome)) return OkStatus();
  if (hresult != nullptr) *hresult = outcome;
  return Explain(command, Error{ErrorCode::kRefused,
                                fmt::format("the runtime answered {}", NameHresult(outcome))});
}

Result<ProcessInfo> Client::GetProcessInfo(Deadline deadline) {
  constexpr std::pair<int, Command> kLadder[] = {
      {3, Command::kProcessInfo3}, {2, Command::kProcessInfo2}, {1, Command::kProcessInfo1}};
  for (const auto& [version, command] : kLadder) {
    ASSIGN_OR_RETURN(const std::vector<std::byte> request, MessageWriter(command).Finish());
    uint32_t hresult = 0;
    Result<Reply> reply = Call("ProcessInfo", request, deadline, &hresult);
    if (!reply.ok()) {
      if (hresult == kUnknownCommand && version > 1) continue;
      return std::move(reply.error());
    }
    Result<ProcessInfo> info = ParseProcessInfo(version, reply->payload);
    if (!info.ok()) return Explain("ProcessInfo", std::move(info.error()));
    return info;
  }
  CHECK(false);  // version 1 always returns
  return Error{};
}

Result<Environment> Client::GetEnvironment(Deadline deadline) {
  constexpr std::string_view kName = "ProcessEnvironment";
  ASSIGN_OR_RETURN(const std::vector<std::byte> request,
                   MessageWriter(Command::kProcessEnvironment).Finish());
  ASSIGN_OR_RETURN(const Reply reply, Call(kName, request, deadline));
  const auto read = [&]() -> Result<Environment> {
    ASSIGN_OR_RETURN(const uint32_t size, ParseEnvironmentSize(reply.payload));
    if (size > kMaxEnvironmentBytes)
      return Error{ErrorCode::kCorrupt, fmt::format("an environment of {} bytes is not one", size)};
    ASSIGN_OR_RETURN(const auto block, ReceiveBlock(reply.connection.get(), size, deadline));
    return ParseEnvironment(block);
  };
  Result<Environment> environment = read();
  if (!environment.ok()) return Explain(kName, std::move(environment.error()));
  return environment;
}

Result<Session> Client::CollectTracing(const SessionConfig& config, Deadline deadline,
                                       int max_version) {
  for (int version = max_version;; --version) {
    const std::string name = fmt::format("CollectTracing{}", version);
    ASSIGN_OR_RETURN(const std::vector<std::byte> request, EncodeCollectTracing(version, config));
    uint32_t hresult = 0;
    Result<Reply> reply = Call(name, request, deadline, &hresult);
    if (!reply.ok()) {
      if (hresult == kUnknownCommand && version > kMinCollectVersion) continue;
      return std::move(reply.error());
    }
    Result<uint64_t> id = ParseSessionId(reply->payload);
    if (!id.ok()) return Explain(name, std::move(id.error()));
    return Session{std::move(reply->connection), *id, version, LimitsOf(version)};
  }
}

Status Client::StopTracing(uint64_t session_id, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> request,
                   MessageWriter(Command::kStopTracing).U64(session_id).Finish());
  ASSIGN_OR_RETURN(const Reply reply, Call("StopTracing", request, deadline));
  return OkStatus();
}

Status Client::SetEnvironmentVariable(std::string_view name, std::string_view value,
                                      Deadline deadline) {
  if (name.empty() || name.find('=') != std::string_view::npos)
    return Error{ErrorCode::kUsage, fmt::format("'{}' cannot name a variable", name)};
  MessageWriter request(Command::kSetEnvironmentVariable);
  return Do("SetEnvironmentVariable", request.String(name).String(value), deadline);
}

Status Client::ResumeRuntime(Deadline deadline) {
  MessageWriter request(Command::kResumeRuntime);
  return Do("ResumeRuntime", request, deadline);
}

Status Client::AttachProfiler(const Guid& clsid, std::string_view path, Bytes client_data,
                              std::chrono::milliseconds attach_timeout, Deadline deadline) {
  MessageWriter request(Command::kAttachProfiler);
  request.U32(static_cast<uint32_t>(std::clamp<int64_t>(attach_timeout.count(), 0, 0x7fffffff)));
  request.Raw(AsBytes(clsid.data(), clsid.size())).String(path);
  request.U32(static_cast<uint32_t>(client_data.size())).Raw(client_data);
  return Do("AttachProfiler", request, deadline);
}

Status Client::SetStartupProfiler(const Guid& clsid, std::string_view path, Deadline deadline) {
  MessageWriter request(Command::kStartupProfiler);
  request.Raw(AsBytes(clsid.data(), clsid.size())).String(path);
  return Do("StartupProfiler", request, deadline);
}

Status Client::ApplyStartupHook(std::string_view assembly_path, Deadline deadline) {
  MessageWriter request(Command::kApplyStartupHook);
  return Do("ApplyStartupHook", request.String(assembly_path), deadline);
}

Status Client::EnablePerfMap(PerfMapType type, Deadline deadline) {
  MessageWriter request(Command::kEnablePerfMap);
  return Do("EnablePerfMap", request.U32(static_cast<uint32_t>(type)), deadline);
}

Status Client::DisablePerfMap(Deadline deadline) {
  MessageWriter request(Command::kDisablePerfMap);
  return Do("DisablePerfMap", request, deadline);
}

Status Client::WriteDump(DumpType type, std::string_view path, bool log, Deadline deadline) {
  // The third field was a bool and became flags whose bit 0 has the same meaning.
  uint32_t hresult = 0;
  for (const Command command : {Command::kDump3, Command::kDump2, Command::kDump1}) {
    MessageWriter request(command);
    request.String(path).U32(static_cast<uint32_t>(type)).U32(log ? 1 : 0);
    Status status = Do("Dump", request, deadline, &hresult);
    if (status.ok() || hresult != kUnknownCommand || command == Command::kDump1) return status;
  }
  return OkStatus();
}

}  // namespace clrscope::ipc
