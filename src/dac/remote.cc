// SPDX-License-Identifier: Apache-2.0
#include "dac/remote.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace clrscope::dac {
namespace {

constexpr size_t kMaxPages = 32'768;  // 128 MB

}  // namespace

// Whoever asked has gone: there is nobody to tell it.
void Remote::SendAll(const void* data, size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(socket_, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(3);
    at += n;
    size -= static_cast<size_t>(n);
  }
}

void Remote::ReceiveAll(void* data, size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(socket_, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(3);
    at += n;
    size -= static_cast<size_t>(n);
  }
}

const Remote::Page& Remote::PageAt(uint64_t number) {
  if (pages_.size() > kMaxPages) pages_.clear();
  std::unique_ptr<Page>& page = pages_[number];
  if (page) return *page;
  page = std::make_unique<Page>();
  const Request request{Op::kRead, kPageBytes, number * kPageBytes};
  SendAll(&request, sizeof request);
  ReceiveAll(&page->bytes, sizeof page->bytes);
  if (page->bytes > kPageBytes) ::_exit(3);
  ReceiveAll(page->data, page->bytes);
  return *page;
}

uint32_t Remote::Read(uint64_t address, void* out, uint32_t size) {
  uint32_t done = 0;
  while (done < size) {
    const uint64_t at = address + done;
    const Page& page = PageAt(at / kPageBytes);
    const auto within = static_cast<uint32_t>(at % kPageBytes);
    if (within >= page.bytes) break;
    const uint32_t n = std::min(size - done, page.bytes - within);
    std::memcpy(static_cast<uint8_t*>(out) + done, page.data + within, n);
    done += n;
  }
  return done;
}

void Remote::Snapshot(const std::vector<SnapshotThread>& threads) {
  const Request request{Op::kSnapshot, static_cast<uint32_t>(threads.size()), 0};
  SendAll(&request, sizeof request);
  SendAll(threads.data(), threads.size() * sizeof threads[0]);
  uint32_t count = 0;
  ReceiveAll(&count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) {
    ThreadRegisters r;
    ReceiveAll(&r, sizeof r);
    registers_[r.os_id] = r;
  }
  Forget();
}

const ThreadRegisters* Remote::RegistersOf(uint64_t os_id) const {
  const auto found = registers_.find(os_id);
  return found == registers_.end() ? nullptr : &found->second;
}

void Remote::Part(std::string_view json) {
  if (json.size() > kMaxPartBytes) return;
  const Request request{Op::kPart, static_cast<uint32_t>(json.size()), 0};
  SendAll(&request, sizeof request);
  SendAll(json.data(), json.size());
}

void Remote::Done() {
  const Request request;
  SendAll(&request, sizeof request);
}

}  // namespace clrscope::dac
