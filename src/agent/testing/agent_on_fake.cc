// SPDX-License-Identifier: Apache-2.0
#include "agent/testing/agent_on_fake.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/control_path.h"
#include "base/fd.h"
#include "clr/gc_events.h"
#include "profile/interval/interval_codec.h"

namespace clrscope::agent {
namespace {

template <class T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

bool Until(double seconds, const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

AgentOnFake::AgentOnFake(std::string options, bool attached) {
  for (size_t at; (at = options.find("%d")) != std::string::npos;) options.replace(at, 2, folder());
  Options parsed = ParseOptions("walk=snapshot," + options).Take();
  parsed.control_folder = folder();
  agent_ = std::make_shared<Agent>(&runtime, std::move(parsed), attached);
  runtime.ExpectListedCalls(&agent_->heartbeat());
  {
    const FakeRuntime::Within within(attached ? FakeRuntime::Callback::kInitializeForAttach
                                              : FakeRuntime::Callback::kInitialize);
    if (!agent_->Start().ok()) std::abort();
  }
  if (attached) agent_->OnAttachComplete();
  if (!Until(20, [this] { return !Ask("status").empty(); })) std::abort();
}

AgentOnFake::~AgentOnFake() {
  runtime.creating_handles.Open();
  runtime.questions_stall.Open();
  runtime.beginning_sessions.Open();
  if (!ended()) Detach();
  if (!Until(20, [this] { return ended(); })) std::abort();
  runtime.EndsHere();
}

void AgentOnFake::Detach() { (void)Ask("detach"); }

void AgentOnFake::Allocate(ClassId type, uint64_t size, const Guid* activity, uintptr_t ip) {
  static std::atomic<uint64_t> address{0x10000};
  std::string payload;
  Put(payload, uint32_t{0});
  Put(payload, uint16_t{0});
  Put(payload, uint64_t{type});
  Put(payload, char16_t{0});
  Put(payload, address.fetch_add(16));
  Put(payload, size);
  Put(payload, uint64_t{0});
  constexpr uint32_t kAllocationSampled = 303;
  Registers from;
  from.ip = ip;
  from.sp = reinterpret_cast<uintptr_t>(&payload);
  const FakeRuntime::Within within(FakeRuntime::Callback::kAllocationEvent);
  agent_->OnEvent(kAllocationSampled, 0, AsBytes(payload.data(), payload.size()), activity, from);
}

void AgentOnFake::AllocateCounted(ClassId type) {
  Registers from;
  from.sp = reinterpret_cast<uintptr_t>(&from);
  const FakeRuntime::Within within(FakeRuntime::Callback::kObjectAllocated);
  agent_->OnObjectAllocated(0x10000, type, from);
}

void AgentOnFake::Event(uint32_t id, uint32_t version, const std::string& payload,
                        FakeRuntime::Callback callback) {
  const FakeRuntime::Within within(callback);
  Registers from;
  from.sp = reinterpret_cast<uintptr_t>(&payload);
  agent_->OnEvent(id, version, AsBytes(payload.data(), payload.size()), nullptr, from);
}

void AgentOnFake::Throw(std::u16string_view type, bool by_statement) {
  std::string payload;  // ExceptionThrown_V1
  for (const char16_t c : type) Put(payload, c);
  Put(payload, char16_t{0});
  Put(payload, char16_t{0});  // message
  Put(payload, uint64_t{0});
  Put(payload, uint32_t{0});
  Put(payload, static_cast<uint16_t>(by_statement ? 4 : 0));
  Put(payload, uint16_t{0});
  Event(80, 1, payload);
}

void AgentOnFake::Contend(uint64_t owner) {
  std::string payload(3, 0);  // ContentionStart_V2
  Put(payload, uint64_t{0x1000});
  Put(payload, uint64_t{0x2000});
  Put(payload, owner);
  Event(81, 2, payload);
}

void AgentOnFake::HaveLock(double waited_ns) {
  std::string payload(3, 0);
  Put(payload, waited_ns);
  Event(91, 1, payload);
}

void AgentOnFake::Wait() { Event(301, 0, std::string(11, 0)); }
void AgentOnFake::HaveWaited() { Event(302, 0, std::string(2, 0)); }

void AgentOnFake::CollectForAllocation() {
  std::string payload;  // GCStart_V2
  Put(payload, ++gcs_);
  Put(payload, uint32_t{0});  // generation
  Put(payload, uint32_t{0});  // AllocSmall
  Put(payload, uint32_t{0});
  Put(payload, uint16_t{0});
  Put(payload, uint64_t{0});
  Event(1, 2, payload, FakeRuntime::Callback::kGcEvent);
}

void AgentOnFake::SuspendForGc() {
  std::string payload;  // GCSuspendEEBegin_V1
  Put(payload, clr::kForGc);
  Put(payload, gcs_);
  Put(payload, uint16_t{0});
  Event(9, 1, payload, FakeRuntime::Callback::kGcEvent);
}

void AgentOnFake::EndGc() {
  std::string payload;  // GCEnd_V1
  Put(payload, gcs_);
  Put(payload, uint32_t{0});  // generation
  Put(payload, uint16_t{0});
  Event(2, 1, payload, FakeRuntime::Callback::kGcEvent);
}

void AgentOnFake::Restart() { Event(3, 1, std::string(2, 0), FakeRuntime::Callback::kGcEvent); }

void AgentOnFake::UnloadModule(ModuleId module) {
  {
    const FakeRuntime::Within within(FakeRuntime::Callback::kModuleUnloadStarted);
    agent_->OnModuleUnload(module);
  }
  runtime.FreeModule(module);
}

void AgentOnFake::UnloadMethod(FunctionId method) {
  {
    const FakeRuntime::Within within(FakeRuntime::Callback::kDynamicMethodUnloaded);
    agent_->OnDynamicUnload(method);
  }
  runtime.FreeMethod(method);
}

Fd AgentOnFake::Connect() const {
  const std::string path =
      folder() + "/" +
      ControlSocketName(static_cast<uint32_t>(::getpid()), StartTicks("/proc/self/stat"));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const bool there =
      ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  return there ? std::move(fd) : Fd();
}

profile::IntervalFrame AgentOnFake::NextFrame() {
  const auto take = [this](void* to, size_t size) {
    if (::recv(feed_.get(), to, size, MSG_WAITALL) != static_cast<ssize_t>(size)) std::abort();
  };
  uint32_t size = 0;
  take(&size, sizeof size);
  std::string bytes(size, 0);
  take(bytes.data(), size);
  profile::IntervalFrame f = profile::DecodeInterval(AsBytes(bytes.data(), bytes.size())).Take();
  const auto add = [](auto& known, auto& told, size_t first) {
    known.resize(first);
    known.insert(known.end(), told.begin(), told.end());
    told = known;
  };
  add(known_.methods, f.methods, f.first_method);
  add(known_.types, f.types, f.first_type - 1);
  add(known_.nodes, f.nodes, f.first_node - 1);
  add(known_.places, f.places, f.first_place - 1);
  return f;
}

profile::IntervalFrame AgentOnFake::EndInterval() {
  if (feed_.get() < 0) {
    feed_ = Connect();
    constexpr std::string_view kLine = "subscribe\n";
    (void)::send(feed_.get(), kLine.data(), kLine.size(), MSG_NOSIGNAL);
    for (char c = 0; c != '\n' && ::recv(feed_.get(), &c, 1, 0) == 1;) {
    }
  }
  for (pollfd p{feed_.get(), POLLIN, 0}; ::poll(&p, 1, 0) == 1;) (void)NextFrame();
  if (Ask("interval") != "ok") std::abort();
  return NextFrame();
}

std::string AgentOnFake::Ask(std::string_view line) const {
  const Fd fd = Connect();
  if (fd.get() < 0) return {};
  const std::string text = std::string(line) + "\n";
  (void)::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
  std::string answer;
  for (char c; ::recv(fd.get(), &c, 1, 0) == 1 && c != '\n';) answer += c;
  return answer;
}

double AgentOnFake::Status(std::string_view name) const {
  const std::string status = Ask("status");
  const size_t at = status.find("\"" + std::string(name) + "\":");
  return at == std::string::npos ? -1 : std::strtod(status.c_str() + at + name.size() + 3, nullptr);
}

std::string AgentOnFake::StatusText(std::string_view name) const {
  const std::string status = Ask("status");
  const size_t at = status.find("\"" + std::string(name) + "\":\"");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 4;
  return status.substr(begin, status.find('"', begin) - begin);
}

bool AgentOnFake::SpoolSays(std::string_view file, std::string_view text, double seconds) const {
  return Until(seconds, [&] {
    std::ifstream in(folder() + "/" + std::string(file), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    return bytes.find(text) != std::string::npos;
  });
}

}  // namespace clrscope::agent
