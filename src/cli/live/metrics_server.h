// SPDX-License-Identifier: Apache-2.0
// Serves the metrics page over HTTP, from one thread of its own: a slow scraper holds nobody up.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "cli/live/listen_address.h"

struct event;
struct event_base;
struct evhttp;
struct evhttp_request;

namespace clrscope::cli {

class MetricsServer {
 public:
  MetricsServer() = default;
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Returns the port. errors: see ListenAt
  Result<int> Start(const ListenAddress& address);
  // The same figures in both formats; what is asked for from now on.
  void Publish(std::string prometheus, std::string open_metrics);

 private:
  template <auto f>
  struct Free {
    template <class T>
    void operator()(T* p) const {
      f(p);
    }
  };
  static void FreeBase(event_base* base);
  static void FreeHttp(evhttp* http);
  static void FreeEvent(event* e);

  void Answer(evhttp_request* request);

  Fd stop_;
  std::unique_ptr<event_base, Free<FreeBase>> base_;
  std::unique_ptr<evhttp, Free<FreeHttp>> http_;
  std::unique_ptr<event, Free<FreeEvent>> stop_event_;
  std::thread thread_;
  std::mutex mutex_;
  std::string prometheus_, open_metrics_;  // guarded by mutex_
};

}  // namespace clrscope::cli
