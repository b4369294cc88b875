// SPDX-License-Identifier: Apache-2.0
// A socket that pretends to be a runtime: a thread that does to each connection what a test says.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/byte_reader.h"
#include "ipc/protocol/message.h"
#include "ipc/transport/socket.h"

namespace clrscope::ipc::testing {

using Buffer = std::vector<std::byte>;

// More than anything takes here that does not fail.
inline constexpr std::chrono::milliseconds kLong{5000};

// A folder of its own for one test, removed at its end.
class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/clrscope-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// "44 4f 54" → bytes; blanks and '|' are only for the eye.
inline Buffer FromHex(std::string_view hex) {
  Buffer bytes;
  std::string digits;
  for (const char c : hex)
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

inline std::string ToHex(Bytes bytes) {
  std::string hex;
  for (const std::byte b : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned>(b) >> 4];
    hex += kDigits[static_cast<unsigned>(b) & 15];
  }
  return hex;
}

inline Buffer Message(Command command, const Buffer& payload = {}) {
  MessageWriter writer(command);
  return writer.Raw(payload).Finish().Take();
}

inline Buffer RefusalMessage(uint32_t hresult) {
  MessageWriter writer(Command::kError);
  return writer.U32(hresult).Finish().Take();
}

class FakePeer {
 public:
  // Gets each connection and the request that came over it; closes it on return.
  using Script = std::function<void(int fd, const Buffer& request)>;

  explicit FakePeer(Script script) : script_(std::move(script)) {
    path_ = dir_.path() + "/peer.sock";
    listener_ = ListenUnix(path_).Take();
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakePeer() {
    stop_ = true;
    thread_.join();
  }
  const std::string& path() const { return path_; }
  std::vector<Buffer> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // For scripts that stall: until the test is over.
  void WaitForEnd() const {
    while (!stop_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  bool ending() const { return stop_; }

  static void Send(int fd, const Buffer& bytes) {
    (void)SendAll(fd, bytes, Deadline::After(std::chrono::seconds(5)));
  }

 private:
  void Serve() {
    while (!stop_) {
      pollfd p{listener_.get(), POLLIN, 0};
      if (::poll(&p, 1, 5) <= 0) continue;
      const Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.valid()) continue;
      const Buffer request = ReadRequest(fd.get());
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      script_(fd.get(), request);
    }
  }
  static Buffer ReadRequest(int fd) {
    const Deadline soon = Deadline::After(std::chrono::seconds(30));
    Buffer request(kHeaderSize);
    if (!ReceiveExactly(fd, request, soon).ok()) return {};
    const Result<Header> header = ParseHeader(request);
    if (!header.ok()) return request;
    request.resize(header->size);
    (void)ReceiveExactly(fd, std::span(request).subspan(kHeaderSize), soon);
    return request;
  }

  TempDir dir_;
  std::string path_;
  Script script_;
  Fd listener_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<Buffer> requests_;
  std::thread thread_;
};

}  // namespace clrscope::ipc::testing
