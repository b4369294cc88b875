// SPDX-License-Identifier: Apache-2.0
// Mutation soak: cuts recorded traces at many places and flips their bytes, and runs the whole
// pipeline on each in a child of its own. A crash, more than 256 MB or more than 10 s is a failure.
//   mutate_soak [--cuts N] [--flips N] [--seed S] TRACE.nettrace[.zst]...
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "analysis/aggregate.h"
#include "analysis/bind.h"
#include "analysis/trace_fold.h"
#include "nettrace/reader.h"

namespace {

using namespace clrscope;

constexpr long kMaxKb = 256 << 10;
constexpr double kMaxSeconds = 10;  // of processor time

std::string ReadTraceBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string packed{std::istreambuf_iterator<char>(in), {}};
  if (!path.ends_with(".zst")) return packed;
  std::string out, piece(ZSTD_DStreamOutSize(), '\0');
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> ctx(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_inBuffer from{packed.data(), packed.size(), 0};
  while (from.pos < from.size) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(ctx.get(), &to, &from))) return {};
    out.append(piece, 0, to.pos);
  }
  return out;
}

struct Fold final : nettrace::EventSink {
  explicit Fold(analysis::TraceFold* f) : fold(f) {}
  void OnStream(const nettrace::StreamInfo& i) override {
    fold->OnStream(i.pid, i.pointer_size, i.sync_unix_ns);
  }
  void OnEvent(const clr::RawEvent& e) override { fold->OnEvent(e); }
  analysis::TraceFold* fold;
};

// What the child does. Returns 0: read whole, 1: an error was reported, 2: truncation was noted.
int Pipeline(Bytes bytes) {
  profile::Recording recording;
  analysis::Aggregate aggregate(&recording);
  analysis::TraceFold fold(&recording, &aggregate);
  Fold sink(&fold);
  nettrace::Reader reader(&sink);
  bool damaged = false;
  for (size_t at = 0; at < bytes.size() && !damaged;) {
    const size_t n = std::min<size_t>(256 << 10, bytes.size() - at);
    damaged = !reader.Feed(bytes.subspan(at, n)).ok();
    at += n;
  }
  reader.Finish();
  fold.Finish(reader.ended());
  const profile::Profile p = analysis::Bind(recording, aggregate);
  volatile double keep = p.Total().amount;
  (void)keep;
  return damaged ? 1 : reader.ended() ? 0 : 2;
}

struct Worst {
  long kb = 0;
  double seconds = 0;
  long runs = 0, whole = 0, errors = 0, truncated = 0, failures = 0;
};

// `own_kb`: what the trace itself costs in the child, which a reader of a file would not hold.
void Run(Bytes bytes, const std::string& what, Worst& worst) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Of processor time: the soak runs beside other work. A child that waits for ever ends too.
    constexpr auto kLimit = static_cast<unsigned>(kMaxSeconds) + 2;
    const rlimit limit{kLimit, kLimit};
    (void)::setrlimit(RLIMIT_CPU, &limit);
    ::alarm(60 * kLimit);
    ::_exit(Pipeline(bytes));
  }
  int status = 0;
  struct rusage use {};
  ::wait4(child, &status, 0, &use);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  const double seconds = of(use.ru_utime) + of(use.ru_stime);
  // The pages of the input, which parent and child share, are in maxrss as far as they were read.
  const long kb = use.ru_maxrss - static_cast<long>(bytes.size() >> 10);
  ++worst.runs;
  worst.kb = std::max(worst.kb, kb);
  worst.seconds = std::max(worst.seconds, seconds);
  const bool exited = WIFEXITED(status);
  if (exited && WEXITSTATUS(status) == 0) ++worst.whole;
  if (exited && WEXITSTATUS(status) == 1) ++worst.errors;
  if (exited && WEXITSTATUS(status) == 2) ++worst.truncated;
  if (!exited || WEXITSTATUS(status) > 2 || kb > kMaxKb || seconds > kMaxSeconds) {
    ++worst.failures;
    std::printf("FAILED %s: status %x, %ld KB, %.2f s\n", what.c_str(),
                static_cast<unsigned>(status), kb, seconds);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  long cuts = 20, flips = 50;
  uint64_t seed = 1;
  Worst total;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--cuts" && i + 1 < argc) {
      cuts = std::atol(argv[++i]);
    } else if (arg == "--flips" && i + 1 < argc) {
      flips = std::atol(argv[++i]);
    } else if (arg == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      const std::string trace = ReadTraceBytes(arg);
      if (trace.empty()) {
        std::fprintf(stderr, "cannot read %s\n", arg.c_str());
        return 2;
      }
      std::mt19937_64 random(seed);
      Worst worst;
      for (long n = 0; n < cuts; ++n) {
        const size_t at = random() % trace.size();
        Run(AsBytes(trace.data(), at), arg + " cut at " + std::to_string(at), worst);
      }
      std::string copy;
      for (long n = 0; n < flips; ++n) {
        const uint64_t run_seed = random();
        std::mt19937_64 own(run_seed);
        copy = trace;
        // One byte, a few, a burst in one place, or a wild 32-bit number.
        const int shape = static_cast<int>(own() % 4);
        const size_t place = own() % (copy.size() - 64);
        if (shape < 2)
          for (size_t k = shape == 0 ? 1 : 1 + own() % 16; k-- > 0;)
            copy[own() % copy.size()] = static_cast<char>(own());
        if (shape == 2)
          for (size_t k = 0; k < 64; ++k) copy[place + k] = static_cast<char>(own());
        if (shape == 3) std::memset(copy.data() + place, 0x7F, 4);
        Run(AsBytes(copy.data(), copy.size()), arg + " seed " + std::to_string(run_seed), worst);
      }
      std::printf(
          "%s: %ld runs, %ld whole, %ld errors, %ld truncated, %ld failures; worst %ld MB, %.2f "
          "s\n",
          arg.c_str(), worst.runs, worst.whole, worst.errors, worst.truncated, worst.failures,
          worst.kb >> 10, worst.seconds);
      std::fflush(stdout);
      total.runs += worst.runs;
      total.failures += worst.failures;
      total.kb = std::max(total.kb, worst.kb);
      total.seconds = std::max(total.seconds, worst.seconds);
    }
  }
  std::printf("total: %ld runs, %ld failures; worst %ld MB, %.2f s\n", total.runs, total.failures,
              total.kb >> 10, total.seconds);
  return total.failures == 0 ? 0 : 1;
}
