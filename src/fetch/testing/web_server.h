// SPDX-License-Identifier: Apache-2.0
// A small web server on this machine, with a certificate of its own making if it is to have one.
#pragma once

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace clrscope::fetch {

// A key and a certificate for these names, signed by itself.
class SelfMadeCertificate {
 public:
  explicit SelfMadeCertificate(const char* names = "DNS:localhost,IP:127.0.0.1") {
    key_ = EVP_EC_gen("P-256");
    certificate_ = X509_new();
    X509_set_version(certificate_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* const name = X509_get_subject_name(certificate_);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    for (const auto& [kind, value] : {std::pair{NID_subject_alt_name, names},
                                      std::pair{NID_basic_constraints, "critical,CA:TRUE"}}) {
      X509_EXTENSION* const e = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
      X509_add_ext(certificate_, e, -1);
      X509_EXTENSION_free(e);
    }
    X509_sign(certificate_, key_, EVP_sha256());
  }
  ~SelfMadeCertificate() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  SelfMadeCertificate(const SelfMadeCertificate&) = delete;

  void Write(const std::string& path) const {
    FILE* const file = ::fopen(path.c_str(), "we");
    PEM_write_X509(file, certificate_);
    ::fclose(file);
  }
  EVP_PKEY* key() const { return key_; }
  X509* certificate() const { return certificate_; }

 private:
  EVP_PKEY* key_;
  X509* certificate_;
};

class WebServer {
 public:
  struct Answer {
    int status = 404;
    std::string body{};
    std::string location{};
    bool chunked = false;
    bool never = false;   // nothing is ever sent
    bool broken = false;  // the connection ends in the middle of the body
  };
  using Handler = std::function<Answer(const std::string& target)>;

  explicit WebServer(Handler handler, const SelfMadeCertificate* certificate = nullptr)
      : handler_(std::move(handler)) {
    base_ = event_base_new();
    http_ = evhttp_new(base_);
    if (certificate != nullptr) {
      tls_ = SSL_CTX_new(TLS_server_method());
      SSL_CTX_use_certificate(tls_, certificate->certificate());
      SSL_CTX_use_PrivateKey(tls_, certificate->key());
      evhttp_set_bevcb(http_, &NewTls, this);
    }
    evhttp_set_gencb(http_, &OnRequest, this);
    evhttp_bound_socket* const bound = evhttp_bind_socket_with_handle(http_, "127.0.0.1", 0);
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      sigset_t pipe;
      sigemptyset(&pipe);
      sigaddset(&pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
      while (!stop_) {
        event_base_loop(base_, EVLOOP_NONBLOCK);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~WebServer() {
    stop_ = true;
    thread_.join();
    evhttp_free(http_);
    event_base_free(base_);
    SSL_CTX_free(tls_);
  }

  int port() const { return port_; }
  std::string Url(const std::string& target, const std::string& host = "127.0.0.1") const {
    return std::string(tls_ != nullptr ? "https://" : "http://") + host + ":" +
           std::to_string(port_) + target;
  }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  static bufferevent* NewTls(event_base* base, void* self) {
    return bufferevent_openssl_socket_new(base, -1, SSL_new(static_cast<WebServer*>(self)->tls_),
                                          BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
  }
  static void OnRequest(evhttp_request* request, void* argument) {
    auto& self = *static_cast<WebServer*>(argument);
    const std::string target = evhttp_request_get_uri(request);
    {
      const std::lock_guard lock(self.mutex_);
      self.asked_.push_back(target);
    }
    const Answer answer = self.handler_(target);
    if (answer.never) return;
    if (answer.broken) {
      // Promised, but not sent.
      bufferevent* const socket =
          evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
      evbuffer_add_printf(bufferevent_get_output(socket),
                          "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                          answer.body.size() + 1000, answer.body.c_str());
      bufferevent_setcb(
          socket, nullptr,
          [](bufferevent* s, void*) { ::shutdown(bufferevent_getfd(s), SHUT_RDWR); }, nullptr,
          nullptr);
      bufferevent_enable(socket, EV_WRITE);
      return;
    }
    if (!answer.location.empty())
      evhttp_add_header(evhttp_request_get_output_headers(request), "Location",
                        answer.location.c_str());
    evbuffer* const body = evbuffer_new();
    evbuffer_add(body, answer.body.data(), answer.body.size());
    if (answer.chunked) {
      evhttp_send_reply_start(request, answer.status, "");
      evhttp_send_reply_chunk(request, body);
      evhttp_send_reply_end(request);
    } else {
      evhttp_send_reply(request, answer.status, "", body);
    }
    evbuffer_free(body);
  }

  Handler handler_;
  event_base* base_ = nullptr;
  evhttp* http_ = nullptr;
  SSL_CTX* tls_ = nullptr;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A folder that goes with it, and variables of the environment that are as before afterwards.
class Surroundings {
 public:
  Surroundings() {
    std::string name = (std::filesystem::temp_directory_path() / "clrscope-fetch-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Surroundings() {
    for (const auto& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    std::filesystem::remove_all(folder_);
  }
  Surroundings(const Surroundings&) = delete;

  void Set(const std::string& name, const std::string& value) {
    const char* const now = ::getenv(name.c_str());
    before_.try_emplace(name, now == nullptr ? std::nullopt : std::optional<std::string>(now));
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::string Path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace clrscope::fetch
